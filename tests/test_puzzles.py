"""Games of one player, and Kalah: published numbers, and slow and obvious ways to the same."""

from collections import Counter
from functools import cache
from itertools import combinations

import pytest

from retrograde.databases import DatabaseFile
from retrograde.games import LOSE, TIE, UNDECIDED, WIN, VariantError
from retrograde.games.catalog import load_game
from retrograde.games.eightpuzzle import EightPuzzle
from retrograde.games.hanoi import Hanoi
from retrograde.games.kalah import Kalah
from retrograde.games.lightsout import LightsOut
from retrograde.games.pegsolitaire import PegSolitaire
from retrograde.games.pocketcube import PocketCube
from retrograde.solver.engine import solve
from tests import turning
from tests.solving import counts, outcomes

SMALL = ["eightpuzzle:3,2", "eightpuzzle:2,3", "hanoi:4", "hanoi:3,4", "lightsout:3,3", "lightsout:2,3",
         "pegsolitaire:4,4", "pegsolitaire:4,4,yes", "kalah:3,1", "kalah:2,2", "kalah:3,1,no"]  # fmt: skip


def solved_in(path) -> list[int]:
    """Return how many positions of a puzzle are solved in so many moves, 0, 1, …; all must be solved."""
    found = counts(path)
    assert {value for value, _ in found} == {WIN}
    return [found[WIN, moves] for moves in range(len(found))]


@pytest.mark.parametrize("way", ["interpreted", "compiled"])
@pytest.mark.parametrize("variant", SMALL)
@pytest.mark.long
def test_every_position_is_worth_what_the_slow_solver_says(variant, way, tmp_path):
    game = load_game(variant)
    path = solve(game, tmp_path / "game.h5", way=way)
    assert outcomes(path, game) == turning.solve(game)


@pytest.mark.parametrize("game", [load_game(variant) for variant in SMALL], ids=SMALL)
def test_read_undoes_write_and_moves_have_names(game):
    for position in list(turning.solve(game))[:200]:
        assert game.read(game.write(position)) == position
        if game.primitive(position) == UNDECIDED:
            names = [game.move_name(position, move) for move in game.generate_moves(position)]
            assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "text",
    ["eightpuzzle:1,3", "eightpuzzle:4,4", "hanoi:0", "hanoi:3,5", "lightsout:7,6", "pegsolitaire:9",
     "pegsolitaire:5,15", "pegsolitaire:5,0,no,yes", "pocketcube:no,4", "kalah:9", "kalah:6,5", "kalah:3,0"],
)  # fmt: skip
def test_options_that_make_no_game_are_refused(text):
    with pytest.raises(VariantError):
        load_game(text)


# The 8-puzzle


@pytest.mark.long
def test_the_eight_puzzle_has_as_many_positions_as_published(tmp_path):
    """181,440 states, at most 31 moves, two of them: W. Schofield (1967); A. Reinefeld, IJCAI 1993, table 1."""
    path = solve(EightPuzzle(), tmp_path / "game.h5")
    profile = solved_in(path)
    assert sum(profile) == 181_440
    assert (len(profile) - 1, profile[-1]) == (31, 2)
    assert profile[:6] == [1, 2, 4, 8, 16, 20]


def test_the_largest_distances_of_small_boxes_are_those_of_the_encyclopedia(tmp_path):
    """OEIS A151944, the greatest numbers of moves for 2 × n boxes: 6, 21, 36."""
    for width, most in ((2, 6), (3, 21)):
        assert len(solved_in(solve(EightPuzzle(width, 2), tmp_path / f"{width}.h5"))) - 1 == most


def test_the_start_can_be_solved_in_every_box():
    for width, height in ((2, 2), (3, 2), (2, 4), (5, 3)):
        game = EightPuzzle(width, height)
        tiles = [tile for tile in game.tiles(game.start) if tile]
        assert sum(a > b for a, b in combinations(tiles, 2)) % 2 == 0


# The Tower of Hanoi


def test_the_tower_takes_two_to_the_disks_less_one(tmp_path):
    """É. Lucas, 1883: 2^n - 1 moves; and all 3^n arrangements can be reached."""
    for disks in range(1, 8):
        file = DatabaseFile(solve(Hanoi(disks), tmp_path / f"{disks}.h5"))
        assert file.start_outcome.remoteness == 2**disks - 1
        assert file.positions == 3**disks


def test_with_four_pegs_it_takes_as_long_as_by_frame_and_stewart(tmp_path):
    """OEIS A007664: 1, 3, 5, 9, 13, 17 moves; proved to be the least by T. Bousch (2014)."""
    for disks, moves in enumerate((1, 3, 5, 9, 13, 17), 1):
        assert DatabaseFile(solve(Hanoi(disks, 4), tmp_path / f"{disks}.h5")).start_outcome.remoteness == moves


# Lights Out


def presses_needed(width, height):
    """Return how many boards need so many presses, by trying all sets of lights to be pressed."""
    game = LightsOut(width, height)
    least: dict[int, int] = {}
    for presses in range(game.lights + 1):
        for lights in combinations(range(game.lights), presses):
            board = 0
            for light in lights:
                board ^= game.presses[light]
            least.setdefault(board, presses)
    found = Counter(least.values())
    return [found[presses] for presses in range(len(found))]


@pytest.mark.parametrize(("width", "height"), [(2, 2), (3, 3), (4, 3), (4, 4)])
@pytest.mark.long
def test_lights_out_needs_as_many_presses_as_all_sets_of_them_show(width, height, tmp_path):
    assert solved_in(solve(LightsOut(width, height), tmp_path / "game.h5")) == presses_needed(width, height)


@pytest.mark.slow
def test_lights_out_of_five_by_five(tmp_path):
    """By presses, 0 to 15, computed by a slow program: 2^23 boards, and none takes more than 15."""
    assert solved_in(solve(LightsOut(5, 5), tmp_path / "game.h5")) == [
        *(1, 25, 300, 2300, 12650, 53130, 176176, 467104),
        *(982335, 1596279, 1935294, 1684446, 1004934, 383670, 82614, 7350),
    ]


# Peg solitaire


@pytest.mark.parametrize(
    ("hole", "solutions", "games"), [(0, 29760, 568630), (1, 14880, 294543), (3, 85258, 1149568), (4, 1550, 137846)]
)
def test_the_triangle_is_solved_in_as_many_ways_as_published(hole, solutions, games):
    """All games from each of the four holes that differ: W. Butler, http://www.durangobill.com/Peg15.html."""
    game = PegSolitaire(hole=hole)

    @cache
    def ways(position):
        value = game.primitive(position)
        if value != UNDECIDED:
            return int(value == WIN), 1
        found = [ways(game.do_move(position, jump)) for jump in game.generate_moves(position)]
        return sum(won for won, _ in found), sum(played for _, played in found)

    assert ways(game.start) == (solutions, games)


def test_a_solution_takes_as_many_jumps_as_there_are_pegs_but_one(tmp_path):
    assert DatabaseFile(solve(PegSolitaire(), tmp_path / "game.h5")).start_outcome[:2] == (WIN, 13)
    assert DatabaseFile(solve(PegSolitaire(hole=4, home=True), tmp_path / "home.h5")).start_outcome.value == LOSE


def test_the_english_board_is_the_one_known():
    """33 holes and 76 jumps (J. Beasley, The Ins and Outs of Peg Solitaire), the first into the centre one of four."""
    game = PegSolitaire(7, 16, english=True)
    assert len(game.places) == 33
    assert len(game.jumps) == 76
    assert len(list(game.generate_moves(game.start))) == 4
    assert game.places[16] == (3, 3)


# The pocket cube

HALF_TURNS = [1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644]
QUARTER_TURNS = [
    *(1, 6, 27, 120, 534, 2256, 8969, 33058, 114149, 360508, 930588, 1350852, 782536, 90280, 276),
]
"""Positions by turns to the goal, of 3,674,160: https://en.wikipedia.org/wiki/Pocket_Cube#Number_of_unique_positions"""


@pytest.mark.slow
@pytest.mark.parametrize(("quarter", "profile"), [(False, HALF_TURNS), (True, QUARTER_TURNS)])
def test_the_cube_takes_as_many_turns_as_published(quarter, profile, tmp_path):
    assert solved_in(solve(PocketCube(quarter), tmp_path / "game.h5")) == profile


@pytest.mark.parametrize(("quarter", "profile"), [(False, HALF_TURNS), (True, QUARTER_TURNS)])
@pytest.mark.long
def test_the_first_turns_from_the_goal_lead_to_as_many_positions_as_published(quarter, profile):
    game = PocketCube(quarter)
    known = wave = {game.goal}
    for count in profile[:6]:
        assert len(wave) == count
        wave = {game.do_move(position, move) for position in wave for move in game.generate_moves(position)} - known
        known = known | wave


@pytest.mark.long
def test_two_faces_make_as_many_positions_as_the_group_has_elements(tmp_path):
    """29,160 = 5! · 3^5: two faces turn six corners, and by an outer automorphism only 120 ways to place them occur
    (D. Joyner, Adventures in Group Theory)."""
    assert DatabaseFile(solve(PocketCube(faces=2), tmp_path / "game.h5")).positions == 29_160


def test_a_turn_four_times_and_a_move_six_times_change_nothing():
    """Each face has order four, and R U R' U' order six on corners (as on the whole cube)."""
    game = PocketCube()
    for face in range(3):
        assert game.turned(game.goal, face, 4) == game.goal
        assert game.turned(game.goal, face, 2) != game.goal
    position = game.goal
    for times in range(1, 7):
        for move in (3, 0, 5, 2):
            position = game.do_move(position, move)
        assert (position == game.goal) == (times == 6)


# Kalah


def best_difference(game):
    """Return by how many seeds who begins wins, by trying all."""

    @cache
    def best(position):
        turn = game.turn(position)
        if game.primitive(position) != UNDECIDED:
            return game.payoff(position, turn) - game.payoff(position, 1 - turn)
        found = []
        for pit in game.generate_moves(position):
            child = game.do_move(position, pit)
            found.append(best(child) if game.turn(child) == turn else -best(child))
        return max(found)

    return best(game.start)


def test_six_pits_of_one_seed_are_won_by_two(tmp_path):
    """Irving, Donkers and Uiterwijk (2000), table 2."""
    assert best_difference(Kalah(6, 1)) == 2
    assert DatabaseFile(solve(Kalah(6, 1), tmp_path / "game.h5")).start_outcome.value == WIN


@pytest.mark.slow
def test_four_pits_of_three_seeds_are_won(tmp_path):
    """Irving, Donkers and Uiterwijk (2000), table 2: by 8 seeds."""
    assert DatabaseFile(solve(Kalah(4, 3), tmp_path / "game.h5")).start_outcome.value == WIN


@pytest.mark.parametrize("pits", [1, 2, 3])
@pytest.mark.parametrize("empty", [True, False])
def test_who_is_ahead_by_seeds_has_won(pits, empty, tmp_path):
    for seeds in (1, 2, 3) if pits < 3 else (1, 2):
        game = Kalah(pits, seeds, empty)
        ahead = best_difference(game)
        value = DatabaseFile(solve(game, tmp_path / f"{seeds}.h5")).start_outcome.value
        assert value == (WIN if ahead > 0 else LOSE if ahead < 0 else TIE)


def after(game, text, pit):
    position = game.read(text)
    return game.write(game.do_move(position, game.move(position, pit)))


def test_sowing_by_the_rules():
    game = Kalah(4, 2)
    assert after(game, "2,2,2,2,0/2,2,2,2,0/S", "3") == "2,2,0,3,1/2,2,2,2,0/S", "the last seed in the store: once more"
    assert after(game, "2,2,2,2,0/2,2,2,2,0/S", "4") == "2,2,2,0,1/3,2,2,2,0/N", "on into the other's row"
    assert after(game, "2,2,2,0,1/3,2,2,2,0/N", "3") == "2,2,2,0,1/3,2,0,3,1/N", "North does the same"
    assert after(game, "1,0,2,2,3/2,2,4,0,0/S", "1") == "0,0,2,2,8/2,2,0,0,0/N", "an empty pit: both are taken"
    assert after(game, "1,0,2,2,3/2,2,0,4,0/S", "1") == "0,0,2,2,4/2,2,0,4,0/N", "though there be none opposite"
    assert after(Kalah(4, 2, False), "1,0,2,2,3/2,2,0,4,0/S", "1") == "0,1,2,2,3/2,2,0,4,0/N", "or not"
    assert after(game, "0,0,0,8,2/1,1,1,1,2/S", "4") == "1,1,0,0,6/2,0,2,2,2/N", "round the board, past the other store"
    assert after(game, "0,0,0,9,1/1,1,1,1,2/S", "4") == "1,1,1,0,5/0,2,2,2,2/N", "and into the pit it began in"


def test_what_is_left_is_the_others():
    game = Kalah(4, 2)
    over = game.read("0,0,0,0,7/1,0,2,0,6/S")
    assert game.primitive(over) == LOSE
    assert [game.payoff(over, player) for player in (0, 1)] == [7, 9]
    assert game.primitive(game.read("0,0,0,0,8/1,0,2,0,5/S")) == TIE
    assert game.primitive(game.read("0,0,0,0,9/1,0,2,0,4/S")) == WIN
