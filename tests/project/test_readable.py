"""The code stays readable: short first sentences, commented kernels, short functions."""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

pytestmark = pytest.mark.long

FILES = [file for folder in ("games", "databases", "solver", "cli") for file in sorted((ROOT / folder).rglob("*.py"))]
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)

LONGEST_FIRST_SENTENCE = 25
"""Words of a docstring's first sentence."""
LONGEST_GAP = 25
"""Lines of a kernel between two comments."""
LONGEST_FUNCTION = 60
"""Lines of a function without its docstring."""
SHARED_NAMES = {"Board", "Moves", "Numbering"}
"""Class names that chess and draughts both have, each in its own package."""
DIRECTIVE = re.compile(r"#\s*(noqa|type:|fmt:|pragma)")


def nodes_of(*kinds: type) -> Iterator[tuple[str, str, ast.AST]]:
    """Yield the nodes of some kinds in all files: where each is, the source of its file, and the node."""
    for file in FILES:
        source, nodes = parsed(file)
        for node in nodes:
            if isinstance(node, kinds):
                name = f"{'/'.join(file.relative_to(ROOT).parts[-2:])}: {getattr(node, 'name', 'module')}"
                yield name, source, node


@cache
def parsed(file: Path) -> tuple[str, list[ast.AST]]:
    """Return the source of a file, and its functions, classes and the module."""
    source = file.read_text("utf-8")
    return source, [*definitions(ast.parse(source))]


def definitions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the functions, the classes and the module in a tree. There are none in expressions, which are skipped."""
    if isinstance(node, (*FUNCTION, ast.ClassDef, ast.Module)):
        yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield from definitions(child)


def begin_of(function: ast.FunctionDef) -> int:
    """Return the line in which the body of a function begins, after its docstring."""
    return function.body[1 if ast.get_docstring(function) and len(function.body) > 1 else 0].lineno


def test_first_sentences_are_short():
    def length(text: str) -> int:
        first = re.split(r"(?<=[.!?])\s", text.split("\n\n")[0].replace("\n", " "))[0]
        return len(re.findall(r"[A-Za-zÀ-ž']+", first))

    documented = nodes_of(*FUNCTION, ast.ClassDef, ast.Module)
    texts = [(name, text) for name, _, node in documented if (text := ast.get_docstring(node))]
    assert len(texts) > 3000
    assert [(length(text), name) for name, text in texts if length(text) > LONGEST_FIRST_SENTENCE] == []


def test_kernels_are_commented():
    kernels = [
        found
        for found in nodes_of(*FUNCTION)
        if any("kernel" in getattr(one, "id", "") for one in found[2].decorator_list)
    ]
    assert len(kernels) > 150
    assert [name for name, source, node in kernels if longest_gap(source, node) >= LONGEST_GAP] == []


@cache
def comments_of(source: str) -> list[int]:
    """Return the lines of a source that have comments for people, in order."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [one.start[0] for one in tokens if one.type == tokenize.COMMENT and not DIRECTIVE.match(one.string)]


def longest_gap(source: str, function: ast.FunctionDef) -> int:
    """Return the most lines of a function's body between two comments, its first and its last line."""
    begin, end = begin_of(function), function.end_lineno or 0
    marks = [begin - 1, *(line for line in comments_of(source) if begin <= line <= end), end + 1]
    return max(after - before - 1 for before, after in pairwise(marks))


def test_functions_are_short():
    functions = [(name, node.end_lineno - begin_of(node) + 1) for name, _, node in nodes_of(*FUNCTION)]
    assert [name for name, lines in functions if lines > LONGEST_FUNCTION] == []


def test_class_names_are_unique():
    names = Counter(node.name for _, _, node in nodes_of(ast.ClassDef))
    assert len(names) > 500
    assert {name for name, times in names.items() if times > 1} == SHARED_NAMES
