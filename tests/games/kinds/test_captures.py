"""Men that take others by one step or several, in alquerque, a game of a few lines: held against the rules written down
with sets of points and by recursion."""

import pytest

from retrograde.games import RuleError
from retrograde.games.kinds.captures import Captures
from retrograde.games.kinds.placed import placements
from retrograde.games.kinds.points import DIRECTIONS, alquerque, ways
from retrograde.solver.conformance.check import check


class Alquerque(Captures):
    """Leap over the other's men, which takes them; whoever cannot move has lost."""

    bits = to_move = "XO"
    board = alquerque(3, 3, {"X": "black disc", "O": "white disc"})
    leaps = ways(alquerque(3, 3), 2)
    ways = ways(alquerque(3, 3))
    placements = placements(
        9, [(8 - x - o, (x, o)) for x in range(5) for o in range(5)], alquerque(3, 3).symmetries, swap=(1, 0)
    )
    start = 0b111_100_000 | 0b000_001_111 << 9
    steps = 16

    def target(self, point, step):
        return self.leaps[point][step & 7] if step >= 8 else self.ways[point][step]

    def taken(self, theirs, point, step):
        return theirs & 1 << self.ways[point][step & 7] if step >= 8 else 0

    def plain(self, step):
        return step < 8


class Tired(Alquerque):
    """A man takes two at most, and never goes where it was."""

    def goes_on(self, path, step, to, been):
        return path < 1 << 10 and not been >> to & 1


class Kind(Alquerque):
    """Nobody must take."""

    def generate_moves(self, position):
        for path in self.captures(position):
            yield path
        for path in self.plain_steps(position):
            yield path


# The same by points as places on a board


def points_of(bits):
    return frozenset((point % 3, point // 3) for point in range(9) if bits >> point & 1)


def further(point, direction, steps):
    """Return the point so many steps from another one along a line, or none."""
    (x, y), (right, down) = point, direction
    to = x + steps * right, y + steps * down
    cornerwise = right != 0 and down != 0
    return to if min(to) >= 0 and max(to) < 3 and not (cornerwise and (x + y) % 2) else None


def leaps(mine, theirs, man):
    """Yield all ways in which a man can go on taking, as the points to which it comes and whom it leaves."""
    for direction in DIRECTIONS:
        over, to = further(man, direction, 1), further(man, direction, 2)
        if over in theirs and to and to not in mine | theirs:
            yield (to,), theirs - {over}
            for more, left in leaps(mine, theirs - {over}, to):
                yield (to, *more), left


def moves(mine, theirs):
    """Return all ways to take and all plain steps, each as the points of a man and both players' men afterwards."""
    taking = {
        (man, *way): (mine - {man} | {way[-1]}, left) for man in mine for way, left in leaps(mine - {man}, theirs, man)
    }
    steps = ((man, further(man, direction, 1)) for man in mine for direction in DIRECTIONS)
    plain = {(man, to): (mine - {man} | {to}, theirs) for man, to in steps if to and to not in mine | theirs}
    return taking, plain


def found(game, position):
    """Return the moves that a game has, in the same way."""
    result = {}
    for path in game.generate_moves(position):
        child = game.do_move(position, path)
        assert child >> 18 == 1 - (position >> 18)
        way = tuple((point % 3, point // 3) for point in game.draw_move(position, path))
        assert way not in result
        result[way] = tuple(map(points_of, game.sides(child)))[::-1]
    return result


def positions(game):
    """Yield positions of many kinds, with either player to move."""
    for tier in game.tiers:
        for slot in range(0, game.size(tier), 5):
            position = game.unindex(tier, slot)
            if position >= 0:
                yield from list(game.images(position))[:2]


def test_moves_are_those_of_the_rules_with_sets_of_points():
    longest = 0
    for position in positions(Alquerque()):
        taking, plain = moves(*map(points_of, Alquerque().sides(position)))
        assert found(Alquerque(), position) == (taking or plain)
        assert found(Kind(), position) == taking | plain
        short = {way: after for way, after in taking.items() if len(way) <= 3 and len({*way}) == len(way)}
        assert found(Tired(), position) == (short or plain)
        longest = max(longest, *map(len, taking), 0)
    assert longest >= 4


def test_men_in_a_row_are_found_in_each_direction():
    game = Alquerque()
    assert game.row(0b111_111_111, 3, DIRECTIONS.index((1, 0))) == 0b000_111_000
    assert game.row(0b111_011_111, 2, DIRECTIONS.index((0, 1))) == 0b000_000_100
    assert game.row(0b111_111_111, 0, DIRECTIONS.index((1, 1))) == 0b100_010_001
    assert game.row(0b111_111_111, 1, DIRECTIONS.index((1, 1))) == 0b000_000_010
    assert game.row(0b111_111_111, -1, 0) == 0


def test_a_move_is_named_and_drawn_by_its_points():
    game = Alquerque()
    position = game.read("XO./.O./.../X")
    names = {game.move_name(position, path): game.draw_steps(position, path) for path in game.generate_moves(position)}
    assert names["a1-c1"] == ((0,), (2,))
    assert names["a1-c3"] == ((0,), (8,))


@pytest.mark.thorough
def test_it_keeps_the_contract():
    report = check(Alquerque(), compiled=False)
    assert report.ok, report.findings


def test_what_moves_have_no_room_for_is_refused():
    """A side of fifteen men might lose them all in a turn, by more steps than a move can say."""

    class Large(Alquerque):
        placements = placements(30, [(0, (15, 15))], swap=(1, 0))

    class Wide(Alquerque):
        steps = 17

    with pytest.raises(RuleError, match="Large has 30 points, 16 steps and 15 men; moves of Captures have room for 32"):
        _ = Large().tiers
    with pytest.raises(RuleError, match="Wide has 9 points, 17 steps and 4 men"):
        _ = Wide().tiers
