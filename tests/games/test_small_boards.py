"""Games on small boards: their rules are those of slow versions on rows of text, their values those published."""

from functools import cache
from itertools import product
from random import Random

import pytest

from retrograde.databases import open_database
from retrograde.games import LOSE, TIE, UNDECIDED, WIN
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from tests.helpers import published
from tests.helpers.marks import thorough, thorough_but
from tests.helpers.reference import solve as solve_slowly
from tests.helpers.rows import AROUND, BESIDE, cell, having, in_a_row, places, put, ray
from tests.helpers.solving import counts

pytestmark = pytest.mark.long


def opponent(player, both="XO"):
    return both[1 - both.index(player)]


def burning(ways):
    """Return the rules of a game whose pieces burn what they leave."""

    def moves(game, rows, player):
        ((x, y),) = having(rows, player)
        goals = [(x + step, y + rise) for step, rise in ways if cell(rows, x + step, y + rise) == "."]
        children = [put(rows, (x, y, "B"), (*goal, player)) for goal in goals]
        return (UNDECIDED if children else LOSE), children

    return moves


def isolation(game, rows, player):
    ((x, y),) = having(rows, player)
    stepped = [
        put(rows, (x, y, "."), (x + step, y + rise, player))
        for step, rise in AROUND
        if cell(rows, x + step, y + rise) == "."
    ]
    children = [put(after, (*square, "B")) for after in stepped for square in having(after, ".")]
    return (UNDECIDED if children else LOSE), children


def amazons(game, rows, player):
    children = []
    for amazon in having(rows, player):
        for goal in (goal for way in AROUND for goal in ray(rows, *amazon, *way)):
            gone = put(rows, (*amazon, "."), (*goal, player))
            children += [put(gone, (*arrow, "B")) for way in AROUND for arrow in ray(gone, *goal, *way)]
    return (UNDECIDED if children else LOSE), children


def dao(game, rows, player):
    other = opponent(player)
    theirs = {*having(rows, other)}
    (left, top), (right, bottom) = min(theirs), (max(x for x, _ in theirs), max(y for _, y in theirs))
    top = min(y for _, y in theirs)
    in_line = len({x for x, _ in theirs}) == 1 or len({y for _, y in theirs}) == 1
    if in_line or right - left == bottom - top == 1 or theirs == {*product((0, 3), repeat=2)}:
        return LOSE, []
    for x, y in having(rows, player):
        near = [(x + step, y + rise) for step, rise in AROUND if cell(rows, x + step, y + rise)]
        if len(near) == 3 and {*near} <= theirs:
            return WIN, []
    goals = [(man, way[-1]) for man in having(rows, player) for step in AROUND if (way := ray(rows, *man, *step))]
    return UNDECIDED, [put(rows, (*man, "."), (*goal, player)) for man, goal in goals]


def orderandchaos(game, rows, player):
    if in_a_row(rows, "X", game.k) or in_a_row(rows, "O", game.k):
        return WIN if player == "A" else LOSE, []
    children = [put(rows, (x, y, sign)) for x, y in having(rows, ".") for sign in "XO"]
    return (UNDECIDED if children else WIN if player == "C" else LOSE), children


def qubic(game, rows, player):
    """A line is a set of cells whose numbers in each direction are equal, rising or falling together."""
    size = game.size
    theirs = [(x // size, x % size, y) for x, y in having(rows, opponent(player))]
    for first in theirs:
        for way in product((-1, 0, 1), repeat=3):
            line = [tuple(at + step * by for at, by in zip(first, way, strict=True)) for step in range(size)]
            if any(way) and all(place in theirs for place in line):
                return LOSE, []
    children = [put(rows, (x, y, player)) for x, y in having(rows, ".")]
    return (UNDECIDED if children else TIE), children


def chungtoi(game, rows, player):
    other = opponent(player, "RW")
    if in_a_row(tuple(row.upper() for row in rows), other, 3):
        return LOSE, []
    own, empty = player + player.lower(), having(rows, ".")
    if len(empty) > 3:
        return UNDECIDED, [put(rows, (*goal, sign)) for goal in empty for sign in own]
    children = []
    for x, y in having(rows, own):
        for right, down in [*empty, (x, y)]:
            steps = abs(right - x), abs(down - y)
            if (0 in steps) if cell(rows, x, y).isupper() else steps[0] == steps[1]:
                children += [put(rows, (x, y, "."), (right, down, sign)) for sign in own]
    return UNDECIDED, children


def gobblet(game, rows, player):
    """Rows are those of the layers, from small to large: a cell's men are a string, the largest last."""
    layers = [rows[at : at + 3] for at in range(0, len(rows), 3)]
    piles = {(x, y): "".join(cell(layer, x, y) for layer in layers) for x, y in places(layers[0])}
    tops = tuple("".join((piles[x, y].replace(".", "") or ".")[-1] for x in range(3)) for y in range(3))
    for sign, end in ((player, WIN), (opponent(player), LOSE)):
        if in_a_row(tops, sign, 3):
            return end, []
    children = []
    for size, layer in enumerate(layers):
        goals = [place for place, pile in piles.items() if set(pile[size:]) <= {"."}]
        men = having(layer, player)
        sources = [man for man in men if set(piles[man][size + 1 :]) <= {"."}]
        if len(men) < game.men:
            children += [put(rows, (x, y + 3 * size, player)) for x, y in goals]
        children += [
            put(rows, (x, y + 3 * size, "."), (right, down + 3 * size, player))
            for x, y in sources
            for right, down in goals
        ]
    return UNDECIDED, children


def kono(game, rows, player):
    men = having(rows, player)
    taking, stepping = [], []
    for x, y in men:
        for step, rise in BESIDE:
            beyond = x + 2 * step, y + 2 * rise
            if (x + step, y + rise) in men and cell(rows, *beyond) == opponent(player):
                taking.append(put(rows, (x, y, "."), (*beyond, player)))
            if cell(rows, x + step, y + rise) == ".":
                stepping.append(put(rows, (x, y, "."), (x + step, y + rise, player)))
    children = (taking or stepping) if len(men) > 1 else []
    return (UNDECIDED if children else LOSE), children


def linesofaction(game, rows, player):
    for sign, end in ((opponent(player), LOSE), (player, WIN)):
        men = having(rows, sign)
        group = men[:1]
        for x, y in group:
            group += [(x + a, y + b) for a, b in AROUND if (x + a, y + b) in men and (x + a, y + b) not in group]
        if len(group) == len(men):
            return end, []
    children = []
    for x, y in having(rows, player):
        for step, rise in AROUND:
            lane = [(x + at * step, y + at * rise) for at in range(-5, 6)]
            count = sum(cell(rows, *place) in ("X", "O") for place in lane)
            over, goal = lane[6 : 5 + count], (x + count * step, y + count * rise)
            blocked = any(cell(rows, *place) == opponent(player) for place in over)
            if not blocked and cell(rows, *goal) not in ("", player):
                children.append(put(rows, (x, y, "."), (*goal, player)))
    return (UNDECIDED if children else LOSE), children


def neutron(game, rows, player):
    *rows, begun = rows
    rows = tuple(rows)
    slides = lambda rows, man: [way[-1] for step in AROUND if (way := ray(rows, *man, *step))]  # noqa: E731
    ((x, y),) = having(rows, "N")
    if y in (0, len(rows) - 1):
        return WIN if (player == "O") == (y == 0) else LOSE, []
    after = [put(rows, (x, y, "."), (*goal, "N")) for goal in slides(rows, (x, y))] if begun == "yes" else [rows]
    children = []
    for board in after:
        if "N" in board[0] + board[-1]:
            children.append(board)
        else:
            children += [
                put(board, (*man, "."), (*goal, player)) for man in having(board, player) for goal in slides(board, man)
            ]
    return (UNDECIDED if children else LOSE), [(*child, "yes") for child in children]


def threemusketeers(game, rows, player):
    musketeers = having(rows, "M")
    if 1 in (len({x for x, _ in musketeers}), len({y for _, y in musketeers})):
        return WIN if player == "C" else LOSE, []
    wanted = {"M": "C", "C": "."}[player]
    children = [
        put(rows, (x, y, "."), (x + step, y + rise, player))
        for x, y in having(rows, player)
        for step, rise in BESIDE
        if cell(rows, x + step, y + rise) == wanted
    ]
    return (UNDECIDED if children else WIN if player == "M" else LOSE), children


def tictactwo(game, rows, player):
    board, places_of_frame = rows[: game.side], rows[game.side :]
    ((left, top),) = having(places_of_frame, "F")
    inside = tuple(row[left : left + 3] for row in board[top : top + 3])
    won, lost = in_a_row(inside, player, 3), in_a_row(inside, opponent(player), 3)
    if won or lost:
        return TIE if won and lost else WIN if won else LOSE, []
    men = having(board, player)
    goals = [(x + left, y + top) for x, y in having(inside, ".")]
    children = [put(rows, (*goal, player)) for goal in goals if len(men) < game.men]
    if len(having(board, "O")) >= 2:
        children += [put(rows, (*man, "."), (*goal, player)) for man in men for goal in goals]
        for x, y in having(places_of_frame, "."):
            if max(abs(x - left), abs(y - top)) == 1:
                children.append((*board, *put(places_of_frame, (left, top, "."), (x, y, "F"))))
    return UNDECIDED, children


def ataxx(game, rows, player):
    other = opponent(player)
    sides = {sign: having(rows, sign) for sign in "XO"}
    reached = {
        sign: [(man, goal) for man in sides[sign] for goal in having(rows, ".") if distance(man, goal) <= 2]
        for sign in "XO"
    }
    if not (sides["X"] and sides["O"] and (reached["X"] or reached["O"])):
        ahead = len(sides[player]) - len(sides[other])
        return WIN if ahead > 0 else LOSE if ahead < 0 else TIE, []
    children = set()
    for man, goal in reached[player]:
        board = put(rows, (*goal, player)) if distance(man, goal) == 1 else put(rows, (*man, "."), (*goal, player))
        children.add(put(board, *((*there, player) for there in sides[other] if distance(there, goal) == 1)))
    return UNDECIDED, [*children] or [rows]


def distance(one, other):
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]))


def bishops(game, rows, player):
    if {*rows[0]} == {"B"} and {*rows[-1]} == {"b"}:
        return WIN, []
    slides = [way for way in AROUND if 0 not in way]
    children = []
    for man in having(rows, "Bb"):
        for goal in (goal for way in slides for goal in ray(rows, *man, *way)):
            after = put(rows, (*man, "."), (*goal, cell(rows, *man)))
            seen = [(*ray(after, *goal, *way), goal)[-1 if not ray(after, *goal, *way) else -2] for way in slides]
            beyond = [(x + step, y + rise) for (x, y), (step, rise) in zip(seen, slides, strict=True)]
            if cell(rows, *man).swapcase() not in {cell(after, *place) for place in beyond}:
                children.append(after)
    return (UNDECIDED if children else LOSE), children


def kaooa(game, rows, player):
    """Rows are those of the star, then the number of crows in hand; points are letters, as in its picture."""
    *star, hand = rows
    points, hand = dict(zip("abcdefghij", "".join(star), strict=True)), int(hand)
    lanes = ["acfi", "adgj", "bcde", "bfhj", "eghi"]
    lanes += [lane[::-1] for lane in lanes]
    empty = [point for point, sign in points.items() if sign == "."]
    after, men = [], [point for point, sign in points.items() if sign == player]
    if [*points.values()].count("C") + hand > 3:
        if hand if player == "C" else not men:
            after = [({**points, goal: player}, hand - (player == "C")) for goal in empty]
        else:
            for man, goal in ((man, goal) for man in men for goal in empty):
                if any(man + goal in lane for lane in lanes):
                    after.append(({**points, man: ".", goal: player}, hand))
                for over in points if player == "V" else ():
                    if points[over] == "C" and any(man + over + goal in lane for lane in lanes):
                        after.append(({**points, man: ".", over: ".", goal: player}, hand))
    boards = ["".join(board.values()) + str(left) for board, left in after]
    children = [(board[0], board[1:5], board[5:7], board[7], board[8:10], board[10:]) for board in boards]
    return (UNDECIDED if children else LOSE), children


def pentago(game, rows, player):
    won, lost = in_a_row(rows, player, game.k), in_a_row(rows, opponent(player), game.k)
    if won or lost or not having(rows, "."):
        return TIE if won == lost else WIN if won else LOSE, []
    children, half = [], game.quarter
    for x, y in having(rows, "."):
        board = put(rows, (x, y, player))
        if in_a_row(board, player, game.k):
            children.append(board)
            continue
        for left, top in product((0, half), repeat=2):
            quarter = [row[left : left + half] for row in board[top : top + half]]
            clockwise = ["".join(column)[::-1] for column in zip(*quarter, strict=True)]
            back = ["".join(column) for column in zip(*quarter, strict=True)][::-1]
            for turned in (clockwise, back):
                signs = [(left + a, top + b, turned[b][a]) for a, b in product(range(half), repeat=2)]
                children.append(put(board, *signs))
    return UNDECIDED, children


def quarto(game, rows, player):
    """A piece is the set of its properties: of each pair one."""
    *rows, hand = rows
    letters = "ABCDEFGHIJKLMNOP"[: 2**game.side]
    properties = {sign: {(number, at >> number & 1) for number in range(game.side)} for at, sign in enumerate(letters)}
    whole = range(game.side)
    lines = [[(x, y) for x in whole] for y in whole] + [[(x, y) for y in whole] for x in whole]
    lines += [[(x, x) for x in whole], [(x, game.side - 1 - x) for x in whole]]
    for line in lines:
        signs = [cell(rows, *place) for place in line]
        if "." not in signs and set.intersection(*(properties[sign] for sign in signs)):
            return LOSE, []
    empty, left = having(rows, "."), [sign for sign in letters if sign not in "".join(rows) + hand] or ["."]
    if hand == "." and len(empty) == game.side**2:
        return UNDECIDED, [(*rows, sign) for sign in left]
    if hand == "." or not empty:
        return TIE, []
    return UNDECIDED, [(*put(rows, (*place, hand)), sign) for place in empty for sign in left]


def sokoban(game, rows, player):
    layout = game.layout.split("-")
    floor = {(x, y): sign for y, row in enumerate(layout) for x, sign in enumerate(row) if sign != "#"}
    board = dict(zip(floor, "".join(rows), strict=True))
    if all((board[place] == "B") == (sign in ".BP") for place, sign in floor.items()):
        return WIN, []
    ((x, y),) = (place for place, sign in board.items() if sign == "M")
    children = []
    for step, rise in BESIDE:
        ahead, beyond = (x + step, y + rise), (x + 2 * step, y + 2 * rise)
        pushes = board.get(ahead) == "B" and board.get(beyond) == "."
        if pushes or board.get(ahead) == ".":
            after = {**board, (x, y): ".", ahead: "M", **({beyond: "B"} if pushes else {})}
            lines = ["".join(sign for (_, line), sign in after.items() if line == at) for at in range(len(layout))]
            children.append(tuple(filter(None, lines)))
    return UNDECIDED, children


def topspin(game, rows, player):
    (discs,) = rows
    if [*discs] == sorted(discs):
        return WIN, []
    tracks = [discs[first:] + discs[:first] for first in range(game.n)]
    turned = [track[: game.k][::-1] + track[game.k :] for track in tracks]
    return UNDECIDED, [(track[track.index("1") :] + track[: track.index("1")],) for track in turned]


def allqueens(game, rows, player):
    if in_a_row(rows, opponent(player), game.k):
        return LOSE, []
    goals = [(man, goal) for man in having(rows, player) for way in AROUND for goal in ray(rows, *man, *way)]
    children = [put(rows, (*man, "."), (*goal, player)) for man, goal in goals]
    return (UNDECIDED if children else LOSE), children


def fairshares(game, rows, player):
    heaps = [*map(int, rows[0].split("+"))]
    after = []
    for at, heap in enumerate(heaps):
        others = heaps[:at] + heaps[at + 1 :]
        after += [others + parts * [heap // parts] for parts in range(2, heap + 1) if heap % parts == 0]
        for two, other in enumerate(others):
            if other != heap:
                after.append([*others[:two], *others[two + 1 :], heap + other])
    children = [("+".join(map(str, sorted(child, reverse=True))),) for child in after]
    return (UNDECIDED if children else LOSE), children


def gates(game, rows, player):
    """A point is its half steps from the middle of its row, and its row; the middle of the board is a hole."""
    *rows, _, hand = rows
    spots = [(x, y) for y in range(5) for x in ((-2, 0, 2), (-3, -1, 1, 3), (-4, -2, 2, 4))[2 - abs(2 - y)]]
    board, other = dict(zip(spots, "".join(rows), strict=True)), opponent(player, "Aa")
    empty = [spot for spot in spots if board[spot] == "."]
    own, theirs = ("GAZ", "gaz") if player == "A" else ("gaz", "GAZ")

    def beside(spot):
        return [near for near in spots if (abs(near[0] - spot[0]), abs(near[1] - spot[1])) in ((2, 0), (1, 1))]

    children = []
    if hand == "4":
        each = dict(zip("GAZgaz", (game.gates, game.triangles, game.trapezoids) * 2, strict=True))
        last = sum(each.values()) + len(empty) == len(spots) + 1
        left = [sign for sign in each if [*board.values()].count(sign) < each[sign]]
        children = [({**board, spot: sign}, player if last else other, "0" if last else "4")
                    for spot in empty for sign in left]  # fmt: skip
    elif hand != "0" and {*board.values()} & {*theirs[1:]} | {*hand} - {"1"}:
        sign = theirs[int(hand) - 1]
        children = [({**board, spot: sign}, player if hand == "1" else other, "0") for spot in empty]
    elif hand == "0":
        for spot in (spot for spot in spots if board[spot] in own[1:]):
            reached = {*beside(spot)}
            if board[spot] == own[1]:
                reached |= {goal for middle in reached & {*empty} for goal in beside(middle)} - {spot}
            for goal in reached:
                moved = {**board, spot: ".", goal: board[spot]}
                if board[goal] == ".":
                    children.append((moved, other, "0"))
                elif board[goal] == own[0]:
                    children.append(({**moved, goal: "."}, other, "1"))
                elif board[spot] == own[2] and board[goal] in theirs[1:]:
                    children.append((moved, player, str(theirs.index(board[goal]) + 1)))
    texts = [("".join(after.values()), mover, hand) for after, mover, hand in children]
    parts = [(0, 3), (3, 7), (7, 11), (11, 15), (15, 18)]
    return (UNDECIDED if children else LOSE), [(*(text[a:b] for a, b in parts), *rest) for text, *rest in texts]


CARDS = {
    "tiger": "..#.. ..... ..@.. ..#.. .....",
    "crab": "..... ..#.. #.@.# ..... .....",
    "monkey": "..... .#.#. ..@.. .#.#. .....",
    "crane": "..... ..#.. ..@.. .#.#. .....",
    "dragon": "..... #...# ..@.. .#.#. .....",
    "boar": "..... ..#.. .#@#. ..... .....",
    "ox": "..... ..#.. ..@#. ..#.. .....",
    "horse": "..... ..#.. .#@.. ..#.. .....",
    "mantis": "..... .#.#. ..@.. ..#.. .....",
    "elephant": "..... .#.#. .#@#. ..... .....",
    "eel": "..... .#... ..@#. .#... .....",
    "cobra": "..... ...#. .#@.. ...#. .....",
    "frog": "..... .#... #.@.. ...#. .....",
    "rabbit": "..... ...#. ..@.# .#... .....",
    "goose": "..... .#... .#@#. ...#. .....",
    "rooster": "..... ...#. .#@#. .#... .....",
}
"""The cards of Onitama as they are printed: a piece moves from @ to any #."""


def onitama(game, rows, player):
    """Where it is Blue's turn, all is turned round, so that the player to move always goes up."""
    *rows, owners = rows
    red = player == "M"
    board = tuple(rows) if red else tuple(row[::-1].swapcase() for row in rows[::-1])
    owners, cards, end = owners.split(","), game.cards.split("-"), game.side // 2
    if not having(board, "M") or cell(board, end, game.side - 1) == "m":
        return LOSE, []
    own = [card for card in range(5) if owners[card] == "01"[not red]]
    after = []
    for card in own:
        picture = CARDS[cards[card]].split()
        for (x, y), (right, down) in product(having(board, "PM"), having(picture, "#")):
            goal = x + right - 2, y + down - 2
            if cell(board, *goal) in (".", "p", "m"):
                after.append((card, put(board, (x, y, "."), (*goal, cell(board, x, y)))))
    children = []
    for card, moved in after or [(card, board) for card in own]:
        held = [owners[card] if owner == "2" else owner for owner in owners]
        held[card] = "2"
        back = moved if red else tuple(row[::-1].swapcase() for row in moved[::-1])
        children.append((*back, ",".join(held)))
    return UNDECIDED, children


def winkers(game, rows, player):
    """Cells are counted in half steps from the middle of their row, so that two steps are one to the right."""
    signs = "".join(rows)
    board = {(2 * at - len(row), y): sign for y, row in enumerate(rows) for at, sign in enumerate(row)}
    for x, y in board:
        for step, rise in ((2, 0), (1, 1), (1, -1)):
            if all(board.get((x + at * step, y + at * rise)) == opponent(player) for at in range(3)):
                return LOSE, []
    each, on_board = (len(signs) + 1) // 2, {sign: signs.count(sign) for sign in "XOC."}
    winkers = on_board["X"] + on_board["O"]
    plies = winkers + len(signs) - on_board["."]
    own_plies = [*"XO" * len(signs)][:plies].count(player)
    places = [(at, y, sign) for y, row in enumerate(rows) for at, sign in enumerate(row)]
    children = [put(rows, (at, y, "C")) for at, y, sign in places
                if sign == "." and own_plies - on_board[player] < each]  # fmt: skip
    children += [put(rows, (at, y, player)) for at, y, sign in places if sign == "C" and on_board[player] < each]
    return (UNDECIDED if children else TIE if winkers == len(signs) else WIN), children


SLOW = {
    "allqueens": allqueens,
    "fairshares": fairshares,
    "gates": gates,
    "onitama": onitama,
    "winkers": winkers,
    "sokoban": sokoban,
    "topspin": topspin,
    "ataxx": ataxx,
    "bishops": bishops,
    "kaooa": kaooa,
    "pentago": pentago,
    "quarto": quarto,
    "chungtoi": chungtoi,
    "gobblet": gobblet,
    "kono": kono,
    "linesofaction": linesofaction,
    "neutron": neutron,
    "threemusketeers": threemusketeers,
    "tictactwo": tictactwo,
    "amazons": amazons,
    "dao": dao,
    "isolation": isolation,
    "joust": burning([way for way in product((-2, -1, 1, 2), repeat=2) if abs(way[0] * way[1]) == 2]),
    "orderandchaos": orderandchaos,
    "qubic": qubic,
    "snake": burning(BESIDE),
}


def taken_apart(game, position):
    """Return the rows of a position, and the player to move, who may follow from the number of signs."""
    rows = game.write(position).split("/")
    if game.name == "gates":  # the player may move again, so that the rows of a child tell who is to move
        return tuple(rows), rows[-2]
    if game.name in ("bishops", "fairshares", "quarto", "sokoban", "topspin"):
        return tuple(rows), ""
    if game.name in ("kaooa", "neutron", "onitama"):  # numbers or a flag follow the player
        return (*rows[:-2], rows[-1]), rows[-2]
    if game.mover.by:
        return tuple(rows), game.mover.signs[len(having(rows, "XO")) % 2]
    return tuple(rows[:-1]), rows[-1]


def compare_with_slow_rules(game, position):
    """Compare the end and the set of children, and return the children."""
    end, children = SLOW[game.name](game, *taken_apart(game, position))
    assert game.primitive(position) == end, game.write(position)
    if end != UNDECIDED:
        return []
    moves = list(game.generate_moves(position))
    found = [game.do_move(position, move) for move in moves]
    assert {taken_apart(game, child)[0] for child in found} == {*children}, game.write(position)
    assert len({game.move_name(position, move) for move in moves}) == len(moves)
    return found


SMALLEST = ["allqueens:3,3", "amazons:4,2,2", "ataxx:3,3", "bishops:2,5", "fairshares:9", "isolation:3,2", "joust",
            "kono:2,4", "linesofaction:3", "neutron:3,3", "orderandchaos:2,2", "quarto:2", "snake:3,3",
            "sokoban", "threemusketeers:3", "topspin:6", "winkers:3,1"]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    thorough_but(
        SMALLEST,
        "allqueens:3,3",
        "amazons:4,2,2",
        "fairshares:9",
        "joust",
        "neutron:3,3",
        "quarto:2",
        "snake:3,3",
        "topspin:6",
        "winkers:3,1",
    ),
)
def test_rules_are_those_on_rows_at_all_positions(text):
    game = load_game(text)
    found = {game.start}
    left = [game.start]
    while left:
        new = {*compare_with_slow_rules(game, left.pop())} - found
        found |= new
        left += new
    assert len(found) > 14


RANDOM = ["allqueens", "amazons", "ataxx", "ataxx:4,4", "bishops", "chungtoi", "dao", "gates", "gates:1,1,1",
          "gobblet", "isolation:5,5", "joust:6,5", "kaooa", "kono", "linesofaction", "neutron", "onitama",
          "onitama:3,boar-eel-cobra-frog-rabbit", "onitama:4", "orderandchaos:6,5", "pentago",
          "pentago:2,3", "quarto", "qubic", "qubic:4", "snake", "sokoban", "threemusketeers", "tictactwo",
          "tictactwo:4,3", "winkers", "winkers:3,5"]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    thorough_but(
        RANDOM,
        "bishops",
        "chungtoi",
        "dao",
        "gates:1,1,1",
        "kaooa",
        "kono",
        "neutron",
        "onitama",
        "sokoban",
        "tictactwo",
        "winkers",
    ),
)
def test_rules_are_those_on_rows_in_random_games(text):
    game, chance = load_game(text), Random(0)
    for _ in range(3):
        position = game.start
        for _ in range(30):
            children = compare_with_slow_rules(game, position)
            if not children:
                break
            position = chance.choice(children)


@pytest.mark.parametrize(
    "text",
    [
        "fairshares",
        "joust",
        *map(thorough, ("allqueens:3,3", "ataxx:2,3", "linesofaction:3", "quarto:2", "winkers:4,1")),
    ],
)
def test_values_are_those_of_the_slow_solver(text, tmp_path):
    game = load_game(text)
    with open_database(solve(game, tmp_path / "game.h5"), game=game) as database:
        expected = solve_slowly(game)
        assert {position: tuple(database[position]) for position in expected} == expected


def test_a_player_of_onitama_who_is_stuck_exchanges_a_card():
    game = load_game("onitama:3")
    position = game.read(".P./.Pp/.Mm/M/0,0,1,1,2")
    assert len(compare_with_slow_rules(game, position)) == 2
    assert [game.move_name(position, move) for move in game.generate_moves(position)] == ["tiger", "crab"]


@pytest.mark.thorough
def test_onitama_is_lost_as_slow_rules_prove(tmp_path):
    game = load_game("onitama:3,boar-ox-horse-crane-mantis")

    @cache
    def loses(rows, player, plies):
        end, children = onitama(game, rows, player)
        replies = (onitama(game, child, opponent(player, "Mm"))[1] for child in children)
        return end == LOSE or (
            plies > 1 and all(any(loses(after, player, plies - 2) for after in reply) for reply in replies)
        )

    start = taken_apart(game, game.start)
    assert loses(*start, 10) and not loses(*start, 8)
    with open_database(solve(game, tmp_path / "game.h5"), game=game) as database:
        assert tuple(database[game.start]) == (LOSE, 10)


COUNTED = ["ataxx:3,3", "fairshares:20", "joust", "orderandchaos", "snake", "tapatan"]
"""The others that are published are solved by `test_everything_published`."""


@pytest.mark.parametrize("text", thorough_but(COUNTED, "fairshares:20", "joust", "snake"))
def test_counts_are_published(text, tmp_path):
    assert counts(solve(load_game(text), tmp_path / "game.h5")) == published.COUNTS[text]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("sokoban", (WIN, 33)),  # as players of Microban know
        thorough(("amazons", (LOSE, 8))),  # M. Müller, Solving 5x5 Amazons, 2001: on 4 × 4 the second player wins
        thorough(("bishops", (WIN, 36))),  # H. E. Dudeney, Amusements in Mathematics, 1917: 18 moves of each colour
    ],
)
def test_published_results(text, outcome, tmp_path):
    game = load_game(text)
    with open_database(solve(game, tmp_path / "game.h5"), game=game) as database:
        assert tuple(database[game.start]) == outcome
