"""Fanorona written down slowly: rows of points as text, sequences by recursion, boards by name, and no numbering.

A board is its rows, as in `BBB/B.W/WWW`, and White is to move: where Black is, the men have changed colours.
"""

from functools import cache
from itertools import product

from retrograde.games import DRAW, LOSE, WIN


@cache
def lines(width, height):
    """Return all lines of a board, each both ways: rows, columns, and those cornerwise through even points."""
    points = list(product(range(width), range(height)))
    found = []
    for right, down in [(1, 0), (0, 1), (1, 1), (1, -1)]:
        for x, y in points:
            if (right == 0 or down == 0 or (x + y) % 2 == 0) and (x - right, y - down) not in points:
                reach = [(x + right * step, y + down * step) for step in range(max(width, height))]
                line = [point for point in reach if point in points]
                found += [line, line[::-1]] if len(line) > 1 else []
    return found


def points_of(text):
    """Return what stands on each point of a board."""
    return {(x, y): sign for y, row in enumerate(text.split("/")) for x, sign in enumerate(row)}


def text_of(points):
    """Return a board with the men of both exchanged, for the other one to move."""
    height = 1 + max(y for _, y in points)
    rows = ["".join(points[point] for point in sorted(points) if point[1] == y) for y in range(height)]
    return "/".join(rows).translate(str.maketrans("WB", "BW"))


def steps(points, man, width, height):
    """Yield what a man can do: whither, in which direction, in which way it takes, and what."""
    for line in lines(width, height):
        at = line.index(man) if man in line else len(line)
        if at + 1 < len(line) and points[line[at + 1]] == ".":
            direction = line[at + 1][0] - man[0], line[at + 1][1] - man[1]
            signs = "".join(points[point] for point in line)
            before, behind = signs[at + 2 :], signs[:at]
            yield line[at + 1], direction, "A", line[at + 2 : len(signs) - len(before.lstrip("B"))]
            yield line[at + 1], direction, "W", line[len(behind.rstrip("B")) : at]


def captures(points, man, been, last, width, height):
    """Yield all ways in which a man can take, as their names and the boards that they lead to."""
    for to, direction, way, taken in steps(points, man, width, height):
        if taken and to not in been and direction != last:
            after = points | dict.fromkeys([man, *taken], ".") | {to: "W"}
            yield "-" + name(to) + way, after
            for more, end in captures(after, to, {*been, to}, direction, width, height):
                yield "-" + name(to) + way + more, end


def name(point):
    return f"{'abcdefghi'[point[0]]}{point[1] + 1}"


def moves(text):
    """Return all moves of White by their names, and the boards that they lead to, for the other one."""
    points = points_of(text)
    size = 1 + max(x for x, _ in points), 1 + max(y for _, y in points)
    men = [point for point, sign in points.items() if sign == "W"]
    taking = {name(man) + more: end for man in men for more, end in captures(points, man, {man}, None, *size)}
    plain = {
        f"{name(man)}-{name(to)}": points | {man: ".", to: "W"} for man in men for to, *_ in steps(points, man, *size)
    }
    return {move: text_of(after) for move, after in (taking or plain).items()}


def boards(width, height):
    """Return all boards with at most half of the points for each player, and a man to be taken."""
    most = width * height // 2
    every = map("".join, product("WB.", repeat=width * height))
    fit = (one for one in every if one.count("W") <= most and 1 <= one.count("B") <= most)
    return ["/".join(one[at : at + width] for at in range(0, len(one), width)) for one in fit]


def solution(width, height):
    """Return what each board is worth to who is to move, and in how many plies."""
    children = {text: set(moves(text).values()) for text in boards(width, height)}
    parents = {}
    for text, after in children.items():
        for child in after:
            parents.setdefault(child, []).append(text)
    left = {text: len(after) for text, after in children.items()}
    found = {text: (LOSE, 0) for text, after in children.items() if not after}
    wave, plies = list(found), 0
    while wave:
        plies += 1
        reached = [parent for text in wave for parent in parents.get(text, ()) if parent not in found]
        for parent in reached:
            left[parent] -= 1  # its children that win: each is once in a wave
        value = WIN if found[wave[0]][0] == LOSE else LOSE
        wave = [text for text in dict.fromkeys(reached) if value == WIN or not left[text]]
        found |= dict.fromkeys(wave, (value, plies))
    return {text: found.get(text, (DRAW, None)) for text in children}
