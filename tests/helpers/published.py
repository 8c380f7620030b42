"""What others have published about games that we solve: every number with its source.

`COUNTS` tells for a variant how many positions there are of each value and remoteness, among all that can be reached
from the start, symmetric ones counted one by one; a DRAW has no remoteness. `STARTS` tells what the start is worth.
"""

import csv

from retrograde.games import Value
from tests.helpers.paths import ROOT

Counts = dict[tuple[Value, int | None], int]


def table(*lines: str) -> Counts:
    """Read lines such as `win 1:128 3:48`: a value, then remoteness and count of positions."""
    counts: Counts = {}
    for line in lines:
        value, *entries = line.split()
        for entry in entries:
            remoteness, count = entry.split(":")
            counts[Value[value.upper()], int(remoteness) if remoteness.isdecimal() else None] = int(count)
    return counts


def connect4() -> dict[str, Counts]:
    """Read the counts of all boards in `data/connect4.csv`."""
    boards: dict[str, Counts] = {}
    with open(ROOT / "tests" / "data" / "connect4.csv", newline="") as file:
        for row in csv.DictReader(file):
            board = boards.setdefault(f"connect4:{row['columns']},{row['rows']},{row['connect']}", {})
            board[Value[row["value"].upper()], int(row["remoteness"])] = int(row["count"])
    return boards


COUNTS: dict[str, Counts] = {
    # Connect Four: GamesmanClassic's exhaustive solver; 4×4, 4×5 and 3×3 with three in a row equal GamesmanPy's. The
    # totals equal Tromp's, https://tromp.github.io/c4/c4.html. Keys are width, height and stones in a row.
    **connect4(),
    # GamesmanClassic, default variants: https://github.com/GamesCrafters/GamesmanClassic, src/mttt.c and so on
    "tictactoe": table(
        "lose 0:942 2:508 4:124",
        "tie 0:16 1:80 2:200 3:200 4:264 5:136 6:138 7:24 8:9 9:1",
        "win 1:2358 3:356 5:122",
    ),
    "mutorere": table("lose 0:80 2:32 4:16", "draw -:844", "win 1:128 3:48 5:32"),
    "chopsticks": table("lose 0:40 2:16 4:12 6:4", "draw -:676", "win 1:184 3:50 5:22"),
    "ponghauki": table("lose 0:4", "draw -:44", "win 1:8"),
    "dodgem": table(
        "lose 0:90 2:198 4:183 6:134 8:101 10:61 12:33 14:20 16:9 18:7 20:4",
        "win 0:8 1:214 3:243 5:269 7:151 9:112 11:64 13:34 15:12 17:8 19:7 21:1",
    ),
    "lgame": table(
        "lose 0:480 2:96 4:96 6:160 8:96",
        "draw -:40352",
        "win 1:24576 3:864 5:2592 7:352 9:3808",
    ),
    # The rules of GamesmanClassic, src/mjoust.c and so on, with a plain solver in C around them
    "ataxx:3,3": table("lose 0:644", "win 1:2932"),
    "chungtoi": table(
        "lose 0:22784 2:18232 4:8540 6:3400 8:928 10:624 12:264 14:56",
        "draw -:62035",
        "win 1:76608 3:42008 5:9348 7:2996 9:812 11:320 13:296 15:48",
    ),
    "dao": table(
        "lose 0:17456 2:22424 4:5648 6:1376 8:320 10:32",
        "draw -:1387132",
        "win 0:15744 1:158800 3:129120 5:23584 7:5176 9:1200 11:96",
    ),
    "joust": table("lose 0:154 2:70 4:32 6:20 8:8 10:2 12:1", "win 1:136 3:48 5:28 7:16 9:4 11:2"),
    "orderandchaos": table("lose 0:3820 1:112 2:4372 3:8 4:742 6:40", "win 0:3840 1:5030 2:256 3:472 4:48 5:13"),
    "snake": table("lose 0:53 2:43 4:26 6:20 8:11 10:6", "win 1:54 3:39 5:25 7:16 9:10 11:5"),
    "tapatan": table("lose 0:416 2:368 4:184 6:92 8:109 10:16", "draw -:1208", "win 1:1860 3:688 5:300 7:92 9:57"),
    # The rules of GamesmanOne, src/games/fsvp/fsvp.c, with a plain solver in C around them
    "fairshares": table(
        "lose 0:1 2:2 4:1 6:1 8:1 10:3 12:1 14:2",
        "win 1:9 3:5 5:3 7:2 9:5 11:3 13:2 15:1",
    ),
    "fairshares:20": table("lose 0:1 2:2", "draw -:589", "win 1:19 3:16"),
}

TENTOZERO_BY_PLAYER = table("lose 0:2 2:2 4:2 6:1", "win 1:4 3:4 5:4 7:1")
"""GamesmanClassic, src/m1210.c, which counts a total twice where either player may be the one to move there."""

STARTS: dict[str, tuple[Value, int | None]] = {
    # "in 23 plies if the hounds start, and in 24 plies if the hare starts", and the table that follows there, by the
    # point of the hare: https://github.com/edoannunziata/jardin, misc/HareAndHounds.ipynb (2024). The hounds win all,
    # so that it does not matter that there a hunt of thirty moves is won by the hare.
    "hareandhounds:5": (Value.WIN, 27),
    "hareandhounds:6": (Value.WIN, 23),
    "hareandhounds:7": (Value.WIN, 23),
    "hareandhounds:8": (Value.WIN, 23),
    "hareandhounds:5,yes": (Value.LOSE, 24),
    "hareandhounds:6,yes": (Value.LOSE, 28),
    "hareandhounds:7,yes": (Value.LOSE, 24),
    "hareandhounds:8,yes": (Value.LOSE, 24),
    # D. desJardins, 1996: "the 4×4 and 5×5 games never end with perfect play", https://en.wikipedia.org/wiki/Dodgem
    "dodgem:4": (Value.DRAW, None),
    "dodgem:5": (Value.DRAW, None),
}

LGAME_CLASSES, LGAME_LOST, LGAME_LOSING = 2296, 15, 14
"""Arrangements of the L-game but for symmetry; those lost at once, and soon, for the player to move:
https://en.wikipedia.org/wiki/L_game#Analysis"""

MUTORERE_CLASSES = 46
"""Arrangements of Mū Tōrere but for turns and mirrors: M. Ascher, Ethnomathematics, 1991; G. Jelliss,
https://www.mayhematics.com/k/games6.htm"""
