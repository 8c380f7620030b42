"""What all tests share: databases, each solved once."""

import gc
import os
import re
import signal
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings
from numba.core.config import DISABLE_JIT

from retrograde.databases import database_path
from retrograde.databases.lock import Lock
from retrograde.games.catalog import load_game, variant
from retrograde.solver import engine
from retrograde.solver.conformance.check import ConformanceReport
from retrograde.solver.engine import solve
from retrograde.solver.rules import ports
from retrograde.solver.runtime.sizes import Sizes
from tests.helpers import c_reader
from tests.helpers.command_line import LATE
from tests.helpers.compiling import compile_loops
from tests.helpers.lacking import lacking
from tests.helpers.serving import CHROMIUM

settings.register_profile("untimed", deadline=None)  # no test hangs on how busy a machine is
settings.load_profile("untimed")

UNCOMPILED = Sizes(interpreted_seconds=4.0, interpreted_slots=50_000)
"""Games that take less time are not compiled, which takes from three seconds to eight."""

LONG = 1.0
"""Seconds above which a test is no longer fast, where machine code is at hand and the machine is idle."""

SOLVING = {
    "test_beside", "test_by_rules", "test_bytes", "test_check", "test_cli_sets", "test_cli_terminal",
    "test_draughts", "test_elsewhere", "test_engine", "test_fit", "test_fitting", "test_forecast", "test_games",
    "test_hostile", "test_impartial_games", "test_konane", "test_listed_kernels", "test_metric_nimber",
    "test_metric_utilities", "test_monte_carlo", "test_numbered", "test_othello", "test_passes", "test_players",
    "test_popout", "test_predecessors", "test_processes", "test_progress", "test_puzzles", "test_rows_listed",
    "test_setwise", "test_sheets", "test_sliding", "test_sources", "test_spill", "test_streaming", "test_symmetry",
    "test_turning", "test_uci", "test_verify", "test_wide",
}  # fmt: skip
"""Modules all of whose tests are long, for they solve, or because most of them do."""

SLOWEST = 2 * 3600.0
"""Seconds after which a slow test is taken to hang; pyproject.toml says after how many any other is."""

NOT_FAST = "long", "thorough", "slow"


def pytest_configure(config: pytest.Config) -> None:
    """Let `-m long` leave out what is slower: a slow test of a long module has both marks."""
    if config.option.markexpr == "long":
        config.option.markexpr = "long and not thorough and not slow"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import modules without a fast test where only those are asked for."""
    if config.option.markexpr != "fast" or collection_path.suffix != ".py":
        return None
    marked = re.search(
        r"^pytestmark = .*\bmark\.(long|slow)\b", collection_path.read_text(encoding="utf-8"), re.MULTILINE
    )
    return True if marked or collection_path.stem in SOLVING else None


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return how many processes run tests: one more than there are cores, for some tests wait for others than those."""
    return (os.cpu_count() or 1) + 1


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the loops of the solver before several processes run all tests; fast ones hardly need them."""
    config, everything = session.config, pytest.Config.ArgsSource.TESTPATHS
    alone = hasattr(config, "workerinput") or not config.getoption("numprocesses", None) or config.option.collectonly
    if not alone and hasattr(config, "cache") and config.args_source is everything and config.option.markexpr != "fast":
        compile_loops(config.cache)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as fast what is marked as nothing slower, so that a new test is fast until somebody says otherwise."""
    for item in items:
        if any(item.iter_markers("as_python")) and not DISABLE_JIT:
            item.add_marker("thorough")
        if item.path.stem in SOLVING:
            item.add_marker("long")
        elif not any(any(item.iter_markers(name)) for name in NOT_FAST):
            item.add_marker("fast")
        if any(item.iter_markers("slow")):
            item.add_marker(pytest.mark.timeout(SLOWEST))


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what is loaded by now. Else it takes a tenth of the time of all tests."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """After `pytest -m fast`, tell of tests that were not."""
    if config.option.markexpr == "fast":
        reports = terminalreporter.getreports("passed")
        late = sorted(
            {(round(one.duration, 1), one.nodeid) for one in reports if one.when == "call" and one.duration > LONG}
        )
        if late:
            terminalreporter.section(f"fast tests that took over {LONG} s; mark those long that always do")
        for seconds, name in late[:-11:-1]:
            terminalreporter.line(f"{seconds:5} s  {name}")


@pytest.fixture(scope="module")
def any_file_replaced() -> Iterator[None]:
    """Let the tests of a module solve one game after another into one file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "expect_replaceable", lambda *_: False)
        yield


@pytest.fixture(scope="session", autouse=True)
def heeds_ctrl_c() -> None:
    """Let Ctrl-C interrupt tests and their child processes, also where a script in the background ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def own_configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the record of rule files that were solved with out of the person's own."""
    folder = str(tmp_path_factory.mktemp("configuration"))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CONFIG_HOME", "APPDATA", "WIN_PD_OVERRIDE_APPDATA"):
            patch.setenv(name, folder)
        yield


@pytest.fixture(scope="session", autouse=True)
def empty_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let no test find databases that the person has: those of endings would be rested on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RETROGRADE_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session", autouse=True)
def patient_ports() -> Iterator[None]:
    """Let kernels call interpreted rules for longer: to compile the rules of a test's game takes several seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ports, "PATIENCE", 3.0)
        yield


@pytest.fixture(scope="session")
def solved(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Callable[..., Path]:
    """Return a function from a variant, and a metric, to the path of its database, made when it is first asked for.

    The processes that run tests share the databases: the first that asks for one solves it, and others wait.
    """
    home, locks = (shared_folder(tmp_path_factory, pytestconfig, name) for name in ("databases", "locks"))

    @cache
    def path_of(text: str, metric: str = "") -> Path:
        game = load_game(text)
        path = database_path(variant(game), home, metric)
        with Lock(locks / game.name, patience=LATE):  # of all variants, since some rest on others
            return path if path.exists() else solve(game, path, sizes=UNCOMPILED, metric=metric)

    return path_of


def shared_folder(factory: pytest.TempPathFactory, config: pytest.Config, name: str) -> Path:
    """Return a folder that all processes of this run share."""
    base = factory.getbasetemp()
    folder = (base.parent if hasattr(config, "workerinput") else base) / name
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def reader(tmp_path_factory):
    """A function that asks the program in C for positions of a database, and returns its lines."""
    return c_reader.compiled(tmp_path_factory.mktemp("reader"))


@pytest.fixture
def solver_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let broken rules come to the solver, which is to find them itself: nothing looks at them before and after."""
    monkeypatch.setattr(engine, "precheck", lambda _: ConformanceReport("", 0, False, {}, []))
    monkeypatch.setattr(engine, "verify_sample", lambda *_: None)


@pytest.fixture(scope="module")
def browser():
    """A browser for the tests of a module."""
    if CHROMIUM is None:
        lacking("there is no Chromium or Chrome", everywhere=True)
    try:
        from playwright import sync_api as playwright
    except ImportError:
        lacking("playwright is not installed", everywhere=True)
    switches = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    with playwright.sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=CHROMIUM, args=switches)
        yield browser
        browser.close()
