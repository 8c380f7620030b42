"""Lines of play: published counts, chess against python-chess, and random games against recursion."""

import json
from itertools import islice
from random import Random

import chess
import pytest

from retrograde.games.catalog import load_game
from retrograde.games.contract.game import UNDECIDED
from retrograde.solver.search import counting
from retrograde.solver.search.counting import Endless, PlyCount, count_lines, find_repetition
from tests.helpers.command_line import retrograde
from tests.helpers.tangle import Tangle, position_of
from tests.helpers.wide import WideTicTacToe

GAMES_OF_TICTACTOE = 255_168  # H. Bottomley, How many Tic-Tac-Toe games are possible?, 2001
UP_TO_SYMMETRY = [1, 3, 12, 38, 108, 174, 204, 153, 57, 15]  # 765 positions in all; the same
KRK = "7k/8/8/8/8/8/8/RK6 w - - 0 1"  # no capture within three plies: it would end our game, and theirs goes on


def test_tictactoe_has_as_many_games_as_published():
    counts = list(count_lines(load_game("tictactoe"), 0))
    assert sum(count.ends for count in counts) == GAMES_OF_TICTACTOE
    assert [count.positions for count in counts] == UP_TO_SYMMETRY


def perft(board, plies):
    if not plies:
        return 1
    count = 0
    for move in board.legal_moves:
        board.push(move)
        count += perft(board, plies - 1)
        board.pop()
    return count


def test_lines_of_chess_are_those_of_another_program():
    game = load_game("chess:KRK")
    counts = list(count_lines(game, game.read(KRK), 3))
    assert [count.lines for count in counts] == [perft(chess.Board(KRK), plies) for plies in range(4)]


def by_recursion(game, position, plies):
    """Return (lines, lines that end there) of each ply."""
    over = game.primitive(position) != UNDECIDED
    counts = [[0, 0] for _ in range(plies + 1)]
    counts[0] = [1, int(over)]
    if plies and not over:
        for move in game.generate_moves(position):
            for ply, pair in enumerate(by_recursion(game, game.do_move(position, move), plies - 1), 1):
                counts[ply] = [mine + other for mine, other in zip(counts[ply], pair, strict=True)]
    return counts


@pytest.mark.parametrize("seed", range(3))
def test_lines_of_random_games_with_cycles_are_those_of_recursion(seed):
    game, start = Tangle(), position_of(seed, symmetric=seed == 1, ends=1, layers=2, size=20)
    found = [[count.lines, count.ends] for count in count_lines(game, start, 6)]
    expected = by_recursion(game, start, 6)
    assert found == expected[: len(found)] and not any(map(any, expected[len(found) :]))
    assert len(found) > 2


@pytest.mark.thorough
def test_positions_of_several_words_are_counted_as_well():
    counts = [(count.lines, count.ends) for count in count_lines(WideTicTacToe(), WideTicTacToe.start)]
    assert counts == [(count.lines, count.ends) for count in count_lines(load_game("tictactoe"), 0)]


def test_endless_play_is_refused_where_all_games_are_counted():
    game = load_game("mutorere")
    with pytest.raises(Endless, match=r"play can go on forever, as from .*--plies 10"):
        list(count_lines(game, game.start))
    assert [count.lines for count in count_lines(game, game.start, 4)] == [1, 2, 2, 2, 6]


@pytest.mark.parametrize("text", ["draughts", "draughts:rows=6", "lgame"])
def test_endless_play_is_refused_early_in_games_that_are_too_large_to_count(text, monkeypatch):
    """A random line shows it, and not the list of all positions."""
    monkeypatch.setattr(counting, "refuse_endless", lambda *_: pytest.fail("all positions were listed"))
    game = load_game(text)
    with pytest.raises(Endless, match="play can go on forever"):
        list(islice(count_lines(game, game.start), 5))


def test_a_line_returns_to_a_position_that_leads_back_to_itself():
    game = load_game("mutorere")
    found = find_repetition(game, game.canonical(game.start), Random(1))
    after = {game.canonical(game.do_move(found, move)) for move in game.generate_moves(found)}
    for _ in range(40):
        after |= {game.canonical(game.do_move(one, move)) for one in after for move in game.generate_moves(one)}
    assert found in after
    for text in ("tictactoe", "nim", "othello:4,4", "hexapawn"):  # no line returns
        game = load_game(text)
        assert [find_repetition(game, game.canonical(game.start), Random(k)) for k in range(20)] == [None] * 20


def test_long_counts_show_how_far_they_are(monkeypatch):
    said = []
    monkeypatch.setattr("retrograde.cli.commands.count.announce", lambda line, text: said.append(text))
    retrograde("count", "tictactoe", "--plies", "2")
    assert said == ["counted 1 line of 0 plies", "counted 9 lines of 1 ply", "counted 72 lines of 2 plies"]


def test_a_position_that_is_over_is_one_line():
    game = load_game("nim:heaps=1")
    assert list(count_lines(game, game.do_move(game.start, *game.generate_moves(game.start)))) == [PlyCount(0, 1, 1, 1)]


def test_the_command_needs_a_position_where_there_is_no_start():
    assert "has no start; give a POSITION" in retrograde("count", "chess:KRK", status=2).stderr


def test_one_game_and_one_line_are_in_the_singular():
    assert retrograde("count", "nim:heaps=1").stdout.endswith("\n1 game\n")
    assert retrograde("count", "tictactoe", "--plies", 0).stdout.endswith("\n1 line of 0 plies\n")


def test_the_command_prints_json():
    told = json.loads(retrograde("count", "nim:heaps=1+2", "--json").stdout)
    assert told["games"] == 4  # 1 and 2; 2 and 1; 1 twice, in one order or the other, then 1
    assert [row["lines"] for row in told["plies"]] == [1, 3, 4, 2]
