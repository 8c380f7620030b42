"""Rubik's cube: against a cube of stickers in space, published counts, and shortest solutions by brute force."""

from random import Random

import numpy as np
import pytest

from retrograde.databases.location import database_path
from retrograde.games import WIN
from retrograde.games.catalog import VariantError, load_game, variant
from retrograde.games.cube import FACES, HOME, MOST_POSITIONS, TURNS, CubePart
from retrograde.games.pocketcube import PocketCube
from retrograde.games.wide.cube import Cube
from retrograde.solver.conformance.check import check
from retrograde.solver.engine import solve
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.search.patterns import least_plies
from retrograde.solver.search.probing.patterns import find_patterns
from retrograde.solver.search.puzzles import PuzzleSearch
from tests.helpers.solving import counts

LATE = 600
"""Seconds of a check, more than it takes."""
CUBE = Cube()
AXES = {"R": (1, 0, 0), "L": (-1, 0, 0), "U": (0, 1, 0), "D": (0, -1, 0), "F": (0, 0, 1), "B": (0, 0, -1)}
"""Where the faces look: x is right, y up, z to the front."""


def quarter_turn(face, point):
    """Return where a quarter turn clockwise, seen from outside, takes a point: p becomes (p · a) a - a × p."""
    a, p = AXES[face], point
    along = sum(x * y for x, y in zip(a, p, strict=True))
    cross = (a[1] * p[2] - a[2] * p[1], a[2] * p[0] - a[0] * p[2], a[0] * p[1] - a[1] * p[0])
    return tuple(along * x - c for x, c in zip(a, cross, strict=True))


def stickers():
    """Return (place of the cubie, direction) for each sticker in the order of the text, from the net folded up."""
    rows = {  # the directions in which columns and rows of each face count
        "U": ("R", "F"), "R": ("B", "D"), "F": ("R", "D"), "D": ("R", "B"), "L": ("F", "D"), "B": ("L", "D"),
    }  # fmt: skip
    found = []
    for face in FACES:
        across, down = (AXES[other] for other in rows[face])
        for y in (-1, 0, 1):
            for x in (-1, 0, 1):
                found.append(
                    (tuple(n + x * a + y * d for n, a, d in zip(AXES[face], across, down, strict=True)), AXES[face])
                )
    return found


SPACE = stickers()


def turned(text, turn):
    """Return the 54 stickers after a turn, each carried through space."""
    face, times = turn[0], {"": 1, "2": 2, "'": 3}[turn[1:]]
    for _ in range(times):
        signs = dict(zip(SPACE, text, strict=True))
        after = dict(signs)
        for (place, looks), sign in signs.items():
            if sum(x * y for x, y in zip(place, AXES[face], strict=True)) == 1:
                after[quarter_turn(face, place), quarter_turn(face, looks)] = sign
        text = "".join(after[sticker] for sticker in SPACE)
    return text


def scrambled(game, turns, seed):
    chance, position = Random(seed), game.goal
    for _ in range(turns):
        position = game.do_move(position, chance.randrange(len(TURNS)))
        yield position


@pytest.mark.parametrize("only", ["all", "corners", "URF-DLF-UR-FL-BR"])
def test_turns_move_stickers_as_a_cube_in_space_does(only):
    game, chance = load_game(f"cube:{only}"), Random(3)
    position, text = game.goal, game.write(game.goal)
    assert only != "all" or text == "".join(9 * face for face in FACES)
    for _ in range(60):
        move = chance.randrange(18)
        position, text = game.do_move(position, move), turned(text, TURNS[move])
        assert game.write(position) == text
        assert game.read(text) == position


def test_sequences_of_turns_have_their_known_orders():
    """R U R' U' has order 6, R U order 105, R U2 D' B D' order 1260, the most that any has
    (D. Joyner, Adventures in Group Theory)."""
    for turns, order in (("R U R' U'", 6), ("R U", 105), ("R U2 D' B D'", 1260)):
        position, times = CUBE.read(turns), 1
        moves = [TURNS.index(turn) for turn in turns.split()]
        while position != CUBE.goal:
            for move in moves:
                position = CUBE.do_move(position, move)
            times += 1
        assert times == order


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("R U3", "'U3' is no turn"),
        ("x" * 54, "centres"),
        ("UUUUUUUUURRRRRRRRRFFFFFFFFFDDDDDDDDDLLLLLLLLLBBBBBBBBU", "no cubie has the stickers"),
        ("UUUUUUUUU.........FFFFFFFFFDDDDDDDDDLLLLLLLLLBBBBBBBBB", "centres"),
    ],
)
def test_texts_that_are_no_position_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        CUBE.read(text)


def test_cubes_that_no_turns_solve_are_refused():
    corners, edges = HOME
    twisted, flipped = (corners + 1, edges), (corners, edges ^ 1)
    exchanged = corners, edges & ~1023 | 2  # edge 1 in place 0, edge 0 in place 1
    twice = corners, edges & ~31 | 2
    for position, what in ((twisted, "twisted"), (flipped, "flipped"), (exchanged, "exchanged"), (twice, "once")):
        with pytest.raises(ValueError, match=what):
            CUBE.read(CUBE.write(position))


@pytest.mark.parametrize("only", ["corners", "URF-UFL-ULB-UBR-DFR-DLF-DBL", "UR-UF-UL-UB-FR-FL", "URF-UR", "BR"])
def test_each_position_of_a_part_has_a_number_of_its_own(only):
    game, chance = CubePart(only), Random(1)
    size = game.size(0)
    for number in [0, size - 1, *(chance.randrange(size) for _ in range(100))]:
        assert game.index(game.unindex(0, number)) == number
    for position in scrambled(game, 100, 2):
        assert game.unindex(0, game.index(position)) == position


def test_parts_have_as_many_positions_as_published():
    """88,179,840 and 42,577,920: R. E. Korf, 1997 (Optimal Solutions to Rubik's Cube)."""
    assert CubePart("corners").size(0) == MOST_POSITIONS == 88_179_840
    assert CubePart("UR-UF-UL-UB-FR-FL").size(0) == 42_577_920


@pytest.mark.parametrize("only", ["", "UFR", "UF-UR", "UR-UR", "UR-UF-UL-UB-DR-DF-DL", "allcorners"])
def test_parts_that_do_not_exist_or_are_too_large_are_refused(only):
    with pytest.raises(VariantError, match=r"write corners|name at most"):
        load_game(f"cube:only={only}")


# The search


class CubeOfSmallParts(Cube):
    """The cube with parts of three cubies, solved in moments."""

    @property
    def abstractions(self):
        edges = CubePart("UR-UF-FL")
        return CubePart("URF-UFL-DRB"), edges, edges


def few_turns(game, most):
    """Return the distances of all positions at most so many turns from the solved cube."""
    known, wave = {game.goal: 0}, [game.goal]
    for turns in range(1, most + 1):
        children = {game.do_move(position, move) for position in wave for move in game.generate_moves(position)}
        wave = [*(children - known.keys())]
        known |= dict.fromkeys(wave, turns)
    return known


def test_the_first_turns_lead_to_as_many_positions_as_published():
    """https://oeis.org/A080601 for the cube, A080629 for its corners."""
    counts = {"cube": [1, 18, 243, 3240], "cube:corners": [1, 18, 243, 2874]}
    for name, expected in counts.items():
        found = [*few_turns(load_game(name), 3).values()]
        assert [found.count(turns) for turns in range(4)] == expected


def test_the_third_part_is_the_second_of_the_cube_turned_over():
    """Turning the whole cube over takes U to D and F to B, and stickers to the place of the sticker opposite."""
    over = str.maketrans("UDFB", "DUBF")
    place_over = {sticker: place for place, sticker in enumerate(SPACE)}
    for position in scrambled(CUBE, 50, 5):
        text = CUBE.write(position).translate(over)
        rotated = [((x, -y, -z), (a, -b, -c)) for (x, y, z), (a, b, c) in SPACE]
        other = CUBE.read("".join(text[place_over[sticker]] for sticker in rotated))
        assert CUBE.abstracted(position, 2) == CUBE.abstracted(other, 1)


@pytest.mark.long
def test_distances_are_compared_where_a_turn_moves_several_parts():
    """Were they added, `check` would say so; and so it would if a part did not move as the cube does."""
    report = check(CUBE, limit=15, compiled=False, seconds=LATE)
    assert report.checks["abstracted"] and not report.findings

    class Added(Cube):
        abstractions_add = True

    class Crooked(Cube):
        def abstracted(self, position, number):
            return super().abstracted(self.do_move(position, position[0] % 18), number)

    for game, what in ((Added(), "do not add up"), (Crooked(), "no move leads there")):
        (finding,) = check(game, limit=15, compiled=False, seconds=LATE).findings
        assert finding.rule == "abstracted" and what in finding.complaint


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    for part in CubeOfSmallParts().abstractions[:2]:
        solve(part, database_path(variant(part), folder))
    return folder


@pytest.mark.thorough
def test_solutions_are_as_short_as_brute_force_finds(home, monkeypatch):
    """Brute force meets in the middle: three turns from the solved cube, and two from the scramble."""
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    game, near = CubeOfSmallParts(), few_turns(CUBE, 3)
    patterns = find_patterns(game)
    assert patterns.are_numbered and not patterns.add
    rules, search, lengths, positive = rules_for(game), PuzzleSearch(game, 1 << 24, patterns), set(), 0
    for position, turns in near.items():
        if turns:
            bound = least_plies(rules, position, patterns)
            assert bound <= turns
            positive += bound == turns
    assert positive > 300
    for seed in range(12):
        *_, position = scrambled(game, 5, seed)
        if position == game.goal:
            continue
        wave, shortest = {position}, near.get(position, 9)
        for turns in (1, 2):
            wave = {game.do_move(one, move) for one in wave for move in range(18)}
            shortest = min([shortest, *(turns + near[one] for one in wave if one in near)])
        found, line = search.find(position)
        assert found.remoteness == len(line) == shortest <= 5
        for move in line:
            position = game.do_move(position, move)
        assert position == game.goal
        lengths.add(shortest)
    assert {4, 5} <= lengths


@pytest.mark.thorough
@pytest.mark.parametrize(("turns", "least"), [("U2 D2 R2 L2 F2 B2", 6), ("U D' R L' F B' U D'", 8)])
def test_patterns_take_as_many_turns_as_published(turns, least, home, monkeypatch):
    """Pons Asinorum and the six dots, which M. Reid's list of patterns has as shortest in face turns."""
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    game = CubeOfSmallParts()
    position = game.read(turns)
    found, line = PuzzleSearch(game, 1 << 24, find_patterns(game)).find(position)
    assert found.remoteness == len(line) == least
    for move in line:
        position = game.do_move(position, move)
    assert position == game.goal


def permutations():
    """Return, for each turn, the sticker that comes to each place. Each sticker is turned by itself."""
    marks = "".join(chr(ord("A") + number) for number in range(len(SPACE)))
    return np.array([[ord(mark) - ord("A") for mark in turned(marks, turn)] for turn in TURNS])


class Stickers:
    """Breadth-first search from a cube of 54 stickers, with each of which goes a random number of 64 bits.

    Two cubes are equal if sums over their stickers are, but for chance: such an error would show as a solution that is
    too short.
    """

    turns = permutations()
    weights = np.random.default_rng(1).integers(1 << 63, size=(54, 6), dtype=np.uint64)

    def __init__(self, text, most):
        self.wave = np.array([[FACES.index(sign) for sign in text]], np.uint8)
        self.keys = [self.keys_of(self.wave)]
        """The sorted keys of the cubes that so many turns lead to."""
        for _ in range(most):
            children = np.concatenate([self.wave[:, turn] for turn in self.turns])
            keys, first = np.unique(self.keys_of(children), return_index=True)
            new = ~np.isin(keys, np.concatenate(self.keys[-2:]))
            self.wave = children[first[new]]
            self.keys.append(keys[new])

    def keys_of(self, cubes):
        """Return the sum of the numbers of each cube's stickers."""
        keys = np.zeros(len(cubes), np.uint64)
        for place in range(54):
            keys += self.weights[place][cubes[:, place]]
        return keys

    def distance(self, other):
        """Return the turns from one cube to the other, if the waves meet or one turn is between them; else 99."""
        for turns in range(len(self.keys) + len(other.keys) - 1):
            mine = min(turns, len(self.keys) - 1)
            if np.isin(other.keys[turns - mine], self.keys[mine]).any():
                return turns
        for turn in self.turns:
            if np.isin(self.keys_of(self.wave[:, turn]), other.keys[-1]).any():
                return len(self.keys) + len(other.keys) - 1
        return 99


def test_waves_of_stickers_are_as_large_as_published():
    """https://oeis.org/A080601"""
    assert [len(keys) for keys in Stickers(CUBE.write(CUBE.goal), 4).keys] == [1, 18, 243, 3240, 43239]


@pytest.mark.slow
def test_random_cubes_take_as_many_turns_as_waves_of_stickers_do(tmp_path, monkeypatch):
    """Waves of six turns from both sides, and one turn more, show that no solution of 13 turns or fewer was missed."""
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    for part in CUBE.abstractions[:2]:
        solve(part, database_path(variant(part), tmp_path))
    search, goal = PuzzleSearch(CUBE, 1 << 28, find_patterns(CUBE)), Stickers(CUBE.write(CUBE.goal), 6)
    check_shortest(search, goal, 6, {8: 1, 10: 2, 12: 3, 13: 4, 14: 5})


def check_shortest(search, goal, most, seeds):
    """Check that solutions of scrambles, by turns and seed, are solutions and that there are no shorter ones."""
    for turns, seed in seeds.items():
        *_, position = scrambled(CUBE, turns, seed)
        found, line = search.find(position)
        text = CUBE.write(position)
        shortest = goal.distance(Stickers(text, most))
        for move in line:
            text = turned(text, TURNS[move])
        assert text == CUBE.write(CUBE.goal) and found.remoteness == len(line) <= turns
        assert len(line) == shortest or len(line) > 2 * most + 1 < shortest


@pytest.mark.thorough
def test_cubes_of_few_turns_take_as_many_as_waves_of_stickers_do(home, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    game = CubeOfSmallParts()
    search, goal = PuzzleSearch(game, 1 << 24, find_patterns(game)), Stickers(CUBE.write(CUBE.goal), 3)
    check_shortest(search, goal, 3, {5: 1, 6: 2, 7: 3, 8: 4})


CORNERS = [1, 18, 243, 2874, 28000, 205416, 1168516, 5402628, 20776176, 45391616, 15139616, 64736]
"""Corners by turns to the solved cube, of 88,179,840: https://oeis.org/A080629"""


@pytest.mark.slow
def test_corners_take_as_many_turns_as_published(tmp_path):
    found = counts(solve(CubePart("corners"), tmp_path / "game.h5"))
    assert found == {(WIN, turns): count for turns, count in enumerate(CORNERS)}


def test_corners_move_as_those_of_the_pocket_cube():
    """Turns of U, R and F leave the corner DBL as it is, which the pocket cube holds still."""
    pocket, game = PocketCube(), CubePart("corners")
    position, small = game.goal, pocket.goal
    chance = Random(8)
    for _ in range(300):
        move = chance.randrange(9)
        position, small = game.do_move(position, move), pocket.do_move(small, move)
        seen = [position[0] >> 5 * place & 31 for place in (0, 1, 2, 3, 4, 5, 7)]
        names = [code // 3 - (code // 3 == 7) for code in seen]
        assert [small >> 5 * place & 31 for place in range(7)] == [
            corner | code % 3 << 3 for corner, code in zip(names, seen, strict=True)
        ]
