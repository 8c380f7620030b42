"""What is looked at before a solve: broken rules are refused in one line, and no others."""

import os
import sys
import time

import pytest

from retrograde.games import RuleError
from retrograde.games.catalog import BUILT_IN, game_class, load_game
from retrograde.games.tictactoe import TicTacToe
from retrograde.solver import engine
from retrograde.solver.conformance import check
from retrograde.solver.conformance.check import precheck
from retrograde.solver.engine import solve
from retrograde.solver.rules.examine import raised_by_rules
from retrograde.solver.rules.no_exit import no_exit
from tests.helpers import broken
from tests.helpers.heap import Heap
from tests.helpers.ladder import Ladder
from tests.helpers.marks import thorough_but
from tests.helpers.tangle import DenseTangle, Tangle, TangleWithParents, position_of
from tests.solver.conformance import test_check

FOR_PEOPLE = {"write", "read", "move_name", "move", "draw_board", "draw_pieces", "draw_move", "draw_turn", "turns",
              "draw_steps", "draw_reach", "draw_end", "read_pieces", "at_best"}  # fmt: skip
COMPILED = {"compiled"}

BROKEN = {game: told for game, told in test_check.BROKEN.items() if told[0] not in FOR_PEOPLE | COMPILED}


@pytest.mark.parametrize("game", BROKEN, ids=lambda game: game.__name__)
def test_what_check_finds_is_refused_in_its_words(game):
    rule, _, complaint = BROKEN[game]
    with pytest.raises(RuleError, match=rf"test_check.* breaks the contract: {rule}") as caught:
        precheck(game(), seconds=20).require_ok()
    assert complaint in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "game", [game for game, told in test_check.BROKEN.items() if told[0] in FOR_PEOPLE], ids=lambda game: game.__name__
)
def test_what_is_only_for_people_is_not_refused(game):
    precheck(game()).require_ok()


@pytest.mark.thorough
@pytest.mark.parametrize("variant", [*BUILT_IN, *test_check.OTHERS, "connect4:4,4", "dodgem:4", "chess:KQKR"])
def test_our_games_are_not_refused(variant):
    if ":" not in variant and (example := game_class(variant).example):
        variant += f":{example}"
    precheck(load_game(variant)).require_ok()


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("rules", [Tangle, TangleWithParents, DenseTangle])
@pytest.mark.parametrize("seed", thorough_but(range(10), 0, 1, 2))
@pytest.mark.long
def test_random_games_are_not_refused(rules, seed, symmetric):
    game = rules()
    object.__setattr__(game, "start", game.canonical(position_of(seed, symmetric, 1, 1, 20)))
    precheck(game).require_ok()
    precheck(Ladder(seed=seed)).require_ok()


def test_rules_that_go_on_for_ever_are_named(monkeypatch):
    monkeypatch.setattr(check, "PRECHECK_PATIENCE", 0.1)
    with pytest.raises(RuleError, match="breaks the contract: primitive at 9a: goes on and on; does it end"):
        precheck(test_check.GoesRound()).require_ok()


# Rules that would end the process


class Exit(Heap):
    def do_move(self, heap, taken):
        sys.exit(0)


class Interrupt(Heap):
    def do_move(self, heap, taken):
        raise KeyboardInterrupt


class FloatTier(Heap):
    def tier(self, heap):
        return 10.5 - heap


class TextTier(Heap):
    def tier(self, heap):
        return "0"


class HugeTier(Heap):
    def tier(self, heap):
        return 2**70


class FloatMoves(Heap):
    def generate_moves(self, heap):
        yield 1.0


FAULTS = {
    Exit: "position 10: the rules raise SystemExit: 0",
    Interrupt: "position 10: the rules raise KeyboardInterrupt: ",
    FloatTier: "position 10: tier(10) gives 0.5, which is no int",
    TextTier: "position 10: tier(10) gives '0', which is no int",
    HugeTier: "position 10: tier(10) gives 1180591620717411303424; it must give an int below 2**62",
    FloatMoves: "position 10: generate_moves() gives 1.0, which is no int",
}


@pytest.mark.usefixtures("solver_alone")
@pytest.mark.parametrize("game", FAULTS, ids=lambda game: game.__name__)
def test_the_solver_tells_in_one_line(game, tmp_path):
    with pytest.raises(RuleError) as caught:
        solve(game(), tmp_path / "heap.h5", method="interpreted")
    assert FAULTS[game] in str(caught.value)


@pytest.mark.parametrize("call", ["_exit", "abort", "execv"])
def test_ways_out_are_closed_and_opened_again(call):
    module = sys.modules[os.name]
    before = getattr(os, call), getattr(module, call)
    with no_exit():
        with no_exit(), pytest.raises(Exception, match=rf"rules must not end the process, as os\.{call}\(\) does"):
            getattr(os, call)(0)
        with pytest.raises(Exception, match="rules must not end the process"):
            getattr(module, call)(0)
    assert (getattr(os, call), getattr(module, call)) == before


def test_ctrl_c_is_told_from_rules_that_raise_what_it_does():
    def caught(function):
        try:
            function()
        except BaseException as error:
            return raised_by_rules(error)

    def raises():
        raise KeyboardInterrupt

    def interrupted():
        __import__("signal").raise_signal(2)

    def passes_on():
        try:
            interrupted()
        except KeyboardInterrupt:
            raise

    assert [caught(raises), caught(interrupted), caught(passes_on)] == [True, False, False]


@pytest.mark.parametrize(
    ("cls", "fault"),
    [(broken.Round, 1), (broken.Round, 3), (broken.DenseRound, 1), (broken.Mirror, 1), (broken.Pairs, 1)],
)
@pytest.mark.parametrize("interpreted", [True, False])
def test_a_broken_game_leaves_no_database(cls, fault, interpreted, tmp_path, monkeypatch):
    monkeypatch.setattr(cls, "start", cls.start + (fault << (15 if cls is broken.Mirror else 10)))
    with pytest.raises(RuleError):
        solve(cls(), tmp_path / "game.h5", method="interpreted" if interpreted else "compiled")
    assert not (tmp_path / "game.h5").exists()


@pytest.mark.thorough
@pytest.mark.long
def test_the_sample_is_verified_before_the_file_has_its_name(tmp_path, monkeypatch):
    def refuse(database, seconds):
        assert seconds <= 0.1
        assert database.file.path.name.endswith(".partial")
        raise RuleError("no")

    monkeypatch.setattr(engine, "verify_sample", refuse)
    for interpreted in (True, False):
        with pytest.raises(RuleError, match="no"):
            solve(TicTacToe(), tmp_path / "game.h5", method="interpreted" if interpreted else "compiled")
        assert list(tmp_path.iterdir()) == []


def test_further_variants_of_a_game_are_checked_for_a_shorter_time(monkeypatch):
    given = []
    monkeypatch.setattr(check, "PRECHECKED", set())
    monkeypatch.setattr(
        check.Checker, "check_interpreted", lambda *args, for_people: given.append(args[2] - time.monotonic())
    )
    for variant in ("nim", "connect4:4,4", "connect4:5,4"):
        precheck(load_game(variant))
    first, other, again = given
    assert again < check.SECONDS_AGAIN < first < check.PRECHECK_SECONDS and other > check.SECONDS_AGAIN
