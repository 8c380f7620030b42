"""Games on boards of cells, from m,n,k-games to Y: held against rules on strings, and against published results."""

from functools import cache
from math import comb

import pytest

from retrograde.databases import open_database
from retrograde.games import LOSE, TIE, UNDECIDED, WIN
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from tests.helpers.marks import thorough
from tests.helpers.reference import solve as solve_slowly
from tests.helpers.rows import BESIDE, cell, in_a_row, places, put

pytestmark = pytest.mark.long


def mnk(game, rows, player):
    if in_a_row(rows, "OX"["XO".index(player)], game.k):
        return WIN if game.misere else LOSE, []
    empty = [(x, y) for x, y in places(rows) if cell(rows, x, y) == "."]
    return UNDECIDED if empty else TIE, [put(rows, (x, y, player)) for x, y in empty]


def connects(rows, sign):
    """Return whether Red's stones connect left and right, or Blue's top and bottom, by adding neighbours."""
    size, along = len(rows), "RB".index(sign)
    near = (*BESIDE, (1, -1), (-1, 1))
    found = [place for place in places(rows) if place[along] == 0 and cell(rows, *place) == sign]
    for x, y in found:
        more = ((x + step, y + rise) for step, rise in near)
        found += [place for place in more if cell(rows, *place) == sign and place not in found]
    return any(place[along] == size - 1 for place in found)


def connecting(game, rows, player):
    if connects(rows, "BR"["RB".index(player)]):
        return LOSE, []
    return UNDECIDED, [put(rows, (x, y, player)) for x, y in places(rows) if cell(rows, x, y) == "."]


def notakto(game, rows, player):
    if in_a_row(rows, "X", game.size):
        return WIN, []
    return UNDECIDED, [put(rows, (x, y, "X")) for x, y in places(rows) if cell(rows, x, y) == "."]


def tactix(game, rows, player):
    """Every rectangle of one row or one column that is full may be taken."""
    children = {
        put(rows, *((x, y, ".") for x, y in run))
        for a, b in places(rows)
        for c, d in places(rows)
        if (a == c and b <= d) or (b == d and a < c)
        for run in [[(x, y) for x, y in places(rows) if a <= x <= c and b <= y <= d]]
        if all(cell(rows, x, y) == "O" for x, y in run)
    }
    return (UNDECIDED if children else WIN if game.misere else LOSE), [*children]


def toadsandfrogs(game, rows, player):
    """Frogs are toads in a mirror."""
    (row,), frogs = rows, player == "F"
    row = row[::-1] if frogs else row
    children = [
        row[:at] + new + row[at + len(old) :]
        for old, new in ((f"{player}.", f".{player}"), (f"{player}{'TF'[not frogs]}.", f".{'TF'[not frogs]}{player}"))
        for at in range(len(row))
        if row[at:].startswith(old)
    ]
    return (UNDECIDED if children else LOSE), [(child[::-1] if frogs else child,) for child in children]


def colouring(game, rows, player):
    shunned = player if game.name == "col" else "BR"["RB".index(player)]
    children = [
        put(rows, (x, y, player))
        for x, y in places(rows)
        if cell(rows, x, y) == "." and shunned not in {cell(rows, x + step, y + rise) for step, rise in BESIDE}
    ]
    return (UNDECIDED if children else LOSE), children


def tapatan(game, rows, player):
    other, centre, longer = "OX"["XO".index(player)], (1, 1), game.diagonals
    if in_a_row(rows, other, 3) if game.diagonals else {other * 3} & {*rows, *map("".join, zip(*rows, strict=True))}:
        return LOSE, []
    empty = [(x, y) for x, y in places(rows) if cell(rows, x, y) == "."]
    if 9 - len(empty) < 2 * game.men:
        return UNDECIDED, [put(rows, (x, y, player)) for x, y in empty]
    children = [
        put(rows, (*man, "."), (*goal, player))
        for man in places(rows)
        for goal in empty
        if cell(rows, *man) == player
        and (game.anywhere or (man[0] - goal[0]) ** 2 + (man[1] - goal[1]) ** 2 <= 1 + longer * (centre in (man, goal)))
    ]
    return (UNDECIDED if children else LOSE), children


def y(game, rows, player):
    """Rows of a triangle: each point touches two points beside it, two above and two below."""
    last = "BR"["RB".index(player)]
    stones = {(x, y) for y, row in enumerate(rows) for x, sign in enumerate(row) if sign == last}
    while stones:
        group = [stones.pop()]
        for x, y in group:
            near = {(x + step, y + rise) for step, rise in ((1, 0), (-1, 0), (0, 1), (1, 1), (0, -1), (-1, -1))}
            group += near & stones
            stones -= near
        touched = [
            any(x == 0 for x, y in group),
            any(x == y for x, y in group),
            any(y + 1 == len(rows) for _, y in group),
        ]
        if all(touched):
            return LOSE, []
    empty = [(x, y) for y, row in enumerate(rows) for x, sign in enumerate(row) if sign == "."]
    return UNDECIDED, [put(rows, (x, y, player)) for x, y in empty]


def chomp(game, rows, player):
    left = [(x, y) for x, y in places(rows) if cell(rows, x, y) == "X" and (x, y) != (0, 0)]
    children = [put(rows, *((x, y, ".") for x, y in places(rows) if x >= a and y >= b)) for a, b in left]
    return (UNDECIDED if children else LOSE), children


def breakthrough(game, rows, player):
    other, ahead, goal = ("O", -1, len(rows) - 1) if player == "X" else ("X", 1, 0)
    if other in rows[goal]:
        return LOSE, []
    children = []
    for x, y in places(rows):
        for step in (-1, 0, 1) if cell(rows, x, y) == player else ():
            target = cell(rows, x + step, y + ahead)
            if target == "." or (step and target == other):
                children.append(put(rows, (x, y, "."), (x + step, y + ahead, player)))
    return (UNDECIDED if children else LOSE), children


def clobber(game, rows, player):
    other = "OX"["XO".index(player)]
    children = [
        put(rows, (x, y, "."), (x + step, y + rise, player))
        for x, y in places(rows)
        for step, rise in BESIDE
        if cell(rows, x, y) == player and cell(rows, x + step, y + rise) == other
    ]
    return (UNDECIDED if children else LOSE), children


SLOW = {
    **{"mnk": mnk, "hex": connecting, "chomp": chomp, "breakthrough": breakthrough, "clobber": clobber, "y": y},
    **{"notakto": notakto, "tactix": tactix, "toadsandfrogs": toadsandfrogs, "tapatan": tapatan},
    **{"col": colouring, "snort": colouring},
}


def taken_apart(game, position):
    """Return the rows of a position, and the player to move."""
    *rows, player = game.write(position).split("/")
    if game.name in ("chomp", "notakto", "tactix"):
        return (*rows, player), ""
    if game.name in ("mnk", "hex", "y"):  # the text has no player: it follows from the number of stones
        rows.append(player)
        stones = sum(sign != "." for row in rows for sign in row)
        return tuple(rows), ("XO" if game.name == "mnk" else "RB")[stones % 2]
    return tuple(rows), player


@pytest.mark.parametrize(
    "text",
    [
        "mnk:3,2,2",
        thorough("mnk:3,3,3"),
        "mnk:3,2,3,misere",
        "hex:2",
        thorough("hex"),
        "chomp",
        "chomp:3,3",
        "breakthrough:2,4",
        "clobber:3,3",
        "notakto",
        "tactix:3",
        "tactix:3,misere",
        "toadsandfrogs",
        "toadsandfrogs:2,3,3",
        "col:3,2",
        "snort:3,2",
        thorough("tapatan"),
        thorough("tapatan:4"),
        thorough("tapatan:anywhere=yes"),
        thorough("tapatan:diagonals=no"),
        "y:3",
        thorough("y"),
    ],
)
def test_rules_are_those_on_strings(text):
    """At all positions: the end, and the set of children."""
    game = load_game(text)
    slow = cache(SLOW[game.name])
    found = solve_slowly(game)
    assert len(found) > 15
    for position in found:
        end, children = slow(game, *taken_apart(game, position))
        assert game.primitive(position) == end
        if end == UNDECIDED:
            moves = [game.do_move(position, move) for move in game.generate_moves(position)]
            assert sorted(taken_apart(game, child)[0] for child in moves) == sorted(children)


@pytest.mark.parametrize("text", ["mnk:3,2,2", "hex:2", "chomp:3,3", "breakthrough:2,4", "clobber:4,2",
                                  "tactix:2", "toadsandfrogs", thorough("tapatan"), "y:3"])  # fmt: skip
def test_values_are_those_of_the_slow_solver(text, tmp_path):
    game = load_game(text)
    metric = {"metric": "remoteness"} if game.name in ("chomp", "tactix") else {}
    with open_database(solve(game, tmp_path / "game.h5", **metric), game=game) as database:
        expected = solve_slowly(game)
        assert {position: tuple(database[position]) for position in expected} == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # J. W. H. M. Uiterwijk and H. J. van den Herik, The advantage of the initiative, 2000
        ("mnk:3,3,3", TIE), thorough(("mnk:4,3,3", WIN)), thorough(("mnk:3,4,4", TIE)),
        ("hex:2", WIN), thorough(("hex:3", WIN)),  # J. Nash, 1949: the second player cannot win, and there are no ties
        ("chomp:4,3", WIN), thorough(("chomp:5,5", WIN)),  # D. Gale, 1974: likewise
        # M. H. Albert and others, An introduction to Clobber, 2005: the first player wins in one row but for six stones
        *((f"clobber:{stones},1", LOSE if stones == 6 else WIN) for stones in (2, 4, 6, 8, 10, 12)),
        ("notakto", WIN),  # T. E. Plambeck and G. Whitehead, The secrets of Notakto, 2013
        # M. Gardner, Mathematical Puzzles and Diversions, 1959: the second player mirrors the moves of the first
        ("tactix:3", WIN), thorough(("tactix:4", LOSE)),
        # C. Schensted and C. Titus, Mudcrack Y and Poly-Y, 1975: there are no ties
        ("y:3", WIN), thorough(("y:4", WIN)),
    ],
)  # fmt: skip
def test_published_results(text, value, tmp_path):
    with open_database(solve(load_game(text), tmp_path / "game.h5")) as database:
        assert database[database.game.start].value == value


@pytest.mark.parametrize("size", [(4, 3), (5, 4)])
def test_bars_of_chomp_are_as_many_as_staircases(size, tmp_path):
    width, height = size
    game = load_game(f"chomp:{width},{height}")
    with open_database(solve(game, tmp_path / "game.h5")) as database:
        assert database.file.positions == comb(width + height, width) - 1  # nobody eats the first square


def test_large_boards_are_played():
    for text in ("mnk:8,8,5", "hex:7", "breakthrough:8,8"):
        game = load_game(text)
        for move in list(game.generate_moves(game.start))[:3]:
            child = game.do_move(game.start, move)
            assert game.read(game.write(child)) == child and game.primitive(child) == UNDECIDED
