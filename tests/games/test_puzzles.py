"""Games of one player, and Kalah: published numbers, and slow and obvious ways to the same."""

from collections import Counter
from functools import cache
from itertools import combinations
from random import Random

import pytest

from retrograde.databases import DatabaseFile, OtherRules, open_database
from retrograde.games import LOSE, TIE, UNDECIDED, WIN, VariantError
from retrograde.games.catalog import load_game
from retrograde.games.eightpuzzle import EightPuzzle
from retrograde.games.hanoi import Hanoi
from retrograde.games.kalah import Kalah
from retrograde.games.klotski import Klotski
from retrograde.games.lightsout import LightsOut
from retrograde.games.pegsolitaire import PegSolitaire
from retrograde.games.pocketcube import PocketCube
from retrograde.solver.engine import solve
from tests.helpers import turning
from tests.helpers.command_line import retrograde
from tests.helpers.forge import Forged
from tests.helpers.marks import thorough
from tests.helpers.solving import counts, outcomes

SMALL = ["eightpuzzle:3,2", "eightpuzzle:2,3", "hanoi:4", "hanoi:3,4", "lightsout:3,3", "lightsout:2,3",
         "pegsolitaire:4,4", "pegsolitaire:4,4,yes", "pegsolitaire:4,1,yes", "klotski:.BB.-VBBV-VSSV",
         "klotski:SBBS-.BB.-HH.S,yes,4", "kalah:3,1", "kalah:2,2,yes,no", "kalah:3,1,no",
         "guarini:3,2,1", "rivercrossing:2"]  # fmt: skip
COMPILED = {"eightpuzzle:3,2", "hanoi:3,4", "lightsout:3,3", "pegsolitaire:4,4,yes", "klotski:SBBS-.BB.-HH.S,yes,4",
            "kalah:3,1,no"}  # fmt: skip
"""One of each game, that with most options: machine code of the others takes half a minute."""
RUSH_HOUR = "IBBxooIooLDDJAALooJoKEEMFFKooMGGHHHM"
WAYS = [
    pytest.param(variant, way, marks=[pytest.mark.slow] if way == "compiled" and variant not in COMPILED else [])
    for variant in SMALL
    for way in ("interpreted", "compiled")
]


def solved_in(path) -> list[int]:
    """Return how many positions of a puzzle are solved in so many moves, 0, 1, …; all must be solved."""
    found = counts(path)
    assert {value for value, _ in found} == {WIN}
    return [found[WIN, moves] for moves in range(len(found))]


@pytest.mark.thorough
@pytest.mark.parametrize(("variant", "way"), WAYS)
@pytest.mark.long
def test_every_position_is_worth_what_the_slow_solver_says(variant, way, tmp_path):
    game = load_game(variant)
    path = solve(game, tmp_path / "game.h5", method=way)
    assert outcomes(path, game) == turning.solve(game, symmetric=True)


@pytest.mark.parametrize("game", [load_game(variant) for variant in SMALL], ids=SMALL)
def test_read_undoes_write_and_moves_have_names(game):
    for position in list(turning.solve(game))[:200]:
        assert game.read(game.write(position)) == position
        if game.primitive(position) == UNDECIDED:
            names = [game.move_name(position, move) for move in game.generate_moves(position)]
            assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "text",
    ["eightpuzzle:1,3", "eightpuzzle:5,5", "hanoi:0", "hanoi:3,5", "lightsout:8,8", "pegsolitaire:9",
     "pegsolitaire:5,15", "pegsolitaire:5,0,no,yes", "pegsolitaire:hole=-2", "pocketcube:no,4", "kalah:9", "kalah:6,5",
     "kalah:3,0", "klotski:S..S", "klotski:SBB-.BBS", "klotski:HBB-.BB", "klotski:BBS-BBS", "klotski:goal=19",
     "guarini:3,3,4", "rivercrossing:0"],
)  # fmt: skip
def test_options_that_make_no_game_are_refused(text):
    with pytest.raises(VariantError):
        load_game(text)


@pytest.mark.parametrize(
    ("variant", "moves"),
    [
        # P. Guarini, 1512, and the six knights on twelve cells: M. Gardner, Aha! Insight, 1978
        ("guarini", 16), thorough(("guarini:3,4,3", 16)),
        # I. Pressman and D. Singmaster, "The jealous husbands" and "The missionaries and cannibals", 1989
        ("rivercrossing:2", 5), ("rivercrossing", 11), ("rivercrossing:4,3", 9), ("rivercrossing:5,3", 11),
        ("rivercrossing:6,4", 9),
    ],
)  # fmt: skip
def test_old_puzzles_take_as_many_moves_as_published(variant, moves, tmp_path):
    game = load_game(variant)
    path = solve(game, tmp_path / "game.h5")
    assert outcomes(path, game) == turning.solve(game, symmetric=True)
    with open_database(path, game=game) as database:
        assert database[game.start] == (WIN, moves)


def test_where_no_number_of_crossings_suffices_that_is_said():
    """Four pairs and a boat for two: the same source."""
    said = retrograde("solve", "rivercrossing:4,2").stdout
    assert said.startswith("rivercrossing:pairs=4: cannot be solved, and can go on for ever\n")


@pytest.mark.parametrize(
    ("layout", "moves", "reached"),
    [(RUSH_HOUR, 60, 2332), thorough(("BBoKMxDDDKMoIAALooIoJLEEooJFFNoGGoxN", 58, 9192))],
)
def test_rush_hour_takes_as_many_moves_as_published(layout, moves, reached, tmp_path):
    """The two longest puzzles of the database in https://www.michaelfogleman.com/rush/ (2018), which counts also what
    is reached by moving on from solved positions."""
    game = load_game(f"rushhour:{layout}")
    known, wave = {game.start}, [game.start]
    while wave:
        children = {game.do_move(position, move) for position in wave for move in game.generate_moves(position)}
        wave = [*(children - known)]
        known |= children
    assert len(known) == reached
    path = solve(game, tmp_path / "game.h5")
    assert outcomes(path, game) == turning.solve(game)
    with open_database(path, game=game) as database:
        assert database[game.start] == (WIN, moves)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("Loo", "ooo"), "car L must be two or three cells in a line"),
        (("AA", "oo"), "layout must have a car A"),
        (("HHHM", "MHHH"), "car M must be two or three cells in a line"),
        (("oo", "o"), "layout must be 36 cells"),
    ],
)
def test_layouts_of_rush_hour_are_understood_or_refused(change, message):
    with pytest.raises(VariantError, match=message):
        load_game("rushhour:" + RUSH_HOUR.replace(*change, 1))


@pytest.mark.parametrize(("rows", "ways"), [(1, 1), (2, 0), (3, 0), (4, 2), (5, 10), (6, 4), (7, 40), (8, 92)])
def test_queens_stand_in_as_many_ways_as_published(rows, ways, tmp_path):
    """F. Nauck, 1850; OEIS A000170. All positions of eight: D. E. Knuth, Estimating the efficiency of backtrack
    programs, 1975."""
    with open_database(solve(load_game(f"nqueens:{rows}"), tmp_path / "game.h5")) as database:
        assert sum(row.positions for row in database.file.legend if row[:2] == (WIN, 0)) == ways
        assert database[database.game.start] == ((WIN, rows) if ways else (LOSE, rows - 1))
        assert rows != 8 or database.file.positions == 2057


# The 8-puzzle


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.parametrize(("width", "height"), [(2, 2), (3, 3), (4, 3), thorough((4, 4))])
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


def test_a_database_says_the_same_of_positions_that_are_turned_and_mirrored(solved):
    """All positions that a triangle of 15 holes comes to, without a word about symmetry: a slow count by sets."""
    game = PegSolitaire()
    found = wave = {game.start}
    while wave:
        wave = {
            game.do_move(position, jump)
            for position in wave
            if game.primitive(position) == UNDECIDED
            for jump in game.generate_moves(position)
        }
        found = found | wave

    @cache
    def jumps(position):
        if game.primitive(position) != UNDECIDED:
            return 0 if game.primitive(position) == WIN else None
        ways = [jumps(game.do_move(position, jump)) for jump in game.generate_moves(position)]
        return min((way + 1 for way in ways if way is not None), default=None)

    with open_database(solved("pegsolitaire"), game=game) as database:
        assert len({game.canonical(position) for position in found}) == sum(row.stored for row in database.file.legend)
        for position in found:
            value, remoteness = database[position][:2]
            assert (remoteness if value == WIN else None) == jumps(position)


def test_the_english_board_is_the_one_known():
    """33 holes and 76 jumps (J. Beasley, The Ins and Outs of Peg Solitaire), the first into the centre one of four."""
    game = PegSolitaire(english=True)
    assert len(game.places) == 33
    assert len(game.jumps) == 76
    assert len(list(game.generate_moves(game.start))) == 4
    assert game.places[16] == (3, 3)
    assert len(set(game.images(game.start))) == 1


def test_boards_have_the_symmetries_of_their_shape():
    """A jump that is turned is a jump: of a triangle by six ways, of a cross by eight; fewer where home must stay."""
    for text, ways in (
        ("pegsolitaire", 6),
        ("pegsolitaire:8", 6),
        ("pegsolitaire:english", 8),
        ("pegsolitaire:english,home", 8),
        ("pegsolitaire:english,home,hole=1", 2),
        ("pegsolitaire:home", 2),
        ("pegsolitaire:home,hole=1", 1),
    ):
        game = load_game(text)
        assert len(set(game.symmetries)) == len(game.symmetries) == ways
        for taken in game.symmetries:
            assert {tuple(taken[hole] for hole in jump) for jump in game.jumps} == set(game.jumps)
        for position in (game.start, 0b1011, 0b111):
            holes = [hole for hole in range(len(game.places)) if position >> hole & 1]
            turned = [sum(1 << taken[hole] for hole in holes) for taken in game.symmetries[1:]]
            assert list(game.images(position)) == turned


REACHED = [
    *(1, 1, 2, 8, 39, 171, 719, 2757, 9751, 31312, 89927, 229614, 517854, 1022224, 1753737, 2598215, 3312423),
    *(3626632, 3413313, 2765623, 1930324, 1160977, 600372, 265865, 100565, 32250, 8688, 1917, 348, 50, 7, 2),
]
"""Positions of the English board after so many jumps from the start, but for symmetry: G. Bell, OEIS A112737."""

REDUCIBLE = [
    *(1, 1, 2, 8, 38, 164, 635, 2089, 6174, 16020, 35749, 68326, 112788, 162319, 204992, 230230, 230230, 204992),
    *(162319, 112788, 68326, 35749, 16020, 6174, 2089, 635, 164, 38, 8, 2, 1, 1),
]
"""Those from which a single peg in the centre can still be reached: G. Bell, OEIS A112738."""


@pytest.mark.slow
def test_the_first_jumps_on_the_english_board_lead_to_as_many_positions_as_published():
    game = PegSolitaire(english=True)
    wave = {game.start}
    for count in REACHED[:10]:
        assert len(wave) == count
        wave = {
            game.canonical(game.do_move(position, jump)) for position in wave for jump in game.generate_moves(position)
        }


@pytest.mark.slow
def test_the_english_board_has_as_many_positions_as_published(tmp_path):
    """G. Bell as above; 187,636,299 if each is counted with those that it is turned and mirrored to (K. McGrath)."""
    game = PegSolitaire(english=True, home=True)
    with open_database(solve(game, tmp_path / "game.h5"), game=game) as database:
        assert len(database) == 187_636_299
        assert sum(row.stored for row in database.file.legend) == sum(REACHED) == 23_475_688
        assert database[game.start] == (WIN, 31)
        won = {row.remoteness: row.stored for row in database.file.legend if row.value == WIN}
        assert [won[31 - jumps] for jumps in range(32)] == REDUCIBLE
        assert sum(won.values()) == 1_679_072


# Klotski


@pytest.mark.long
@pytest.mark.parametrize(
    ("moves", "least", "most"),
    [
        pytest.param(False, 116, 167, marks=pytest.mark.thorough),
        pytest.param(True, 81, 124, marks=pytest.mark.thorough),
    ],
)
def test_klotski_takes_as_many_moves_as_published(moves, least, most, solved):
    """81 moves: M. Gardner, Scientific American, February and March 1964. 116 steps, 25,955 positions, 964 of them with
    the square out, and none more than 167 steps from the start: by a slow program written for this project."""
    game = Klotski(moves=moves)
    far, wave, plies = {game.start: 0}, [game.start], 0
    while wave:
        plies += 1
        children = {game.do_move(position, move) for position in wave for move in game.generate_moves(position)}
        wave = [child for child in children if child not in far]
        far |= dict.fromkeys(wave, plies)
    ends = [position for position in far if game.primitive(position) == WIN]
    assert (len(far), len(ends)) == (25_955, 964)
    assert (min(far[position] for position in ends), max(far.values())) == (least, most)
    with open_database(solved("klotski:moves" if moves else "klotski"), game=game) as database:
        assert database[game.start] == (WIN, least)


@pytest.mark.parametrize(
    ("layout", "goal", "least"),
    [
        ("SBBS-SBBS-SSSS-SSSS-S..S", -1, 18),  # "Only 18 Steps", the first puzzle of GNOME Klotski
        ("BBHH-BBHH-SS..-VVHH-VVHH", 12, 59),  # Dad's Puzzle, or the Pennant Puzzle of L. W. Hardy (1909): Gardner
    ],
)
def test_puzzles_of_the_kind_of_klotski_take_as_many_moves_as_published(layout, goal, least):
    game = Klotski(layout, True, goal)
    wave, met = {game.start}, {game.start}
    for _ in range(least):
        assert not any(game.primitive(position) for position in wave)
        children = {game.do_move(position, move) for position in wave for move in game.generate_moves(position)}
        wave = {game.canonical(child) for child in children} - met
        met |= wave
    assert any(game.primitive(position) == WIN for position in wave)


def test_blocks_slide_by_the_rules():
    game = Klotski()
    assert game.write(game.start) == "VBBV/VBBV/VHHV/VSSV/S..S"
    assert [game.move_name(game.start, move) for move in game.generate_moves(game.start)] == [
        *("b4-b5", "c4-c5", "a5-b5", "d5-c5")
    ]
    far = Klotski(moves=True)
    assert len(list(far.generate_moves(far.start))) == 8, "to the cell beyond as well, round a corner too"
    after = game.do_move(game.start, game.move(game.start, "b4-b5"))
    assert game.write(after) == "VBBV/VBBV/VHHV/V.SV/SS.S"
    assert [game.write(image) for image in game.images(after)] == ["VBBV/VBBV/VHHV/VS.V/S.SS"]
    assert list(Klotski(goal=12).images(after)) == [], "a goal in the corner has no mirror"
    for wrong in ("VBBV", "VBBV/VBBV/VHHV/VSSV/SSSS", "VBBV/VBBV/VHHV/VSSV/S.x.", "VBBV/SBBV/VHHV/VSSV/...S"):
        with pytest.raises(ValueError, match=r"a position is|as many blocks"):
            game.read(wrong)


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


@pytest.mark.thorough
def test_two_faces_make_as_many_positions_as_the_group_has_elements(tmp_path):
    """29,160 = 5! · 3^5: two faces turn six corners, and by an outer automorphism only 120 ways to place them occur
    (D. Joyner, Adventures in Group Theory)."""
    assert DatabaseFile(solve(PocketCube(faces=2), tmp_path / "game.h5")).positions == 29_160


@pytest.mark.parametrize("faces", [2, 3])
def test_each_position_of_the_cube_has_a_number_of_its_own(faces):
    game, chance = PocketCube(faces=faces), Random(0)
    size = game.size(0)
    assert size == {2: 29_160, 3: 3_674_160}[faces]
    for number in [0, size - 1, *(chance.randrange(size) for _ in range(200))]:
        assert game.index(game.unindex(0, number)) == number
    position = game.start
    for _ in range(200):
        position = game.do_move(position, chance.choice([*game.generate_moves(position)]))
        assert game.unindex(0, game.index(position)) == position


def test_a_turn_four_times_and_a_move_six_times_change_nothing():
    """Each face has order four, and R U R' U' order six on corners (as on the whole cube)."""
    game = PocketCube()
    for face in range(3):
        quarter, half, back = range(3 * face, 3 * face + 3)
        once = game.do_move(game.start, quarter)
        assert game.do_move(once, quarter) == game.do_move(game.start, half) != game.start
        assert game.do_move(game.do_move(once, quarter), half) == game.do_move(once, back) == game.start
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


@pytest.mark.slow
def test_six_pits_of_one_seed_are_won_by_two(tmp_path):
    """Irving, Donkers and Uiterwijk (2000), table 2."""
    assert best_difference(Kalah(6, 1)) == 2
    assert DatabaseFile(solve(Kalah(6, 1), tmp_path / "game.h5")).start_outcome.value == WIN


@pytest.mark.slow
def test_four_pits_of_three_seeds_are_won_by_eight(tmp_path):
    """Irving, Donkers and Uiterwijk (2000), table 2."""
    game = Kalah(4, 3, empty=True, either=True)
    with open_database(solve(game, tmp_path / "game.h5", metric="score"), game=game) as database:
        assert database[game.start].value == WIN
        assert database.measures(game.start) == {"score": 8}


@pytest.mark.slow
def test_as_many_positions_as_others_count_where_nothing_is_taken_from_empty_pits(tmp_path):
    """5,283,478 positions of four pits of three seeds, won by 6: a strong solver of Kalah on GitHub (2026), which takes
    nothing where there is none opposite."""
    game = Kalah(4, 3, False, either=False)
    with open_database(solve(game, tmp_path / "game.h5", metric="score"), game=game) as database:
        assert len(database) == 5_283_478
        assert database.measures(game.start) == {"score": 6}


def test_two_pits_of_two_seeds_are_lost_by_two_where_nothing_is_taken_from_empty_pits():
    """40 positions: the same."""
    game = Kalah(2, 2, False, either=False)
    found, wave = {game.start}, {game.start}
    while wave:
        undecided = [position for position in wave if game.primitive(position) == UNDECIDED]
        wave = {game.do_move(position, pit) for position in undecided for pit in game.generate_moves(position)} - found
        found |= wave
    assert len(found) == 40
    assert best_difference(game) == -2


@pytest.mark.thorough
@pytest.mark.long
@pytest.mark.parametrize("options", [(2, 6, True, False), (2, 5)])
def test_scores_of_kalah_are_what_trying_all_says(options, tmp_path):
    game = Kalah(*options)
    with open_database(solve(game, tmp_path / "game.h5", metric="score"), game=game) as database:
        assert database.measures(game.start) == {"score": best_difference(game)}


@pytest.mark.thorough
@pytest.mark.parametrize("pits", [1, 2, 3])
@pytest.mark.parametrize("empty", [True, False])
def test_who_is_ahead_by_seeds_has_won(pits, empty, tmp_path):
    for seeds in (1, 2, 3) if pits < 3 else (1, 2):
        game = Kalah(pits, seeds, empty)
        ahead = best_difference(game)
        value = DatabaseFile(solve(game, tmp_path / f"{seeds}.h5")).start_outcome.value
        assert value == (WIN if ahead > 0 else LOSE if ahead < 0 else TIE)


def test_a_row_that_is_empty_ends_the_game_at_once_unless_the_option_says_otherwise():
    text = "0,0,4/1,1,2/N"  # South has no seeds left, and North is to move
    goes_on, over = Kalah(2, 2, either=False), Kalah(2, 2)
    assert goes_on.primitive(goes_on.read(text)) == UNDECIDED
    assert over.primitive(over.read(text)) == TIE and over.payoff(over.read(text), 1) == 4
    assert over.primitive(over.read("1,0,3/1,1,2/N")) == UNDECIDED


def test_a_database_of_the_old_default_is_not_taken_for_one_of_the_new(tmp_path, monkeypatch):
    """Before `either` became the default, `kalah:pits=3` was the game that goes on."""
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    path = solve(Kalah(3, 1, either=False), tmp_path / "game.h5")
    forged = Forged.read(path)
    path.unlink()
    forged.attributes |= {"variant": "kalah:pits=3,seeds=1", "rules": "05239a2e750f88a86a1589705d8dc73b"}
    with pytest.raises(OtherRules, match="made with other rules of kalah:pits=3,seeds=1; solve it again with --fresh"):
        open_database(forged.write(tmp_path / "kalah,pits=3,seeds=1.h5"))
    assert "kalah:pits=3,seeds=1" in (told := retrograde("list").stdout) and "made with other rules" in told
    assert "wins" not in told and "tie" not in told


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


@pytest.mark.parametrize("text", ["pegsolitaire", "pegsolitaire:english"])
def test_pegs_jump_over_pegs_into_holes(text):
    """Moves by two numbers of bits for each jump, against the three holes of a jump one by one."""
    game, random = load_game(text), Random(5)
    count = len(game.places)
    for position in [game.start, *(random.randrange(1, 1 << count) for _ in range(200))]:
        pegs = {hole for hole in range(count) if position >> hole & 1}
        expected = {
            move: pegs - {peg, over} | {to}
            for move, (peg, over, to) in enumerate(game.jumps)
            if peg in pegs and over in pegs and to not in pegs
        }
        assert list(game.generate_moves(position)) == list(expected)
        for move, after in expected.items():
            assert game.do_move(position, move) == sum(1 << hole for hole in after)
        assert game.tier(position) == count - len(pegs)


MICROBAN_1 = "####\n# .#\n#  ###\n#*@  #\n#  $ #\n#  ###\n####\n"


@pytest.mark.parametrize(
    ("game", "text"),
    [
        ("rushhour", f"60 {RUSH_HOUR} 2332\n58 BBoKMxDDDKMoIAALooIoJLEEooJFFNoGGoxN 9192\n"),
        ("rushhour", "# the hardest\nIBBx..\nI..LDD\nJAAL..\nJ.KEEM\nFFK..M\nGGHHHM\n"),
        ("sokoban", f"; Microban\n\nLevel 1\n{MICROBAN_1}\nTitle: none\n\n#####\n#@$.#\n#####\n"),
        ("sokoban", MICROBAN_1.replace("$", "b").replace("*", "B").replace("@", "p").replace(" ", "-")),
    ],
)
def test_layouts_are_read_from_files(game, text, tmp_path):
    path = tmp_path / "puzzle.txt"
    path.write_text(text, "utf-8")
    assert load_game(f"{game}:{path}") == load_game(f"{game}:layout={path}") == load_game(game)


def test_cells_outside_of_the_walls_of_sokoban_are_walls(tmp_path):
    path = tmp_path / "level.txt"
    path.write_text("   ####\n####  #\n#@ $ .#\n#######\n  +", "utf-8")
    assert load_game(f"sokoban:{path}").layout == "#######-####__#-#p_b_.#-#######"


@pytest.mark.parametrize(
    ("game", "text", "message"),
    [
        ("rushhour", "IBBx..\nI..LDD\n", "neither a word of 36 cells nor 6 rows of 6"),
        ("sokoban", "nothing here\n", "no line of cells with a wall, #"),
        ("sokoban", "####\n#@$#\n####\n", "a man, and a goal for each box"),
    ],
)
def test_files_without_a_layout_are_refused(game, text, message, tmp_path):
    path = tmp_path / "puzzle.txt"
    path.write_text(text, "utf-8")
    with pytest.raises(VariantError, match=message):
        load_game(f"{game}:{path}")


@pytest.mark.parametrize(
    "variant",
    [
        "sokoban:#######-#pbb..#-#######",
        "rushhour:AAxooo" + "x" * 30,
        "guarini:2,2,2",
        "bishops:2,3",
    ],
)
def test_puzzles_in_which_nothing_can_move_have_no_solution(variant):
    game = load_game(variant)
    assert game.primitive(game.start) == LOSE
    assert "there is no solution" in retrograde("search", variant).stdout
