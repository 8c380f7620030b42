"""Fanorona on small boards, held against the rules written down another way."""

import dataclasses
import json
from collections import Counter
from functools import cached_property
from random import Random

import pytest

from retrograde.databases import open_database
from retrograde.games import LOSE, WIN, VariantError
from retrograde.games.catalog import load_game
from retrograde.games.fanorona import Fanorona
from retrograde.games.wide.fanorona import WideFanorona
from retrograde.solver.conformance.check import check
from retrograde.solver.engine import solve
from retrograde.solver.search.counting import count_lines
from retrograde.solver.verification.verify import verify
from tests.helpers import malagasy, reference
from tests.helpers.command_line import retrograde
from tests.helpers.reached import counts_reached, of_both_turns
from tests.helpers.solving import counts

pytestmark = pytest.mark.long

EXCHANGED = str.maketrans("WB", "BW")


def position_of(game, text, turn):
    """Return the position of a board on which W is to move, with either colour to move."""
    return game.read(f"{text if turn == 'W' else text.translate(EXCHANGED)}/{turn}")


def board_of(game, position):
    """Return the board of a position, the men of who is to move being W."""
    text, _, turn = game.write(position).rpartition("/")
    return text if turn == "W" else text.translate(EXCHANGED)


def expect_moves(game, text, turn):
    """Hold all moves, by their names and by what they lead to, against those of the rules written down slowly."""
    position = position_of(game, text, turn)
    found = {
        game.move_name(position, move): game.do_move(position, move)
        for move in game.generate_moves(position)
        if game.primitive(position) != LOSE
    }
    assert {name: board_of(game, child) for name, child in found.items()} == malagasy.moves(text)
    assert all(game.draw_turn(child) != turn for child in found.values())


@pytest.mark.thorough
def test_the_game_keeps_the_contract():
    report = check(load_game("fanorona"), compiled=False)
    assert report.ok, report.findings
    assert {"tiers", "index", "unindex", "images", "read_pieces", "move_name"} <= set(report.checks)


STARTS = {
    "3,3": "BBB/B.W/WWW/W",
    "5,3": "BBBBB/BW.BW/WWWWW/W",
    "3,5": "BBB/BBB/B.W/WWW/WWW/W",
    "7,3": "BBBBBBB/BWB.WBW/WWWWWWW/W",
    "5,5": "BBBBB/BBBBB/BW.BW/WWWWW/WWWWW/W",
    "9,5": "BBBBBBBBB/BBBBBBBBB/BWBW.BWBW/WWWWWWWWW/WWWWWWWWW/W",
}
"""The middle rows as in the figures of Schadd and others."""


@pytest.mark.parametrize("options", STARTS)
def test_men_stand_by_turns_in_the_middle_at_first(options):
    game = load_game(f"fanorona:{options}")
    assert game.write(game.start) == STARTS[options]
    assert game.cells > 27 or game.index(game.start) >= 0


@pytest.mark.parametrize("options", ["4,3", "3,1", "9,4", "9,7"])
def test_other_boards_are_refused(options):
    with pytest.raises(VariantError, match="must be odd, three at least"):
        load_game(f"fanorona:{options}")


def test_lines_go_cornerwise_from_every_other_point():
    game = load_game("fanorona")
    lines = {tuple(game.board.names[place] for place in line) for line in game.board.lines}
    assert len(lines) == 16
    assert {("a1", "b2"), ("c1", "b2"), ("b2", "c3"), ("a1", "b1"), ("a1", "a2")} <= lines
    assert ("b1", "a2") not in lines
    assert ("b1", "c2") not in lines


def test_a_man_goes_on_as_long_as_it_takes():
    game = load_game("fanorona:5,3")
    position = game.read("B.B.B/.W.../...../W")
    names = {game.move_name(position, move) for move in game.generate_moves(position)}
    assert names == set(malagasy.moves("B.B.B/.W.../....."))
    assert all("A" in name or "W" in name for name in names)


@pytest.mark.thorough
def test_all_moves_are_those_of_the_rules_written_down_slowly():
    game = load_game("fanorona")
    for at, text in enumerate(malagasy.boards(3, 3)):
        if at % 3 == 0 or text.count(".") > 5:
            expect_moves(game, text, "WB"[at % 2])


@pytest.mark.slow
def test_all_moves_are_those_of_the_rules_written_down_slowly_with_either_player_to_move():
    game = load_game("fanorona")
    for text in malagasy.boards(3, 3):
        for turn in "WB":
            expect_moves(game, text, turn)


@pytest.mark.parametrize(("options", "number"), [("5,3", 60), ("3,5", 60), ("5,5", 25), ("3,7", 30), ("9,3", 20)])
def test_moves_on_larger_boards_are_those_of_the_rules_written_down_slowly(options, number):
    game, dice = load_game(f"fanorona:{options}"), Random(5)
    for _ in range(number):
        cells = dice.sample(range(game.cells), game.cells)
        signs = ["."] * game.cells
        for sign in "WB":
            for _ in range(dice.randint(1, game.cells // 2)):
                signs[cells.pop()] = sign
        text = "/".join("".join(signs[at : at + game.width]) for at in range(0, game.cells, game.width))
        expect_moves(game, text, dice.choice("WB"))


# Larger boards


def test_the_traditional_board_has_the_moves_of_the_rules_written_down_slowly():
    game, dice = load_game("fanorona:9,5"), Random(5)
    for _ in range(3):
        position = game.start
        for _ in range(30):
            if game.primitive(position) == LOSE:
                break
            text = board_of(game, position)
            expect_moves(game, text, game.draw_turn(position))
            assert game.read(game.write(position)) == position
            position = game.do_move(position, dice.choice(list(game.generate_moves(position))))


def test_a_turn_of_more_steps_than_one_int_holds_is_a_move():
    game = load_game("fanorona:9,5")
    text = "BB.B.B.../B..B.BB../BBB.B.BB./.B..B..WB/B.BB..B.."
    assert max(name.count("-") for name in malagasy.moves(text)) == 17
    expect_moves(game, text, "W")
    expect_moves(game, text, "B")


@pytest.mark.thorough
def test_small_boards_have_the_same_lines_of_play_in_two_words():
    small, large = load_game("fanorona:5,3"), WideFanorona(5, 3)
    counts = [[count[:3] for count in count_lines(Apart(5, 3), small.start, 4)]]
    counts.append([count[:3] for count in count_lines(large, large.start, 4)])
    counts.append([(0, 1, 0)])
    boards = {board_of(small, small.start): 1}
    for ply in range(1, 5):
        after = Counter()
        for text, lines in boards.items():
            for child in malagasy.moves(text).values():
                after[child] += lines
        boards = after
        counts[2].append((ply, sum(after.values()), sum(n for text, n in after.items() if not malagasy.moves(text))))
    assert counts[0] == counts[1] == counts[2]


@pytest.mark.thorough
def test_the_traditional_board_is_played_and_searched():
    result = retrograde("match", "fanorona:9,5", "depth:3", "random", "--games", "2", "--time", "0.02", "--json")
    assert [player["won"] for player in json.loads(result.stdout)["players"]] == [2, 0]
    result = retrograde("search", "fanorona:9,5", "B......../W......../........./........./........./W")
    assert "White (W) to move wins in 1 ply" in result.stdout
    assert retrograde("check", "fanorona:9,5").stdout.startswith("fanorona:width=9,height=5: keeps the contract")


@pytest.mark.thorough
def test_three_by_three_points_are_what_a_slow_solver_makes_of_them(tmp_path):
    game, path = load_game("fanorona"), tmp_path / "fanorona.h5"
    solve(game, path, method="interpreted")
    solution = malagasy.solution(3, 3)
    with open_database(path, game=game) as database:
        for text, outcome in solution.items():
            assert database[position_of(game, text, "W")] == outcome
            assert database[position_of(game, text, "B")] == outcome
    assert sum(counts(path).values()) == 2 * len(solution)
    assert solution["BBB/B.W/WWW"] == (WIN, 11)


def test_as_many_positions_are_reached_as_others_found():
    assert len(reference.explore(load_game("fanorona"))) == REACHED["3,3"]


REACHED = {"3,3": 1012, "5,3": 444_908, "3,5": 185_204}
"""From the start: notes to a solver of small boards in C++, of fanorona.h and retro.cc, among public repositories; for
these boards they have the values of Schadd and others as well, who do not tell how soon White wins."""


class Apart(Fanorona):
    """The same game, in which no position stands for another one."""

    name = "fanorona"

    @cached_property
    def placements(self):
        declared = super().placements
        return dataclasses.replace(of_both_turns(declared), symmetries=declared.symmetries[:1])


@pytest.mark.slow
@pytest.mark.parametrize(("options", "plies"), [("5,3", 11), ("3,5", 13)])
def test_white_wins_on_boards_of_fifteen_points(options, plies, tmp_path):
    game, path = load_game(f"fanorona:{options}"), tmp_path / "fanorona.h5"
    solve(game, path)
    with open_database(path, game=game) as database:
        assert database[game.start] == (WIN, plies)
        assert verify(database).ok
        reached = counts_reached(Apart(*dataclasses.astuple(game)), database)
    assert sum(reached.values()) == REACHED[options]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"), [("7,3", "wins in 17 plies"), ("3,7", "wins in 17 plies"), ("9,3", "wins")]
)
def test_white_wins_on_longer_boards_by_search(options, said):
    """Of twenty-one points as Schadd and others have it, by the same notes; how soon nobody tells."""
    result = retrograde("search", f"fanorona:{options}", "--no-tables", *(["--value-only"] * (said == "wins")))
    assert f"White (W) to move {said}\n" in result.output
    assert "proved by search" in result.output
