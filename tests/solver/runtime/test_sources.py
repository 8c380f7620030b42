"""What is kept on disk between runs, machine code and journals, is good for the sources that it was made by only."""

import ast
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from inspect import isfunction
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

from retrograde.games.connect4 import Connect4
from retrograde.games.tictactoe import TicTacToe
from retrograde.solver.engine import identity
from retrograde.solver.options import SolveOptions
from retrograde.solver.runtime import kernel, sources
from retrograde.solver.runtime.kernel import CacheFile

ROOT = sources.ROOT
PACKAGES = ("games", "databases", "solver", "cli")
EVERY_FILE = [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]


@pytest.fixture
def package(tmp_path):
    """A copy of the package, to be edited; the folder that it may be imported from is above it."""
    for name in PACKAGES:
        shutil.copytree(ROOT / name, tmp_path / "retrograde" / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "retrograde"


def start(package, program, *args):
    """Start a program in another process, which imports the copy of the package."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return subprocess.Popen(
        [sys.executable, "-c", program, *args], env=environment | {"PYTHONPATH": str(package.parent)},
        cwd=package.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def output(process):
    """Return what a process writes until it ends, which must be well."""
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out


def append(file):
    file.write_text(file.read_text("utf-8") + "\n# edited\n", "utf-8")


def edit(file, old, new):
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")


# Kernels

SPLIT = """
import numpy as np
from retrograde.solver.methods.listed import kernels
from retrograde.solver.methods.listed.spill.lookup import LocatedBlock
from retrograde.solver.methods.listed.predecessors.kernels import Seeds
from retrograde.solver.rules.kernels import Matrix
assert kernels.__file__.startswith({root!r}), kernels.__file__
ints = lambda *numbers: np.array(numbers, np.int64)
best = ints(7)
places, one, scores, room = ints(1).reshape(1, 1), ints(0), np.array([0, 3], np.uint16), (ints(0) for _ in range(5))
matrix = Matrix(places, places, one.astype(np.uint8), one[:0].astype(np.uint16), one.astype(np.int32), one)
seeds = Seeds(best, next(room), next(room), next(room))
kernels.split_children(LocatedBlock(1, places, matrix, next(room)), (5, 6), 14, scores, seeds)
print(best[0], sum(kernels.split_children.stats.cache_hits.values()))
"""


@pytest.mark.thorough
@pytest.mark.long
def test_machine_code_of_a_kernel_is_not_used_after_an_edit_of_one_that_it_calls(package):
    program = SPLIT.format(root=str(package))
    before = (4 << 14) - 2 - 3  # a LOSE in 3 is a WIN in 4
    assert output(start(package, program)).split() == [str(before), "0"]
    assert output(start(package, program)).split() == [str(before), "1"]
    edit(package / "solver" / "values" / "score_kernels.py", "return end - 2 - score", "return end - 5 - score")
    assert output(start(package, program)).split() == [str(before - 3), "0"]


@pytest.mark.thorough
@pytest.mark.long
def test_machine_code_stays_valid_after_an_edit_of_a_message_or_of_the_catalogue(package):
    program = SPLIT.format(root=str(package))
    output(start(package, program))
    edit(package / "games" / "catalog.py", "y yahtzee", "y yahtzee zebra")
    append(package / "databases" / "errors.py")
    assert output(start(package, program)).split()[1] == "1"


KERNEL_FILES = [file for file in EVERY_FILE if file.name != "kernel.py" and "kernel\ndef " in file.read_text("utf-8")]


@pytest.mark.parametrize(
    "name", ["games/catalog.py", "games/othello.py", "databases/errors.py", "solver/runtime/progress.py"]
)
def test_an_edit_of_what_no_kernel_compiles_keeps_all_machine_code(package, name):
    assert len(KERNEL_FILES) > 40
    files = [package / file.relative_to(ROOT) for file in KERNEL_FILES]
    assert not any(package / name in sources.kernel_files(file, package) for file in files)


def test_a_kernel_depends_on_what_it_imports_and_on_the_compiler_of_rules():
    files = sources.kernel_files(ROOT / "solver" / "methods" / "streamed" / "forward_kernels.py")
    names = {file.relative_to(ROOT).as_posix() for file in files}
    assert names >= {
        *(
            "solver/methods/streamed/forward_kernels.py",
            "solver/methods/streamed/lists.py",
            "solver/rules/compiled.py",
            "solver/rules/positions.py",
        ),
        *("solver/runtime/kernel.py", "solver/rules/kernels.py", "games/contract/game.py"),
    }
    assert "solver/methods/listed/kernels.py" not in names


def test_what_is_compiled_in_place_of_a_function_stands_beside_it_or_counts_for_all_kernels():
    found = set()
    for file in EVERY_FILE:
        text = file.read_text("utf-8")
        overloaded = re.findall(r"^@overload\((\w+)\)", text, re.MULTILINE)
        if not all(re.search(rf"^def {name}\(", text, re.MULTILINE) for name in overloaded):
            found.add(file.relative_to(ROOT).as_posix())
    assert found == set(sources.RULES_COMPILER)


def dispatchers(module):
    """Return the kernels of a module and the functions that it gives numba for calls of others."""
    return [
        value
        for value in vars(module).values()
        if isinstance(value, Dispatcher) and value.__module__ == module.__name__
    ]


def called(function, seen):
    """Yield the functions that a function names, directly or through others, and itself."""
    if function in seen:
        return
    seen.add(function)
    yield function
    for name in function.__code__.co_names:
        value = getattr(function.__globals__.get(name), "py_func", function.__globals__.get(name))
        if isfunction(value) and value.__module__.startswith("retrograde."):
            yield from called(value, seen)


@pytest.mark.long
def test_all_functions_that_a_kernel_calls_count_for_its_machine_code():
    for file in KERNEL_FILES:
        module = import_module(".".join(["retrograde", *file.relative_to(ROOT).with_suffix("").parts]))
        kernels = dispatchers(module)
        assert kernels, file
        decide = sources.kernel_files(file)
        for compiled in kernels:
            for function in called(compiled.py_func, set()):
                assert Path(function.__code__.co_filename).resolve() in decide, (compiled, function)


@pytest.mark.thorough
@pytest.mark.long
def test_no_function_is_compiled_but_by_the_one_decorator():
    for file in EVERY_FILE:
        if file.name != "kernel.py":
            names = {node.id for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, ast.Name)}
            names |= {alias.name for node in imports(file) for alias in node.names}
            assert not names & {"jit", "njit", "jit_module", "vectorize", "guvectorize", "cfunc", "stencil"}, file


def imports(file):
    return [node for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, (ast.Import, ast.ImportFrom))]


@pytest.mark.thorough
def test_every_import_is_found():
    """Of the syntax tree nothing is missed but what is for type checkers."""
    for file in EVERY_FILE:
        wanted = set()
        for node in imports(file):
            module = getattr(node, "module", None)
            assert not getattr(node, "level", 0), f"{file}: relative imports are not followed"
            wanted |= {f"{module}.{alias.name}" if module else alias.name for alias in node.names}
        for_types = {
            f"{node.module}.{alias.name}"
            for block in ast.walk(ast.parse(file.read_bytes()))
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
            for node in block.body
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        }
        wanted = {name for name in wanted if name.partition(".")[0] == sources.PACKAGE}
        found = set(sources.names_imported(file.read_text("utf-8")))
        assert wanted - for_types <= found, file
        if file.name in ("expansion.py", "stream_log.py", "journal.py"):
            assert wanted - for_types and found  # these have some


# Processes that write machine code at once

HAMMER = """
import sys
from retrograde.solver.runtime.kernel import CacheFile
folder, me, others, rounds = sys.argv[1], *map(int, sys.argv[2:])
wrong = missed = 0
for turn in range(rounds):
    file = CacheFile(folder, "kernel", "sources")
    file.save((me, turn), f"code of {me}, {turn}" * 1000)
    found = file.load((me, turn))
    missed += found is None
    for other in range(others):
        found = file.load((other, turn))
        wrong += found is not None and found != f"code of {other}, {turn}" * 1000
print(wrong, missed)
"""


def hammer(package, folder, rounds, processes=3, program=HAMMER):
    """Let some processes save at once, and return what they got wrong and what they missed."""
    folder.mkdir()
    args = [(str(folder), str(number), str(processes), str(rounds)) for number in range(processes)]
    running = [start(package, program, *these) for these in args]
    return [output(process).split() for process in running]


@pytest.mark.thorough
def test_processes_that_save_at_once_do_not_hurt_each_other(package, tmp_path):
    rounds = 60
    assert hammer(package, tmp_path / "cache", rounds) == [["0", "0"]] * 3
    file = CacheFile(str(tmp_path / "cache"), "kernel", "sources")
    assert {file.load((me, turn)) == f"code of {me}, {turn}" * 1000 for me in range(3) for turn in range(rounds)} == {
        True
    }


COMPILE = """
import numpy as np
from retrograde.solver.values.score_kernels import pass_up
types = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32]
at = int(__import__("sys").argv[1])
for kind in types[at:] + types[:at]:
    assert pass_up(kind(3), 14) == (4 << 14) - 5, kind
print(sum(pass_up.stats.cache_hits.values()))
"""


@pytest.mark.slow
def test_processes_that_compile_at_once_do_not_hurt_each_other(package):
    for _ in range(10):
        shutil.rmtree(package / "solver" / "__pycache__", ignore_errors=True)
        for process in [start(package, COMPILE, str(at)) for at in (0, 3, 5)]:
            output(process)
        assert output(start(package, COMPILE, "0")) == "7\n"


def test_data_of_another_signature_or_of_other_sources_are_not_taken(tmp_path):
    """As after a kill between index and data, where the index is new and the data are old."""
    old, new = (CacheFile(str(tmp_path), "kernel", stamp) for stamp in ("old", "new"))
    old.save("signature", "old code")
    new._save_index({"signature": new._data_name(1), "another": new._data_name(1)})
    assert new.load("signature") is None
    new.save("signature", "new code")
    assert new.load("signature") == "new code"
    assert new.load("another") is None


def test_the_cache_of_a_kernel_does_not_grow_without_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel, "MOST_SIGNATURES", 8)
    file = CacheFile(str(tmp_path), "kernel", "sources")
    for number in range(20):
        file.save(number, f"code {number}")
        assert file.load(number) == f"code {number}"
    assert len([*tmp_path.glob("kernel*.nbc")]) == len(file._load_index()) <= 8
    assert file.load(19) == "code 19" and file.load(0) is None


HASHING = """
import sys
from retrograde.solver.runtime.kernel import kernel

@kernel
def hashed(text):
    return hash(text) + len(text)

@kernel
def doubled(number):
    return 2 * number

assert doubled(3) == 6
assert hashed("no number") == hash("no number") + 9
print(sum(hashed.stats.cache_hits.values()), "numba.np.arrayobj" in sys.modules)
"""


@pytest.mark.thorough
def test_machine_code_is_loaded_without_all_that_numba_can_compile(package):
    """That of what hashes a text, too, which needs the seeds of the process."""
    (package / "solver" / "hashing.py").write_text(HASHING)
    program = "import retrograde.solver.hashing"
    assert [output(start(package, program)) for _ in range(2)] == ["0 True\n", "1 False\n"]


KEPT_WHERE = "from retrograde.solver.values import score_kernels as s; print(s.pass_up._cache.cache_path)"


@pytest.mark.thorough
def test_a_file_in_the_working_folder_does_not_say_where_machine_code_is(package):
    """It might be another's, and so might be the code."""
    pytest.importorskip("yaml")
    settings = package.parent / ".numba_config.yaml"
    usual = output(start(package, KEPT_WHERE))
    settings.write_text(f"cache_dir: {package.parent / 'others'}\ncache_locator_classes: IPythonCacheLocator\n")
    assert output(start(package, f"import numba; assert numba.config.CACHE_DIR; {KEPT_WHERE}")) == usual
    assert not (package.parent / "others").exists()


@pytest.mark.parametrize("damage", [b"", b"\x80", b"nonsense"])
def test_damaged_machine_code_is_compiled_anew(tmp_path, damage):
    file = CacheFile(str(tmp_path), "kernel", "sources")
    file.save("signature", "code")
    for path in tmp_path.glob("kernel*"):
        kept = path.read_bytes()
        path.write_bytes(damage)
        assert file.load("signature") is None
        path.write_bytes(kept)
        assert file.load("signature") == "code"
        path.write_bytes(damage)
        file.save("signature", "code")
        assert file.load("signature") == "code"


def test_a_cache_that_cannot_be_written_is_no_failure(tmp_path):
    file = CacheFile(str(tmp_path / "no such folder"), "kernel", "sources")
    file.save("signature", "code")
    assert file.load("signature") is None


# Journals


def forget():
    """Let sources be read again, as another process would."""
    for function in (sources.hash_of, sources.imports_of, sources.file_of):
        function.cache_clear()


def edited(root, name):
    """Return whether an edit of a file makes journals of before useless."""
    before = sources.digest(sources.journal_files(root), root)
    append(root / name)
    forget()
    return sources.digest(sources.journal_files(root), root) != before


def test_a_journal_is_kept_where_the_meaning_of_its_entries_is_not_touched(package):
    for name in (
        *(
            "games/contract/picture.py",
            "solver/conformance/check.py",
            "solver/verification/verify.py",
            "solver/runtime/progress.py",
        ),
        *(
            "solver/runtime/memory.py",
            "solver/estimation/estimate.py",
            "cli/uci/engine.py",
            "cli/commands/solve.py",
            "databases/write.py",
        ),
        *("databases/file.py", "databases/records/write.py", "databases/slots/read.py"),
        *("games/contract/declared.py", "games/contract/naming.py", "games/tictactoe.py"),
    ):
        assert not edited(package, name), name


APART = {f"solver/values/{name}.py" for name in ("encode", "sums", "measures")}
"""What writers and readers of databases use, and no solve."""


@pytest.mark.thorough
def test_a_journal_is_begun_anew_where_the_meaning_of_its_entries_may_have_changed(package):
    methods = [package / "solver" / "methods" / method for method in ("listed", "numbered", "streamed", "setwise")]
    for name in (
        *("solver/engine.py", "solver/runtime/journal.py", "solver/runtime/scratch.py", "solver/rules/expansion.py"),
        *("solver/rules/compiled.py", "solver/rules/kernels.py", "databases/encoding.py", "games/contract/game.py"),
        "games/contract/drawing.py",  # the symmetries of a board may be those of rules
        *(
            file.relative_to(package).as_posix()
            for folder in [*methods, package / "solver" / "values"]
            for file in folder.glob("*.py")
        ),
    ):
        assert edited(package, name) is not (name in APART), name


def test_a_file_that_moves_takes_its_meaning_along(package):
    """Below a folder of the solver a file decides what it did before."""
    (package / "solver" / "deeper").mkdir()
    moved = package / "solver" / "deeper" / "kernels.py"
    shutil.move(package / "solver" / "methods" / "streamed" / "lists.py", moved)
    for file in (package / "solver").rglob("*.py"):
        text = file.read_text("utf-8").replace("solver.methods.streamed.lists", "solver.deeper.kernels")
        file.write_text(text.replace("solver.methods.streamed import lists", "solver.deeper import kernels"), "utf-8")
    forget()
    assert moved in sources.journal_files(package)
    assert moved in sources.kernel_files(package / "solver" / "methods" / "streamed" / "forward_kernels.py", package)


def test_whatever_is_named_is_there():
    assert all(list(ROOT.glob(pattern)) for pattern in sources.IRRELEVANT)
    assert all((ROOT / "solver" / name).is_dir() for name in sources.SOLVING)


def test_the_identity_of_a_journal_is_game_rules_and_sources():
    games = [TicTacToe(), TicTacToe(misere=True), Connect4()]
    assert len({identity(game, SolveOptions(metric="remoteness")) for game in games}) == 3
    assert all(
        identity(game, SolveOptions(metric="remoteness")).endswith(f" {sources.journal_digest()}") for game in games
    )
