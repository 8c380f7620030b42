"""Solving: published counts, the slow and obvious solver on random games, one way against another, kills and limits."""

import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings

from retrograde.databases import open_database
from retrograde.games import LOSE, UNDECIDED, Game, RetrogradeError, RuleError, Value
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import InternalError
from retrograde.solver.engine import solve
from retrograde.solver.methods.listed import method as listed
from retrograde.solver.methods.listed.method import ListedMethod
from retrograde.solver.options import CannotSolve
from retrograde.solver.rules import ports
from retrograde.solver.runtime.journal import Journal
from retrograde.solver.runtime.memory import MemoryLimit
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.work import NotApplicable
from retrograde.solver.values.score import RemotenessOverflow
from tests.helpers import published, reference, tangle
from tests.helpers.marks import thorough, thorough_but
from tests.helpers.solving import Stop, counts, graphs, outcomes, stop_at

SMALL = [
    *("tictactoe", "tictactoe:misere=yes", "connect4:3,3,3", "connect4:4,3,3", "mutorere", "dodgem", "lgame"),
    *("hareandhounds", "tentozero"),
]
COMPILED = ["tictactoe", "mutorere", "dodgem", "lgame", "connect4:4,3,3", "connect4:4,4,4", "connect4:5,4,4"]


@pytest.fixture(scope="module")
def path(tmp_path_factory, any_file_replaced):
    return tmp_path_factory.mktemp("engine") / "game.h5"


# Against published counts


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory):
    """Return a function from a variant to its database, solved interpreted when it is first asked for."""
    folder = tmp_path_factory.mktemp("interpreted")
    return cache(lambda variant: solve(load_game(variant), folder / f"{SMALL.index(variant)}.h5", method="interpreted"))


@pytest.mark.parametrize(
    "variant", [thorough(name) if name == "lgame" else name for name in SMALL if name in published.COUNTS]
)
def test_interpreted_equals_published(variant, interpreted):
    assert counts(interpreted(variant)) == published.COUNTS[variant]


@pytest.mark.parametrize("variant", thorough_but(COMPILED, "tictactoe", "mutorere", "dodgem", "connect4:4,3,3"))
def test_compiled_equals_published(variant, path):
    assert counts(solve(load_game(variant), path, method="compiled")) == published.COUNTS[variant]


@pytest.mark.slow
@pytest.mark.parametrize("variant", published.COUNTS)
def test_everything_published(variant, path):
    assert counts(solve(load_game(variant), path, method="compiled")) == published.COUNTS[variant]


@pytest.mark.slow
@pytest.mark.parametrize("variant", published.STARTS)
def test_published_starts(variant, path):
    game = load_game(variant)
    solve(game, path)
    with open_database(path, game=game) as database:
        assert database[game.start] == published.STARTS[variant]


def test_tictactoe(path):
    solve(load_game("tictactoe"), path)
    with open_database(path) as database:
        assert (len(database), database.file.stored) == (5478, 765)
        assert database[0] == (Value.TIE, 9)


# Against the slow and obvious solver


@pytest.mark.parametrize("variant", thorough_but(SMALL, *{*SMALL} - {"lgame"}))
def test_every_outcome_equals_the_reference(variant, interpreted):
    game = load_game(variant)
    assert outcomes(interpreted(variant), game) == reference.solve(game, symmetric=True)


WAYS = {
    "interpreted": (tangle.Tangle(), True, Sizes()),
    "compiled": (tangle.Tangle(), False, Sizes()),
    "compiled, with predecessors in scratch": (tangle.Tangle(), False, Sizes(predecessors_in_scratch=True)),
    "compiled, with parents": (tangle.TangleWithParents(), False, Sizes()),
}


@pytest.mark.usefixtures("solver_alone")
@pytest.mark.parametrize("way", thorough_but(WAYS, "interpreted", "compiled, with parents"))
@settings(max_examples=12)
@given(start=graphs)
def test_random_games(way, path, start):
    game, interpreted, sizes = WAYS[way]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(game), "start", start)
        solve(game, path, method="interpreted" if interpreted else "compiled", sizes=sizes)
        solution = reference.solve(game, symmetric=True)
        assert outcomes(path, game) == solution
        assert counts(path) == reference.counts_of_classes(game, solution)


def test_random_games_have_everything():
    """The games above are worth testing with: they have all values and long wins."""
    found, longest = set(), 0
    for seed in range(60):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tangle.Tangle, "start", tangle.position_of(seed, bool(seed & 1), 0, seed & 3, 63))
            solution = reference.solve(tangle.Tangle(), symmetric=True)
        found |= {value for value, _ in solution.values()}
        longest = max(longest, *(remoteness or 0 for _, remoteness in solution.values()))
    assert found == {Value.LOSE, Value.DRAW, Value.TIE, Value.WIN}
    assert longest >= 8


# One way against another


@pytest.mark.thorough
def test_same_bytes_however_it_is_solved(tmp_path):
    game = load_game("connect4:4,4")
    files = [
        solve(game, tmp_path / "interpreted.h5", method="interpreted"),
        solve(game, tmp_path / "one.h5", method="compiled", workers=1),
        solve(game, tmp_path / "three.h5", method="compiled", workers=3, sizes=Sizes(journal_seconds=0)),
    ]
    assert len({file.read_bytes() for file in files}) == 1
    assert [file.name for file in sorted(tmp_path.iterdir())] == ["interpreted.h5", "one.h5", "three.h5"]


@pytest.mark.thorough
@pytest.mark.parametrize("variant", ["connect4:4,3,3", "tictactoe:misere", "tentozero:target=40,steps=1+3"])
def test_one_way_of_solving_a_tier_against_another(variant, tmp_path):
    """Where no move stays in a tier, propagation must find what one sweep over it does."""
    game = load_game(variant)
    sweep = solve(game, tmp_path / "sweep.h5", method=ListedMethod()).read_bytes()
    assert solve(game, tmp_path / "propagation.h5", method=ListedMethod(propagate=True)).read_bytes() == sweep
    assert solve(game, tmp_path / "interpreted.h5", method="interpreted").read_bytes() == sweep


@pytest.mark.parametrize("variant", thorough_but(["dodgem", "mutorere", "connect4:4,3,3"], "dodgem"))
def test_children_are_found_by_the_index_as_from_one_to_the_next(variant, tmp_path, monkeypatch):
    """Tiers are taken to be large, of which the index has an entry for each position or so."""
    game = load_game(variant)
    small = solve(game, tmp_path / "small.h5", method=ListedMethod()).read_bytes()
    monkeypatch.setattr("retrograde.solver.methods.listed.explore.space.LARGE", 0)
    for spread in (1, 64):
        monkeypatch.setattr("retrograde.solver.methods.listed.explore.space.SPREAD", spread)
        assert solve(game, tmp_path / "large.h5", method=ListedMethod(), fresh=True).read_bytes() == small


@pytest.mark.parametrize(
    ("text", "way", "reason"),
    [
        ("dodgem", "streamed", "play reaches a tier after different numbers of plies"),
        ("dodgem", "numbered", "it does not number its positions"),
        ("dodgem", "setwise", "its rules are not plain: .*"),
        ("chess:KRK", "streamed", "it numbers its positions"),
        ("eightpuzzle:3,2", "streamed", "players do not alternate, or there are several first positions"),
        ("connect4:4,3", "setwise", "it has only [0-9,]+ positions, and those of up to 4,000,000 are listed in memory"),
        ("connect4:4,3", "streamed", "it has only [0-9,]+ positions, and .*"),
    ],
)
def test_a_way_that_does_not_fit_says_why_and_what_to_do(text, way, reason, path):
    """Twice: what was found out is in the journal."""
    for _ in range(2):
        with pytest.raises(CannotSolve) as caught:
            solve(load_game(text), path, method=way)
        told = f".* cannot be solved by the method that was asked for: {reason}; leave out the method, and .*"
        assert re.fullmatch(told, str(caught.value))


def test_no_reason_is_left_out():
    with pytest.raises(TypeError):
        NotApplicable()


def test_a_bug_of_the_solver_is_not_blamed_on_the_rules(path, monkeypatch):
    """What is found of each position is written for the one after it, and the sample notices."""

    def wrong(store):
        solved = from_store(store)
        pairs = [(positions, np.roll(rows, 1)) for positions, rows in solved.records]
        return replace(solved, records=pairs)

    path.unlink(missing_ok=True)
    from_store = listed.solved_from
    monkeypatch.setattr(listed, "solved_from", wrong)
    with pytest.raises(
        InternalError, match=r"`retrograde check` finds no fault of the rules; this is a bug of .*report"
    ):
        solve(load_game("mutorere"), path, method="listed", fresh=True)
    assert not path.exists() and not path.with_name(path.name + ".journal").exists()


def test_unknown_method_is_one_line(path):
    with pytest.raises(CannotSolve, match="no method 'magic'; the methods are interpreted, listed, setwise, stream"):
        solve(load_game("dodgem"), path, method="magic")


@pytest.mark.thorough
def test_remoteness_beyond_the_first_width(path):
    """Where remoteness outgrows the scores, the solver starts over with wider ones."""
    for variant in ("tentozero:target=40,steps=1", "dodgem"):
        game = load_game(variant)
        narrow = solve(game, path, method="compiled").read_bytes()
        assert solve(game, path, method="compiled", sizes=Sizes(plies_bits=(4, 30))).read_bytes() == narrow
        with pytest.raises(RemotenessOverflow):
            solve(game, path, method="compiled", sizes=Sizes(plies_bits=(4,)))


# Kills


def test_goes_on_from_any_prefix_of_the_journal(tmp_path):
    """Whatever a kill leaves of the journal, and whatever bytes behind it: the solve ends in the same database."""
    game = load_game("connect4:4,4")
    whole = solve(game, tmp_path / "whole.h5", method="compiled").read_bytes()
    journal = tmp_path / "killed.h5.journal"

    def stop_when_writing(progress):
        if progress.phase == "writing":
            raise Stop

    with pytest.raises(Stop):
        solve(
            game, tmp_path / "killed.h5", method="compiled", sizes=Sizes(journal_seconds=0), listener=stop_when_writing
        )
    entries = journal.read_bytes()
    assert len(entries) > 8 * 80_541
    dice = random.Random(4)
    resumed = 0
    for _ in range(6):
        end = dice.randrange(len(entries) + 1)
        journal.write_bytes(entries[:end] + dice.randbytes(dice.choice([0, 1, 7, 1000])))
        events = []
        solve(game, tmp_path / "killed.h5", method="compiled", listener=events.append)
        assert (tmp_path / "killed.h5").read_bytes() == whole
        assert not journal.exists()
        resumed += any(event.resumed for event in events)
    assert resumed >= 4


def test_a_fresh_solve_that_was_to_replace_a_database_goes_on(tmp_path):
    """Without a database `fresh` starts over, and a database that came later than the journal is no reason to go on."""
    game, path = load_game("connect4:4,4"), tmp_path / "game.h5"
    journal = tmp_path / "game.h5.journal"

    def resumes() -> bool:
        events = []
        solve(game, path, method="compiled", fresh=True, listener=events.append)
        assert not journal.exists()
        return any(event.resumed for event in events)

    def begin() -> None:
        with pytest.raises(Stop):
            solve(game, path, method="compiled", sizes=Sizes(journal_seconds=0), listener=stop_at(4), fresh=True)
        assert journal.exists()

    begin()
    assert not resumes()
    whole = path.read_bytes()
    begin()
    assert path.read_bytes() == whole and resumes()
    assert path.read_bytes() == whole
    begin()
    os.utime(path, (later := journal.stat().st_mtime + 1, later))
    assert not resumes()


def test_a_solve_that_is_refused_leaves_no_journal(tmp_path):
    for variant, metric in (("pig:20", "remoteness"), ("chess:KRK", "score")):
        with pytest.raises(RetrogradeError):
            solve(load_game(variant), tmp_path / "game.h5", metric=metric)
        assert not [file for file in tmp_path.iterdir() if file.suffix != ".lock"]


def test_a_damaged_journal_is_used_up_to_the_damage(tmp_path):
    game = load_game("connect4:4,4")
    whole = solve(game, tmp_path / "whole.h5", method="compiled").read_bytes()
    with pytest.raises(Stop):
        solve(game, tmp_path / "killed.h5", method="compiled", sizes=Sizes(journal_seconds=0), listener=stop_at(4))
    journal = tmp_path / "killed.h5.journal"
    entries = bytearray(journal.read_bytes())
    entries[len(entries) // 2] ^= 0x10
    journal.write_bytes(entries)
    solve(game, tmp_path / "killed.h5", method="compiled")
    assert (tmp_path / "killed.h5").read_bytes() == whole


@pytest.mark.thorough
@pytest.mark.skipif(os.name == "nt", reason="kills as POSIX does")
def test_killed_again_and_again(tmp_path):
    code = """
        import sys
        from retrograde.games.catalog import load_game
        from retrograde.solver.engine import solve
        from retrograde.solver.runtime.sizes import Sizes
        solve(load_game("connect4:5,4"), sys.argv[1], method="compiled", sizes=Sizes(journal_seconds=0))
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    subprocess.run([*command, tmp_path / "whole.h5"], check=True)
    killed, journal = tmp_path / "killed.h5", tmp_path / "killed.h5.journal"
    dice = random.Random(7)
    kills = 0
    for _ in range(3):
        process = subprocess.Popen([*command, killed])
        enough = (journal.stat().st_size if journal.exists() else 0) + dice.randrange(1, 1 << 19)
        while process.poll() is None and not (journal.exists() and journal.stat().st_size >= enough):
            time.sleep(0.005)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
        if killed.exists():
            break
    subprocess.run([*command, killed], check=True)
    assert kills
    assert killed.read_bytes() == (tmp_path / "whole.h5").read_bytes()
    assert not list(tmp_path.glob("*.journal")) and not list(tmp_path.glob("*.partial"))


@pytest.mark.thorough
@pytest.mark.skipif(os.name == "nt", reason="limits the size of files as POSIX does")
def test_a_full_disk_is_one_line_and_what_is_done_is_kept(tmp_path):
    code = """
        import resource, signal, sys
        from retrograde.databases import CannotWrite
        from retrograde.games.catalog import load_game
        from retrograde.solver.engine import solve
        from retrograde.solver.runtime.sizes import Sizes
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
        try:
            solve(load_game("connect4:4,4"), sys.argv[1], method="compiled", sizes=Sizes(journal_seconds=0))
        except CannotWrite as error:
            print(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        events = []
        solve(load_game("connect4:4,4"), sys.argv[1], method="compiled", listener=events.append)
        print(any(event.resumed for event in events))
    """
    command = [sys.executable, "-c", textwrap.dedent(code), tmp_path / "game.h5"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert said[0].endswith("game.h5.journal': file too large; what is done is kept") and said[1] == "True"
    assert counts(tmp_path / "game.h5") == published.COUNTS["connect4:4,4,4"]


@pytest.mark.parametrize("entries", [0, 1])
def test_what_other_rules_have_led_to_is_dropped_and_that_is_said(entries, tmp_path):
    """Where there was anything; and nothing of it is taken up."""
    with Journal(tmp_path / "game.h5.journal", "a solve by other rules") as journal:
        for _ in range(entries):
            journal.append("waves", np.arange(3))
    with warnings.catch_warnings(record=True) as said:
        solve(load_game("dodgem"), tmp_path / "game.h5", method="compiled")
    assert [str(warning.message) for warning in said] == [
        "the rules, or retrograde itself, have changed since an earlier run; what that had done is dropped"
    ] * entries
    assert counts(tmp_path / "game.h5") == published.COUNTS["dodgem"]


# Limits and bad rules


def test_too_little_memory_is_said_before_it_runs_out(path):
    with pytest.raises(MemoryLimit, match=r"positions needs about .* the limit is 100 MB; raise it with --memory"):
        solve(load_game("connect4:5,4"), path, method="compiled", memory=100_000_000)


class Walk(Game):
    """A walk that breaks the contract at position 40,000, far from where the interpreted rules look first."""

    fault: int = 0

    start = 1

    def generate_moves(self, position):
        yield 0
        yield 1

    def do_move(self, position, move):
        if position >= 40_000:
            if self.fault == 1:
                return position << 60
            if self.fault == 2:
                raise ValueError("out of paint")
            if self.fault == 3:
                return -1
            if self.fault == 4:
                return position - 39_000
        return 2 * position + move

    def primitive(self, position):
        return 0 if position < 1 << 40 else 1

    def tier(self, position):
        return position.bit_length() if self.fault == 4 else 0


@pytest.mark.thorough
@pytest.mark.usefixtures("solver_alone")
@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        (1, r"do_move.* gives \d+, which has more than 64 bits"),
        (2, r"position [4-8]\d{4}: the rules raise ValueError: out of paint"),
        (3, r"position \d+: do_move\(position, 0\) gives -1, but positions go from 0 to 2\*\*62 - 1"),
        (4, r"position \d+: move 0 leads from tier 16 back to tier \d+; it must never fall"),
    ],
)
def test_rules_that_break_the_contract(fault, complaint, path):
    with pytest.raises(RuleError, match=complaint):
        solve(Walk(fault), path, method="compiled")


@pytest.mark.thorough
def test_rules_that_never_end(path):
    """The state space of the sound walk has 2**41 positions."""
    with pytest.raises(MemoryLimit, match="going on from"):
        solve(Walk(0), path, method="compiled", memory=600_000_000)


class Countdown(Game):
    """Tiers below zero, as of a game that counts pieces as they leave."""

    start = 0

    def generate_moves(self, position):
        yield 1
        yield 2

    def do_move(self, position, move):
        return position + move

    def primitive(self, position):
        return LOSE if position >= 3 else UNDECIDED

    def tier(self, position):
        return position - 3


def test_tiers_below_zero(path):
    game = Countdown()
    assert outcomes(solve(game, path, method="compiled"), game) == reference.solve(game)


class Crossing(Game):
    """A walk with cycles among positions of 32 bits and of more."""

    start = 2**32

    def generate_moves(self, position):
        yield 0
        yield 1
        yield 2

    def do_move(self, position, move):
        node = position - 2**32 + 20
        return 2**32 - 20 + (node * 7 + 1, node * 11 + 5, node + 13)[move] % 41

    def primitive(self, position):
        return LOSE if position in (2**32 + 5, 2**32 - 5) else UNDECIDED


def test_positions_of_32_bits_and_of_more(path):
    game = Crossing()
    solution = reference.solve(game)
    assert min(solution) < 2**32 < max(solution)
    assert outcomes(solve(game, path, method="compiled"), game) == solution


class CrookedMirror(Countdown):
    """Images that are no positions."""

    def images(self, position):
        yield 1 - position


@pytest.mark.usefixtures("solver_alone")
@pytest.mark.parametrize("interpreted", [True, False])
def test_images_that_are_no_positions(path, interpreted):
    with pytest.raises(RuleError, match=r"position 0: images\(2\) gives -1, but positions go from 0"):
        solve(CrookedMirror(), path, method="interpreted" if interpreted else "compiled")


class Uncompiled(Countdown):
    """Rules that numba does not know how to compile."""

    def do_move(self, position, move):
        return int(Fraction(position) + move)


def test_rules_that_do_not_compile_are_run_interpreted(path, monkeypatch):
    monkeypatch.setattr(ports, "PATIENCE", 0.0)
    game = Uncompiled()
    where = r"rules of test_engine do not compile: test_engine.py, line \d+"
    complaint = where + ": .*Fraction is a class, .*; they run interpreted, which is slow"
    with pytest.warns(UserWarning, match=complaint):
        solve(game, path, method="compiled")
    assert outcomes(path, game) == reference.solve(game)


class Dice(Game):
    """Rules that are no function of the position."""

    start = 0

    def generate_moves(self, position):
        yield random.randrange(1000)
        yield random.randrange(1000)

    def do_move(self, position, move):
        return position + move + 1

    def primitive(self, position):
        return 0 if position < 20_000 else 1


@pytest.mark.usefixtures("solver_alone")
def test_rules_that_throw_dice(path):
    with pytest.raises(RuleError, match=r"does anything but the position decide|depend on the position alone"):
        solve(Dice(), path, method="compiled")
