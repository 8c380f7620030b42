"""Every example in a docstring is run, and gives what it shows."""

import doctest
import importlib
import pkgutil
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.helpers.lacking import need_cluster

PACKAGES = ("games", "databases", "solver", "cli")


def module_names() -> Iterator[str]:
    """Yield the names of all modules, each of which is also its only name."""
    yield from ("retrograde", "retrograde.offered")
    for package in PACKAGES:
        name = f"retrograde.{package}"
        yield name
        yield from (module.name for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."))


def source_of(name: str) -> str:
    """Return the source of a module, without importing it."""
    spec = find_spec(name)
    return Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""


EXAMPLES = {name: found for name in module_names() if (found := len(re.findall(r"^ *>>> ", source_of(name), re.M)))}
"""How many examples the text of each module has; where it has any."""


def wrong_in(tests: list[doctest.DocTest]) -> str:
    """Run examples and return a report of those that are wrong."""
    said: list[str] = []
    for test in tests:
        doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    return "".join(said)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_give_what_they_show(name, solved, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(solved("tictactoe").parent))
    need_cluster(name)
    tests = doctest.DocTestFinder().find(importlib.import_module(name))
    assert sum(len(test.examples) for test in tests) == EXAMPLES[name], "an example stands where doctest finds none"
    assert not any(example.options.get(doctest.SKIP) for test in tests for example in test.examples)
    if wrong := wrong_in(tests):
        pytest.fail(wrong, pytrace=False)


def test_modules_with_examples_are_found():
    """In every package, and in the folders below as well."""
    assert {name.partition(".")[2].partition(".")[0] for name in EXAMPLES} == {"", *PACKAGES}
    assert {"retrograde.games.chess.fen", "retrograde.cli.web.hosts"} < EXAMPLES.keys()
    assert sum(EXAMPLES.values()) >= 40


@pytest.mark.parametrize(("shown", "right"), [(2, True), (3, False)])
def test_an_example_that_is_wrong_is_reported(shown, right):
    test = doctest.DocTestParser().get_doctest(f">>> 1 + 1\n{shown}\n", {}, "sum", None, 0)
    assert (wrong_in([test]) == "") is right
