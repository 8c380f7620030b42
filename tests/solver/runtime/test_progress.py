"""Progress: one line for all phases that fits the terminal, in the summary's unit, with the time that all will take."""

import io
import json
import re
import sys
import time
from dataclasses import replace

import pytest

from retrograde.cli.commands.solve import how_it_went
from retrograde.cli.progress import GAP, ProgressLine, describe, width_of
from retrograde.databases import database_path, open_database
from retrograde.games.catalog import load_game, rests_on
from retrograde.games.contract.game import is_numbered
from retrograde.solver.conformance.check import check
from retrograde.solver.engine import solve
from retrograde.solver.runtime import progress as progress_module
from retrograde.solver.runtime.progress import Course, Deciding, Phase, Progress
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.verification.verify import verify
from tests.helpers.command_line import LATE, process, retrograde
from tests.helpers.solving import Stop

SOLVING = Progress(
    "solving", 43_200_000, 69_800_000, 4.0, 12, number=2, phases=3, overall=0.62, seconds_left=3.2, here=12_500_000.0
)
DECIDING = Progress(
    "solving", 30_000_000, 48_300_000, 200.0, 3, number=1, phases=2, overall=0.58, seconds_left=200.0,
    deciding=Deciding(12_300_000, 40_100_000, 14),
)  # fmt: skip
AGAIN = replace(DECIDING, deciding=Deciding(12_300_000, 40_100_000, 14, 0.356))
EXPLORING = Progress("exploring", 1_234_000, None, 12.0, 7, number=1, phases=3)
COMPILING = Progress("compiling the rules", 0, None, 3.4)
ALL = [SOLVING, DECIDING, AGAIN, EXPLORING, COMPILING]


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def often(monkeypatch):
    """Every piece that is done is told of."""
    monkeypatch.setattr("retrograde.solver.runtime.progress.Phase.often", 0.0)


# The line


def test_a_line_has_the_phase_a_bar_its_share_the_counts_and_the_time_left_at_80_columns():
    line = describe(SOLVING, 79)
    assert re.fullmatch(r"solving 2 of 3   #+-+    62 %   43.2 M of 69.8 M positions   4 s left", line)
    assert describe(SOLVING, 119, fancy=True) == (
        "solving 2 of 3   ━━━━━━━━━━━━━━──────────    62 %   43.2 M of 69.8 M positions   12.5 M/s   4 s left"
    )
    line = describe(DECIDING, 79)
    assert GAP.join(line.split(GAP)[2:]).strip() == "58 %   3 min 20 s left   14 plies from the end"
    assert "12.3 M of 40.1 M decided, 14 plies from the end" in describe(DECIDING, 119)
    assert "12.3 M of 40.1 M decided, 14 plies from the end, looking again 35 %" in describe(AGAIN, 139)
    assert "14 plies, looking again 35 %" in describe(AGAIN, 85)
    assert describe(EXPLORING, 79) == "exploring 1 of 3   1.23 M positions   103 k/s   for 12 s"
    assert describe(COMPILING, 79) == "compiling the rules   for 3 s"
    assert describe(replace(COMPILING, below="chess:KRK, 2 of 3"), 79).startswith(
        "chess:KRK, 2 of 3: compiling the rules"
    )
    assert describe(replace(COMPILING, below="chess:KRK, 2 of 3"), 30) == "compiling the rules   for 3 s"


@pytest.mark.parametrize("progress", ALL)
def test_a_line_fits_any_terminal_and_nothing_in_it_is_cut(progress):
    whole = {part for width in (200, 110, 90, 79) for part in describe(progress, width).split(GAP)}
    words = {"43.2 M of 69.8 M", "30.0 M of 48.3 M", "1.23 M", "14 plies", "12.3 M of 40.1 M decided, 14 plies"}
    words |= {f"{text}, looking again 35 %" for text in words}
    for width in range(1, 200):
        line = describe(progress, width)
        assert len(line) <= width
        assert {part for part in line.split(GAP) if part.strip("#-")} <= whole | words | {""}
    assert describe(progress, 40).startswith(progress.phase)


@pytest.mark.parametrize("left", [0.0, 0.2, 0.99, 1.0, 1.01, 59.9])
def test_there_is_never_no_time_left(left):
    line = describe(Progress("writing", 1, 2, 3.0, number=3, phases=3, overall=1.0, seconds_left=left))
    assert re.search(r" ([1-9]\d*) s left|1 min 0 s left", line)


def test_progress_is_one_line_rewritten_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "80")
    with ProgressLine() as line:
        line(SOLVING)
        line(EXPLORING)
    first, second, end = sys.stderr.getvalue().split("\r\x1b[K")[1:]
    assert (first, second, end) == (describe(SOLVING, 79, fancy=True), describe(EXPLORING, 79), "")


def test_the_clock_goes_on_while_nothing_is_told(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr("retrograde.cli.progress.TICK_SECONDS", 0.02)
    monkeypatch.setenv("COLUMNS", "80")
    with ProgressLine() as line:
        line(COMPILING)
        line(SOLVING)
        deadline = time.monotonic() + LATE
        while "   3 s left" not in sys.stderr.getvalue() and time.monotonic() < deadline:
            time.sleep(0.02)
    shown = sys.stderr.getvalue().split("\r\x1b[K")
    assert any(text.endswith("3 s left") for text in shown)
    assert all("43.2 M of 69.8 M positions" in text for text in shown[2:-1])
    assert shown[-1] == ""


def test_progress_is_silent_elsewhere_but_for_a_line_now_and_then(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with ProgressLine() as line:
        line(EXPLORING)
        assert sys.stderr.getvalue() == ""
        line.last_shown -= 31
        line(EXPLORING)
        line(EXPLORING)
    assert sys.stderr.getvalue() == f"{describe(EXPLORING)}\n"
    assert not re.search("[#━]", sys.stderr.getvalue())


def test_the_terminal_is_that_of_standard_error(monkeypatch):
    pty, fcntl, struct, termios = (pytest.importorskip(name) for name in ("pty", "fcntl", "struct", "termios"))
    monkeypatch.delenv("COLUMNS", raising=False)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 133, 0, 0))
    with open(theirs, "w", closefd=True) as stream:
        assert width_of(stream) == 133
    open(ours, closefd=True).close()


# All phases


class Clock:
    """A clock that is set by hand."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(progress_module.time, "monotonic", lambda: self.now)


def run(clock, course, listener, parts):
    """Work through phases, each with a name, seconds, and how many of its 100 pieces were done before."""
    for name, seconds, before in parts:
        phase = Phase(name, listener, 100, course)
        phase.skip(before)
        phase.tell()
        for _ in range(100 - before):
            clock.now += seconds / 100
            phase.advance(1)
        phase.end()


def test_the_time_left_is_that_of_all_phases(monkeypatch):
    clock, course, told = Clock(monkeypatch), Course(), []
    course.plan(exploring=0.4, solving=0.55, writing=0.05)
    parts = [("exploring", 40.0, 0), ("solving", 55.0, 0), ("writing", 5.0, 0)]
    run(clock, course, lambda progress: told.append((clock.now - 1000, progress)), parts)
    assert [progress.number for _, progress in told] == sorted(progress.number for _, progress in told)
    shares = [progress.overall for _, progress in told]
    assert shares == sorted(shares) and (shares[0], shares[-1]) == (0.0, 1.0)
    foretold = [(now, progress.seconds_left) for now, progress in told if now > 5]
    assert all(left is not None and abs(100 - now - left) < 3 for now, left in foretold)


def test_what_was_done_before_a_restart_takes_no_time_and_makes_no_rate(monkeypatch):
    clock, course, told = Clock(monkeypatch), Course(), []
    course.plan(exploring=0.4, solving=0.6)
    run(clock, course, lambda progress: told.append((clock.now - 1000, progress)), [("exploring", 1.0, 100)])
    run(
        clock, course, lambda progress: told.append((clock.now - 1000, progress)), [("solving", 60.0, 50)]
    )  # 30 s for half of it
    last = [(now, progress) for now, progress in told if progress.phase == "solving"]
    assert last[-1][1].resumed == 50
    assert all(abs(progress.rate - 100 / 60) < 0.1 for now, progress in last if now > 5)
    assert all(abs(30 - now - progress.seconds_left) < 2 for now, progress in last if now > 5)


def test_the_summary_divides_what_this_run_did_by_its_time():
    facts = {"seconds": 10.0, "positions": 1_000_000, "peak_memory_bytes": 50_000_000, "resumed": 0}
    facts["explored_before"] = 0
    assert how_it_went(facts) == "10 s, 100 k positions a second, 50 MB of memory at most"
    assert how_it_went(facts | {"resumed": 900_000}) == (
        "10 s, 10.0 k positions a second for what was left; 900 k positions had been solved before, "
        "50 MB of memory at most"
    )
    assert "a second" not in how_it_went(facts | {"resumed": 1_000_000})
    assert how_it_went(facts | {"explored_before": 500_000}) == (
        "10 s for what was left; 500 k positions had been met before, 50 MB of memory at most"
    )


@pytest.mark.thorough
@pytest.mark.long
@pytest.mark.parametrize(("way", "in_memory"), [("listed", 4_000_000), ("streamed", 1000)])
def test_what_was_explored_before_a_restart_counts_once(way, in_memory, tmp_path, often):
    sizes = Sizes(journal_seconds=0, in_memory=in_memory)
    game, path = load_game("connect4:5,3"), tmp_path / "game.h5"

    def stop_halfway(progress):
        if progress.phase == "exploring" and progress.done > 20_000:
            raise Stop

    with pytest.raises(Stop):
        solve(game, path, method=way, listener=stop_halfway, sizes=sizes)
    told = []
    solve(game, path, method=way, listener=told.append, sizes=sizes)
    with open_database(path, game=game) as database:
        positions = database.file.positions
    for phase in ("exploring", "solving"):
        last = [progress for progress in told if progress.phase == phase][-1]
        assert abs(last.done - positions) < 0.1 * positions
        assert last.total == last.done
    assert max(progress.resumed for progress in told if progress.phase == "exploring") > 10_000


@pytest.mark.thorough
def test_a_solve_that_goes_on_says_what_had_been_done(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    game, path = load_game("connect4:5,4"), tmp_path / "connect4,width=5,height=4.h5"

    def stop_when_writing(progress):
        if progress.phase == "writing":
            raise Stop

    with pytest.raises(Stop):
        solve(game, path, listener=stop_when_writing, sizes=Sizes(journal_seconds=0))
    facts = json.loads(retrograde("solve", "connect4:5,4", "--json").stdout)
    assert facts["positions"] == 3_945_711
    assert 0.9 * facts["positions"] < facts["resumed"] <= facts["positions"]


# What solves tell


@pytest.mark.long
@pytest.mark.parametrize(
    ("variant", "sizes", "phases"),
    [
        ("connect4:4,4", Sizes(), ["exploring", "solving", "writing"]),
        ("connect4:4,4", Sizes(in_memory=1), ["exploring", "solving", "writing"]),
        pytest.param("lgame", Sizes(), ["exploring", "solving", "writing"], marks=pytest.mark.thorough),
        ("chess:KRK", Sizes(), ["solving", "writing"]),
    ],
)
def test_every_phase_counts_positions_as_the_summary_does(variant, sizes, phases, tmp_path, often):
    told = []
    game = load_game(variant)
    for other in rests_on(game) if is_numbered(game) else ():  # which is told of for itself
        solve(load_game(other), database_path(other, tmp_path))
    path = solve(game, tmp_path / "game.h5", method="compiled", listener=told.append, sizes=sizes)
    with open_database(path, game=game) as database:
        positions = database.file.positions
    last = {progress.phase: progress for progress in told if progress.number}
    assert list(last) == phases
    assert [progress.number for progress in last.values()] == list(range(1, len(phases) + 1))
    assert {progress.phases for progress in last.values()} == {len(phases)}
    assert all(progress.done == progress.total for progress in last.values())
    assert last["writing"].done == positions
    assert abs(last["solving"].done / positions - 1) < 0.02
    assert "exploring" not in last or abs(last["exploring"].done / positions - 1) < 0.1
    shares = [progress.overall for progress in told if progress.overall is not None]
    assert shares == sorted(shares) and shares[-1] == 1.0


@pytest.mark.parametrize("variant", ["dodgem", "mutorere"])
def test_a_tier_with_cycles_tells_how_far_it_is(variant, tmp_path, often, monkeypatch):
    monkeypatch.setattr("retrograde.solver.values.propagation.MOST_AT_ONCE", 0)  # as in a large tier
    told = []
    solve(load_game(variant), tmp_path / "game.h5", method="compiled", listener=told.append)
    tier = [progress for progress in told if progress.deciding]
    assert tier[0].deciding.remoteness is None and tier[0].deciding.decided == 0
    deepest = max((progress.deciding for progress in tier), key=lambda deciding: deciding.remoteness or 0)
    assert deepest.remoteness > 3
    assert 0 < deepest.decided <= deepest.total
    shares = [progress.overall for progress in tier]
    assert shares == sorted(shares)
    assert len(set(shares)) > 3


def test_what_is_solved_interpreted_is_told_of(tmp_path, often):
    told = []
    solve(load_game("dodgem"), tmp_path / "game.h5", method="interpreted", listener=told.append)
    assert [(progress.phase, progress.number, progress.phases) for progress in told if progress.number][-2:] == [
        ("exploring", 1, 2), ("solving", 2, 2),
    ]  # fmt: skip
    assert told[0].phase == "reading the rules"


def test_progress_is_json_where_results_are(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    monkeypatch.setattr("retrograde.solver.selection.is_compiled", lambda game: True)  # else it is interpreted
    result = retrograde("solve", "connect4:4,4", "--json", "--fresh")
    lines = [json.loads(line) for line in result.stderr.splitlines()]
    before = {"phase", "done", "total", "share", "seconds", "rate", "seconds_left", "tier", "resumed"}
    since = {"phase_number", "phases", "overall_share", "decided", "to_decide", "remoteness", "looked_again"}
    since |= {"open", "below"}
    assert all(set(line) == before | since for line in lines)
    assert [line["phase"] for line in lines][:2] == ["reading the rules", "compiling the rules"]
    ended = [(line["phase_number"], line["phases"], line["phase"]) for line in lines if line["share"] == 1]
    assert list(dict.fromkeys(ended)) == [(1, 3, "exploring"), (2, 3, "solving"), (3, 3, "writing")]
    assert json.loads(result.stdout)["positions"] == 161_029


# Other commands


@pytest.mark.thorough
def test_a_check_tells_how_far_it_is(often):
    told = []
    assert check(load_game("tictactoe"), 300, listener=told.append).ok
    assert list(dict.fromkeys(progress.phase for progress in told)) == [
        "checking", "compiling the rules", "comparing",
    ]  # fmt: skip
    assert max(progress.done for progress in told if progress.phase == "checking") == 300


@pytest.mark.thorough
def test_a_verification_of_steps_counts_two_phases(tmp_path, often):
    told, game = [], load_game("connect4:4,3,3")
    path = solve(game, tmp_path / "game.h5", method="streamed", sizes=Sizes(in_memory=1))
    with open_database(path, game=game) as database:
        assert verify(database, listener=told.append, interpreted=False).ok
        assert told[-1].done == told[-1].total == database.file.positions
    numbers = [(progress.number, progress.phase) for progress in told[2:] if progress.number]
    assert list(dict.fromkeys(numbers)) == [(1, "exploring"), (2, "verifying")]


@pytest.mark.thorough
@pytest.mark.parametrize("command", ["check tictactoe", "verify tictactoe", "verify tictactoe --quick"])
def test_long_commands_tell_of_progress_in_json(command, tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    solve(load_game("tictactoe"))
    done = process(*command.split(), "--json")
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert lines and all("phase_number" in line for line in lines)
    assert json.loads(done.stdout)["ok"]
