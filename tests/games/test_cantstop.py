"""Can't Stop against published numbers, and against a slow program that knows nothing of positions as numbers."""

from functools import cache
from itertools import product

import pytest

from retrograde.games import CHANCE, LOSE, UNDECIDED, WIN
from retrograde.games.cantstop import BUST
from retrograde.games.catalog import load_game
from tests.helpers.expecting import bounds


def slow_values(columns, players, goal, sides):
    """Return what each start of a turn is worth, by (own squares, the other's): turns needed, or chances to win.

    Each value is that of its turn by the values before, again and again until none changes: the chances of a turn are
    summed over all throws of four dice, one by one.
    """
    length = dict(enumerate(columns, 2))
    empty = tuple((total, 0) for total in length)
    throws = list(product(range(1, sides + 1), repeat=4))

    def done(squares):
        return sum(count == length[total] for total, count in squares.items())

    def climbs(own, other, now, sums):
        """Return the ways to use two sums: as many of them as can be."""

        def after(now, total):
            placed = [one for one in length if now[one] != own[one]]
            blocked = now[total] == length[total] or other[total] == length[total]
            return None if blocked or (total not in placed and len(placed) == 3) else now | {total: now[total] + 1}

        first, second = after(now, sums[0]), after(now, sums[1])
        both = first and after(first, sums[1])
        return [both] if both else [one for one in (first, second) if one]

    def turn(own, other, values):
        """Return what a turn is worth by the values there are, and the starts of turns that it may lead to."""
        own, other, met = dict(own), dict(other), set()

        def handed(squares):
            if players == 1:
                key = tuple(squares.items()), empty
                met.add(key)
                return -1 + values.get(key, 0)
            left = {total: 0 if squares[total] == length[total] else count for total, count in other.items()}
            key = tuple(left.items()), tuple(squares.items())
            met.add(key)
            return 1 - values.get(key, 0.5)

        @cache
        def decided(now):
            squares = dict(now)
            if done(squares) >= goal:
                return -1 if players == 1 else 1
            return max(handed(squares), rolled(now))

        @cache
        def rolled(now):
            total = 0
            for a, b, c, d in throws:
                pairings = (a + b, c + d), (a + c, b + d), (a + d, b + c)
                ways = [way for sums in pairings for way in climbs(own, other, dict(now), sums)]
                total += max(decided(tuple(way.items())) for way in ways) if ways else handed(own)
            return total / len(throws)

        return rolled(tuple(own.items())), met

    values = {(empty, empty): 0.0}
    change = 1.0
    while change > 1e-13:
        change, found = 0.0, set()
        for key in reversed(list(values)):
            worth, met = turn(*key, values)
            found |= met
            change = max(change, abs(worth - values[key]))
            values[key] = worth
        for key in found - values.keys():
            values[key], change = 0.0, 1.0
    return values


@pytest.mark.long
@pytest.mark.parametrize("text", ["cantstop", pytest.param("cantstop:2,1,2,2", marks=pytest.mark.slow)])
def test_every_turn_is_worth_what_the_slow_program_says(text):
    game = load_game(text)
    exact = slow_values(game.columns, game.players, game.goal, game.sides)
    found = bounds(game)
    seen = 0
    for (own, other), worth in exact.items():
        rows = [".".join(str(count) for _, count in squares) for squares in (own, other)]
        written = "/".join([*rows[: game.players], rows[0]])
        low, high = found[game.canonical(game.read(f"{written} 0 ?"))]
        expected = worth if game.players == 1 else 2 * worth - 1
        assert float(low) - 1e-11 < expected < float(high) + 1e-11, written
        seen += 1
    assert seen == len(exact) > 3


@pytest.mark.slow
@pytest.mark.parametrize(("text", "turns"), [("cantstop", 1.298), ("cantstop:2,2", 1.347), ("cantstop:2,3", 1.400),
                                             ("cantstop:3,1", 1.480), ("cantstop:3,2", 1.722)])  # fmt: skip
def test_so_many_turns_are_needed_alone_as_published(text, turns):
    """J. Glenn, H. Fang and C. P. Kruskal, A retrograde approximation algorithm for one-player Can't Stop (2007).

    The numbers are quoted from memory: they have not been held against the paper.
    """
    game = load_game(text)
    low, high = bounds(game)[game.canonical(game.start)]
    assert high - low < 1e-9
    assert round(-float(low), 3) == turns


def moves(game, text):
    position = game.read(text)
    return {game.move_name(position, move) for move in game.generate_moves(position)}


def test_sums_are_used_by_the_rules():
    game = load_game("cantstop:3,2")
    assert game.columns == (2, 4, 6, 4, 2)
    assert moves(game, "0.0.0.0.0/0.0.0.0.0 0 1223") == {"3+5", "4+4"}, "of the three pairings two are the same"
    assert moves(game, "0.0.0.0.0/1.1.0.0.0 0 2233") == {"4", "6", "5+5"}, "one marker: either of two sums"
    assert moves(game, "0.0.0.0.0/1.1.1.0.0 0 2333") == {"bust"}, "no marker, and sums 5 and 6"
    assert moves(game, "0.0.0.0.0/1.1.1.0.0 0 1333") == {"4"}, "and 4 is climbed already"
    assert moves(game, "1.0.0.0.0/2.0.0.0.0 0 1111") == {"bust"}, "the column is completed"
    assert moves(game, "0.0.0.0.0/1.0.0.0.0 0 1111") == {"2"}, "once, for there is a single square left"
    assert moves(game, "0.0.0.0.0/1.0.0.0.0 0") == {"stop", "roll"}
    two = load_game("cantstop:3,2,3,2")
    assert moves(two, "0.0.0.0.0/2.0.0.0.0/0.0.0.0.0 0 1111") == {"bust"}, "the other has completed it"
    kept = two.do_move(two.read("0.0.0.0.0/1.3.0.0.0/2.1.0.0.0 0"), 0)
    assert two.write(kept) == "2.1.0.0.0/0.3.0.0.0/0.3.0.0.0 1 ?", "what the other had in a completed column is gone"
    lost = two.do_move(two.read("0.0.0.0.0/1.3.0.0.0/1.1.1.0.0 0 3333"), BUST)
    assert two.write(lost) == "0.0.0.0.0/1.3.0.0.0/1.3.0.0.0 1 ?"


def test_whoever_completes_the_columns_wins_at_once():
    game = load_game("cantstop:2,1,2,2")
    over = game.read("1.0.0/0.0.0/1.0.1 0")
    assert game.primitive(over) == WIN and game.payoff(over, 0) == 1 and game.payoff(over, 1) == 0
    assert game.primitive(game.read("1.0.0/0.0.0/1.1.0 0")) == UNDECIDED
    assert game.turn(game.start) == CHANCE and game.primitive(game.start) not in (WIN, LOSE)


@pytest.mark.parametrize("text", ["cantstop", "cantstop:3,1,3,2", "cantstop:4,1"])
def test_positions_are_read_as_they_are_written_and_mirrors_are_mirrors(text):
    game = load_game(text)
    position = game.start
    for step in range(200):
        if game.primitive(position) != UNDECIDED:
            break
        assert game.read(game.write(position)) == position
        (image,) = game.images(position)
        assert list(game.images(image)) == [position]
        options = list(game.generate_moves(position))
        assert len(list(game.generate_moves(image))) == len(options)
        assert len({game.move_name(position, move) for move in options}) == len(options)
        after = game.do_move(position, options[step * 7 % len(options)])
        assert game.tier(after) >= game.tier(position) == game.tier(image)
        position = after
    else:
        raise AssertionError("it never ended")
    for wrong in ("", "0.0 0", "x", "9.9.9/9.9.9 0", game.write(game.start).replace("?", "9999")):
        with pytest.raises(ValueError, match=r"position is|number below|squares|dice|unpack"):
            game.read(wrong)


@pytest.mark.parametrize("text", ["cantstop:1", "cantstop:7", "cantstop:6,3,3,2", "cantstop:2,0", "cantstop:2,1,4",
                                  "cantstop:2,1,3,3", "cantstop:2,1,3,2"])  # fmt: skip
def test_options_that_make_no_game_are_refused(text):
    with pytest.raises(ValueError, match=r"must be|too many"):
        load_game(text)
