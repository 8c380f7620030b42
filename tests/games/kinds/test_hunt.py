"""Few who hunt many, in a game of a few lines: held against the rules written down with sets of points."""

from dataclasses import replace

import pytest

from retrograde.games import LOSE, UNDECIDED, RuleError
from retrograde.games.catalog import load_game
from retrograde.games.contract.drawing import grid
from retrograde.games.kinds.hunt import Hunt
from retrograde.games.kinds.points import DIRECTIONS, alquerque, ways
from retrograde.solver.conformance.check import check


class Tigers(Hunt):
    """Two tigers on fifteen points; three goats, and tigers have won when two are taken."""

    bits, to_move = "TG", "GT"
    board = alquerque(5, 3, {"T": "darkorange disc", "G": "white disc"})
    points = alquerque(5, 3)
    lairs = 0, 14
    goats, taken = 3, 2

    placing: bool = True


def points_of(bits):
    return frozenset((point % 5, point // 5) for point in range(15) if bits >> point & 1)


EVERY = points_of((1 << 15) - 1)


def joined(one, other):
    """Tell whether two points lie beside one another on a line."""
    right, down = abs(one[0] - other[0]), abs(one[1] - other[1])
    return right + down == 1 or (right == down == 1 and sum(one) % 2 == 0)


def children(tigers, goats, turn, hand):
    """Yield all that may be after a move: tigers, goats, who is to move, and how many goats are in hand."""
    empty = EVERY - tigers - goats
    if turn == "G" and hand:
        yield from ((tigers, goats | {to}, "T", hand - 1) for to in empty)
    elif turn == "G":
        yield from ((tigers, goats - {one} | {to}, "T", 0) for one in goats for to in empty if joined(one, to))
    else:
        yield from ((tigers - {one} | {to}, goats, "G", hand) for one in tigers for to in empty if joined(one, to))
        for one in tigers:
            for over in goats:
                to = 2 * over[0] - one[0], 2 * over[1] - one[1]
                if to in empty and joined(one, over) and joined(over, to):
                    left = goats - {over}
                    ended = 3 - hand - len(left) == 2
                    yield tigers - {one} | {to}, left - goats if ended else left, "G", 0 if ended else hand


def said(game, position):
    """Return what stands on the board, who is to move, and how many goats are in hand."""
    tigers, goats, number = game.parts_of(position)
    return points_of(tigers), points_of(goats), game.draw_turn(position), number >> 1


@pytest.mark.parametrize("placing", [True, False])
def test_moves_are_those_of_the_rules_with_sets_of_points(placing):
    game, leapt = Tigers(placing=placing), 0
    for tier in game.tiers:
        for slot in range(0, game.size(tier), 17):
            position = game.unindex(tier, slot)
            if position >= 0:
                expected = set(children(*said(game, position)))
                moves = list(game.generate_moves(position))
                assert len(moves) == len(set(moves))
                assert {said(game, game.do_move(position, move)) for move in moves} == expected
                assert game.primitive(position) == (UNDECIDED if expected else LOSE)
                leapt += any(len(goats) < len(points_of(game.parts_of(position)[1])) for _, goats, _, _ in expected)
    assert leapt > 20


def test_tigers_begin_in_their_lairs_and_goats_in_hand_or_on_the_first_points():
    assert Tigers().write(Tigers().start) == "T..../...../....T/G/3"
    placed = Tigers(placing=False)
    assert placed.write(placed.start) == "TGGG./...../....T/G"


def test_points_two_steps_on_are_those_behind_the_next_ones():
    near, far = ways(alquerque(5, 3)), ways(alquerque(5, 3), 2)
    for point in range(15):
        assert far[point] == tuple(-1 if to < 0 else near[to][direction] for direction, to in enumerate(near[point]))


def test_points_of_any_board_with_lines_follow_one_another():
    """As those of men's morris, where the next point may be three away."""
    board = load_game("morris").board
    places = ways(board)[board.names.index("a1")]
    assert [board.names[to] if to >= 0 else "" for to in places] == ["", "", "", "", "d1", "", "a4", ""]


def test_a_grid_that_is_given_lines_has_ways_to_all_cells_around():
    board = replace(grid(3, 4), lines=grid(3, 4).in_a_row(2))
    number = {place: at for at, place in enumerate(board.places)}
    expected = [tuple(number.get((x + right, y + down), -1) for right, down in DIRECTIONS) for x, y in board.places]
    assert list(ways(board)) == expected


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ((), r"the board has no lines, along which ways go; give it some, as replace\("),
        (grid(3, 4).in_a_row(3), r"the board has the line \(0, 1, 2\); a line of a board is a pair of its places"),
        (((0, -1),), r"the board has the line \(0, -1\); a line"),
        (((0, 1), (3, 12)), r"the board has the line \(3, 12\); a line"),
        (((5, 5),), r"the board has the line \(5, 5\); a line"),
    ],
)
def test_a_board_along_whose_lines_nothing_goes_is_refused_in_one_line(lines, complaint):
    with pytest.raises(RuleError, match=complaint) as refused:
        ways(replace(grid(3, 4), lines=lines))
    assert "\n" not in str(refused.value)


class Cats(Tigers):
    """As many options as there may be."""

    lairs: tuple = (0, 14)
    goats: int = 3
    taken: int = 2


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        *(
            ({"lairs": lairs}, "lairs is .*; it must be a tuple of points from 0 to 14, each once")
            for lairs in [(-1, 0), (0, 15), (3, 3), (), 0, None, "ab"]
        ),
        *(({"goats": goats}, "goats is .*; it must be a whole number from 1 to 13") for goats in (-1, 0, 14, 3.0)),
        *(({"taken": taken}, "taken is .*; it must be a whole number from 1 to 3") for taken in (-1, 0, 4, "2")),
        ({"placing": "no"}, "placing is 'no'; it must be True or False"),
    ],
)
@pytest.mark.parametrize("table", ["start", "tiers"])
def test_what_cannot_work_is_refused_in_one_line(options, complaint, table):
    with pytest.raises(RuleError, match=complaint) as refused:
        getattr(Cats(**options), table)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("points", "complaint"),
    [
        (grid(5, 3), "the board has no lines, along which ways go; give it some"),
        (15, "points is 15; it must be a board with lines, as alquerque"),
        (None, "points is None; it must be a board with lines, as alquerque"),
    ],
)
def test_points_without_lines_are_refused(points, complaint):
    for table in ("start", "tiers"):
        with pytest.raises(RuleError, match=complaint):
            getattr(type("Odd", (Tigers,), {"points": points})(), table)


def test_all_points_may_have_men():
    full = Cats(goats=13, taken=13, placing=False)
    assert full.write(full.start) == "TGGGG/GGGGG/GGGGT/G"
    assert full.primitive(full.start) == LOSE


@pytest.mark.thorough
def test_it_keeps_the_contract():
    report = check(Tigers(), compiled=False)
    assert report.ok, report.findings
