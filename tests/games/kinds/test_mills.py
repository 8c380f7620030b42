"""Games of mills in a few lines: held against men's morris, and against the rules written down with sets of points."""

from itertools import pairwise, product

import pytest

from retrograde.games import LOSE, UNDECIDED, RuleError
from retrograde.games.catalog import load_game
from retrograde.games.contract.drawing import grid
from retrograde.games.kinds.mills import Mills
from retrograde.solver.conformance.check import check


class OneSquare(Mills):
    """Three men's morris, all points joined to those around."""

    bits = to_move = "XO"
    men = 3
    board = grid(3, 3, {"X": "white disc", "O": "black disc"})
    lines = grid(3, 3).in_a_row(3)
    symmetries = grid(3, 3).symmetries


class Oblong(Mills):
    """Lines of three points that are mills, and others that are none: two points are in no mill."""

    bits = to_move = "XO"
    board = grid(4, 2, {"X": "white disc", "O": "black disc"})
    lines = (0, 1, 2), (4, 5, 6, 7), (0, 4), (1, 5), (2, 6), (3, 7), (2, 3), (0, 5, 2)

    men: int = 3
    flying: bool = False


def positions(game):
    """Yield the positions of all slots."""
    for tier in game.tiers:
        for position in (game.unindex(tier, slot) for slot in range(game.size(tier))):
            if position >= 0:
                yield position


def test_a_board_is_all_that_mens_morris_is_more_than_the_rules():
    game, morris = OneSquare(), load_game("morris:3")
    assert game.start == morris.start
    expected = set(positions(morris))
    assert set(positions(game)) == expected
    for position in expected:
        assert game.primitive(position) == morris.primitive(position)
        assert game.write(position) == morris.write(position)
        assert sorted(game.generate_moves(position)) == sorted(morris.generate_moves(position))
        assert set(game.parents(position)) == set(morris.parents(position))


# The rules with sets of points


def points_of(bits):
    return frozenset(point for point in range(bits.bit_length()) if bits >> point & 1)


def side_by_side(lines):
    """Return which points lie beside one another, either way."""
    found = {pair for line in lines for pair in pairwise(line)}
    return found | {pair[::-1] for pair in found}


def free_men(game, men):
    """Return the men that may be taken."""
    in_mills = {point for line in game.lines if len(line) == 3 and men >= set(line) for point in line}
    return men - in_mills or men


def moves(game, mine, theirs, hand):
    """Return what a player can do: whence, whither and what is taken, and both players' men afterwards."""
    empty = frozenset(range(8)) - mine - theirs
    flies = game.flying and len(mine) == 3
    beside = side_by_side(game.lines)
    goes = [(None, to) for to in empty] if hand else product(mine, empty)
    found = {}
    for source, to in goes:
        if hand or flies or (source, to) in beside:
            after = mine - {source} | {to}
            closed = any(to in line and after >= set(line) for line in game.lines if len(line) == 3)
            for taken in free_men(game, theirs) if closed and theirs else [None]:
                found[source, to, taken] = after, theirs - {taken}
    return found


@pytest.mark.parametrize("flying", [False, True])
def test_moves_are_those_of_the_rules_with_sets_of_points(flying):
    game = Oblong(flying=flying)
    seen = set()
    for position in positions(game):
        hands, (mine, theirs) = position >> 17, map(points_of, game.sides(position))
        hand = (hands + 1) // 2
        expected = moves(game, mine, theirs, hand) if len(mine) + hand >= 3 else {}
        assert game.primitive(position) == (UNDECIDED if expected else LOSE)
        if expected:
            found = {}
            for move in game.generate_moves(position):
                name = tuple(None if point == 8 else point for point in game.parts_of(move))
                child = game.do_move(position, move)
                assert child >> 16 == 2 * max(0, hands - 1) + 1 - (position >> 16 & 1)
                found[name] = tuple(map(points_of, game.sides(child)))[::-1]
            assert found == expected
            seen |= {(hand > 0, taken is not None) for _, _, taken in found}
    assert len(seen) == 4


def test_sections_are_all_that_play_comes_to():
    game = Oblong()
    found, left = {game.canonical(game.start)}, [game.start]
    while left:
        position = left.pop()
        if game.primitive(position) == UNDECIDED:
            new = {game.canonical(game.do_move(position, move)) for move in game.generate_moves(position)} - found
            found |= new
            left += new
    assert found <= set(positions(game))
    sections = {(position >> 17, *map(len, map(points_of, game.sides(position)))) for position in found}
    assert sections == {(one.number >> 1, *one.men) for one in game.placements.sections}


@pytest.mark.thorough
def test_they_keep_the_contract():
    for game in (OneSquare(), Oblong()):
        report = check(game, compiled=False)
        assert report.ok, report.findings


def test_a_board_without_a_line_of_three_is_refused():
    class Square(OneSquare):
        lines = grid(3, 3).in_a_row(2)

    with pytest.raises(RuleError, match="Square has no line of three points, which would be a mill"):
        list(Square().generate_moves(Square().start))


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        *(
            (
                {"lines": lines},
                r"lines is .*; it must be a tuple of lines, each a tuple of points, as \(\(0, 1, 2\), \(3",
            )
            for lines in [(), None, "abc"]
        ),
        *(
            (
                {"lines": (line, (3, 4, 5))},
                "lines has .*; a line is a tuple of two points or more, from 0 to 30, each once",
            )
            for line in [0, "abc", (0,), (0, 1, -1), (0, 1, 1), (0, 1, 31), (0.0, 1.0, 2.0)]
        ),
        (
            {"lines": ((0, 1, 2), (3, 6, 9))},
            "lines have points up to 9, and a symmetry has 9 points; both must be of one",
        ),
        *(({"men": men}, "men is .*; it must be a whole number from 3 to 4") for men in (0, -1, 5, 100, 3.0, "3")),
        ({"flying": "no"}, "flying is 'no'; it must be True or False"),
    ],
)
@pytest.mark.parametrize("table", ["start", "tiers"])
def test_what_cannot_work_is_refused_in_one_line(members, complaint, table):
    game = type("Odd", (OneSquare,), members)()
    with pytest.raises(RuleError, match=complaint) as refused:
        getattr(game, table)
    assert "\n" not in str(refused.value)
