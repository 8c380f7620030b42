"""The whole game of draughts, against published counts, slow and obvious rules, and the databases of endings."""

import json
from random import Random

import pytest

from retrograde.games import UNDECIDED, PositionError, VariantError
from retrograde.games.catalog import load_game, variant
from retrograde.games.draughts import Draughts
from retrograde.solver.engine import solve
from retrograde.solver.play.solution import open_solution
from retrograde.solver.search.counting import count_lines
from retrograde.solver.search.probing.tables import find_tables
from retrograde.solver.search.searcher import Search
from tests.helpers import checkers
from tests.helpers.command_line import retrograde

PERFT = [1, 7, 49, 302, 1_469, 7_361, 36_768, 179_740, 845_931]
"""Lines of play by plies: A. Bik, Computing deep perft and divide numbers for checkers (ICGA Journal 35, 2012)."""


def random_games(game, number, seed):
    """Yield the positions of some random games."""
    dice = Random(seed)
    for _ in range(number):
        position = game.start
        for _ in range(200):
            yield position
            if game.primitive(position) != UNDECIDED:
                break
            position = game.do_move(position, dice.choice(list(game.generate_moves(position))))


def board_of(game, position):
    """Return the board of a position as the slow rules have it."""
    signs = game.draw_pieces(position)
    return {divmod(cell, game.rows): sign for cell, sign in enumerate(signs) if sign != "."}


@pytest.mark.thorough
def test_lines_of_play_are_as_many_as_published():
    game = load_game("draughts")
    assert [count.lines for count in count_lines(game, game.start, 8)] == PERFT


@pytest.mark.parametrize(("text", "games"), [("draughts", 6), ("draughts:rows=6", 10)])
def test_moves_are_those_of_slow_rules(text, games):
    game, kings, captures = load_game(text), 0, 0
    assert board_of(game, game.start) == checkers.start(game.rows)
    for position in random_games(game, games, 3):
        board, turn = board_of(game, position), game.draw_turn(position)
        slow = {(name, checkers.text_of(after, "wb"[turn == "w"], game.rows))
                for name, after in checkers.moves(board, turn, game.rows)}  # fmt: skip
        moves = list(game.generate_moves(position))
        assert {(game.move_name(position, move), game.write(game.do_move(position, move))) for move in moves} == slow
        assert (game.primitive(position) == UNDECIDED) == bool(moves)
        assert game.read(game.write(position)) == position
        assert game.read_pieces(game.draw_pieces(position), turn) == position
        kings += any(piece.isupper() for piece in board.values())
        captures += any("x" in name for name, _ in slow)
    assert kings > 20 and captures > 20


def test_variants_of_the_whole_game_have_one_name():
    for text, name in {"draughts": "draughts", "draughts:24": "draughts", "draughts:12,6": "draughts:rows=6"}.items():
        assert variant(load_game(text)) == name
    assert isinstance(load_game("draughts:8"), Draughts) and load_game("draughts:8").tiers
    for text, message in {
        "draughts:9": "pieces=9; say 2 to 8, leave it out for the whole game, or name them",
        "draughts:rows=4": "rows=4; the whole game has 8 or 6 rows, and on 4 it is draughts:4,4",
        "draughts:4,5": "rows=5; the board must have 4, 6 or 8 rows",
    }.items():
        with pytest.raises(VariantError, match=message):
            load_game(text)
    with pytest.raises(PositionError, match="25 pieces are on the board; the game has 24 at most"):
        load_game("draughts").read("B:W20-32:B1-12")


def test_endings_have_the_tiers_and_slots_of_their_databases():
    game, found = load_game("draughts"), 0
    endings, before = Draughts("8"), None
    for position in random_games(game, 8, 5):
        tier = game.tier(position)
        assert before is None or tier >= before or position == game.start
        before = tier
        ending = game.as_probed(position)
        if tier < 0 or not endings.sets(ending)[0]:
            continue
        assert endings.write(ending) == game.write(position)
        assert (tier, game.index(position)) == (endings.tier(ending), endings.index(ending))
        assert {endings.write(endings.do_move(ending, move)) for move in endings.generate_moves(ending)} == {
            game.write(game.do_move(position, move)) for move in game.generate_moves(position)
        }
        found += 1
    assert found > 20


@pytest.mark.thorough
def test_searches_meet_the_databases_of_endings_and_find_what_these_say(tmp_path, monkeypatch):
    smaller, larger = Draughts("2", 6), Draughts("3", 6)
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    solve(smaller, tmp_path / "draughts,pieces=2,rows=6.h5")
    path = solve(larger, tmp_path / "truth" / "three.h5")
    game, dice, met = load_game("draughts:rows=6"), Random(2), 0
    tables = find_tables(game, game.start)
    assert tables is not None and {*tables.entries} == {*smaller.tiers}
    search = Search(game, size=1 << 20, tables=tables)
    with open_solution(path, game=larger) as truth:
        for _ in range(60):
            tier = dice.choice([tier for tier in larger.tiers if tier not in smaller.tiers])
            ending = larger.unindex(tier, dice.randrange(larger.size(tier)))
            position = game.read(larger.write(ending))
            value, remoteness = truth.value(ending)
            found = search.find(position, depth=12)
            if remoteness is not None and remoteness <= 12:
                assert (found.value, found.remoteness) == (value, remoteness)
            else:
                assert found.value is None
            met += found.in_tables > 0
            child = next(iter(game.generate_moves(position)), None)
            if child is not None and (known := tables.get(game.do_move(position, child))):
                reached = game.as_probed(game.do_move(position, child))
                assert known == truth.value(reached)
    assert met > 10
    tables.close()


def test_the_estimate_is_the_same_for_either_side_and_quiet_means_no_capture():
    game = load_game("draughts")
    assert game.estimate(game.start) == 0
    for position in random_games(game, 2, 9):
        own, other, kings = game.sets(position)
        passed = game.from_sets(1, game.turned(other), game.turned(own), game.turned(kings))
        assert game.estimate(passed) == -game.estimate(position)
        names = [game.move_name(position, move) for move in game.generate_moves(position)]
        assert game.quiet(position) == (not any("x" in name for name in names))
    ahead = game.read("B:W21-23:B1-3,K12")
    assert game.estimate(ahead) > 100


@pytest.mark.thorough
@pytest.mark.long
def test_a_player_that_looks_ahead_beats_weaker_ones_and_games_are_pdn(tmp_path):
    for opponent in ("random", "depth:1"):
        result = retrograde("match", "draughts", "depth:5", opponent, "--games", "2", "--time", "0.02", "--json")
        assert json.loads(result.stdout)["players"][0]["points"] == 2
    path = tmp_path / "game.pdn"
    retrograde("play", "draughts", "--first", "depth:2", "--second", "random", "--seed", "1", "--time", "0.02",
               "--pgn", path)  # fmt: skip
    text = path.read_text()
    assert '[Event "Draughts"]' in text and '[Black "depth:2"]' in text and "\n1. " in text and "0-1" in text
    assert '[FEN "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12"]' in text


@pytest.mark.thorough
def test_the_game_keeps_the_contract_and_is_searched():
    assert retrograde("check", "draughts").stdout.startswith("draughts: keeps the contract")
    assert "White to move wins in 1 ply" in retrograde("search", "draughts", "W:WK25,K26,22:BK18").stdout
