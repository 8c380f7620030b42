"""Chess endings as the engine solves them, against what others have published.

`data/chess/dtm.csv`: the counts of Gaviota's tables by result and distance to mate, of positions but for symmetry
(unique) and of all (raw); see test_chess_rules.py. `syzygy.csv.gz`: 300 random positions of each ending of three and
four men with the result (2 win, 0 draw, -2 loss) that python-chess reads in Syzygy's tables, https://syzygy-tables.info;
in all of them the fifty-move rule decides nothing. `krkopt.csv.gz`: the data set "Chess (King-Rook vs. King)", M. Bain
and A. Hoff, 1994, https://archive.ics.uci.edu/dataset/23, CC BY 4.0: squares of White's king and rook and Black's king,
Black to move, and in how many moves White mates.
"""

import csv
import gzip
import json
from collections import Counter, defaultdict
from functools import cache
from itertools import islice
from random import Random

import pytest

from retrograde.databases import open_database
from retrograde.databases.slots.database import SlotsDatabase
from retrograde.games import DRAW, LOSE, WIN
from retrograde.games.chess import Chess
from retrograde.games.chess.men import TIERS, tier_of
from retrograde.games.chess.san import uci
from retrograde.solver.play.player import perfect, random_player
from retrograde.solver.play.solution import Solution
from tests.helpers.command_line import retrograde
from tests.helpers.paths import ROOT

pytestmark = pytest.mark.long

chess = pytest.importorskip("chess")

DATA = ROOT / "tests" / "data" / "chess"
NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
NUMBERS += ["thirteen", "fourteen", "fifteen", "sixteen"]
RESULTS = {"win": WIN, "draw": DRAW, "loss": LOSE}


def slowly(quick, slow):
    """Return some parameters, the slow ones marked."""
    return [*quick, *(pytest.param(name, marks=pytest.mark.slow) for name in slow)]


@pytest.fixture(scope="session")
def database(solved):
    """Return a function from the name of an ending to its database."""

    @cache
    def open_one(name) -> SlotsDatabase:
        return open_database(solved(f"chess:{name}"), game=Chess(name))

    return open_one


@cache
def published_counts():
    """Return the published counts by table and side: for value and plies, how many are unique, and how many raw."""
    counts = defaultdict(dict)
    with open(DATA / "dtm.csv", newline="") as file:
        for row in csv.DictReader(file):
            value = RESULTS[row["result"]]
            plies = None if value == DRAW else int(row["plies"])
            counts[row["table"], row["side"]][value, plies] = int(row["unique"]), int(row["raw"])
    return counts


@pytest.mark.parametrize(
    "name", slowly(["KRK", "KPK", "KRKN"], ["KQK", "KBK", "KNK", "KBBK", "KBNK", "KQKQ", "KQKR", "KRKP", "KRKR"])
)
def test_counts_are_the_published_ones(database, name):
    file, tier = database(name).file, tier_of(name)
    white, black = name.split("K")[1:]
    for number, side in enumerate("wb"):
        part = 0 if white == black else number  # Black to move is White to move with sides exchanged
        rows = [row for row in file.contents.counts if (row.tier, row.part) == (tier, part)]
        counts = {}
        for row in rows:
            value, plies = file.legend[row.outcome][:2]
            raw = row.positions // (4 if white == black else 2)  # our positions come in both pairs of colours
            counts[value, None if value == DRAW else plies] = row.stored, raw
        if white == black:
            counts = {outcome: unique for outcome, (unique, _) in counts.items()}
            assert counts == {outcome: unique for outcome, (unique, _) in published_counts()[name, side].items()}
        else:
            assert counts == published_counts()[name, side]


def test_longest_mates(database):
    """What is told everywhere: rook in 16 moves, rook against knight in 40, and so many positions won."""
    facts = json.loads(retrograde("info", database("KRK").file.path, "--json").stdout)
    assert facts["tiers"]["KRK"]["black"]["longest"] | {"position": ""} == {
        "value": "lose", "remoteness": 32, "position": "",
    }  # fmt: skip
    facts = json.loads(retrograde("info", database("KRKN").file.path, "--json").stdout)["tiers"]["KRKN"]
    assert (facts["white"]["positions"], facts["white"]["win"]) == (1_347_906, 651_492)
    assert (facts["black"]["positions"], facts["black"]["lose"]) == (1_567_222, 170_672)
    assert facts["white"]["longest"]["remoteness"] == 79 and facts["black"]["longest"]["remoteness"] == 80
    assert sum(row["count"] for row in facts["white"]["by_remoteness"]) == 1_347_906


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.thorough)])
def test_rows_of_krkopt(database, step):
    krk = database("KRK")
    rows = 0
    with gzip.open(DATA / "krkopt.csv.gz", "rt", newline="") as file:
        for row in islice(csv.DictReader(file), 0, None, step):
            board = chess.Board(None)
            for letter, column in (("K", "white_king"), ("R", "white_rook"), ("k", "black_king")):
                board.set_piece_at(chess.parse_square(row[column]), chess.Piece.from_symbol(letter))
            board.turn = chess.BLACK
            expected = (DRAW, None) if row["result"] == "draw" else (LOSE, 2 * NUMBERS.index(row["result"]))
            assert krk[krk.game.read(board.fen())] == expected, row
            rows += 1
    assert rows == 28_056 // step


def syzygy(name):
    """Return pairs of a FEN and the value to the side to move."""
    with gzip.open(DATA / "syzygy.csv.gz", "rt", newline="") as file:
        return [
            (row["fen"], {2: WIN, 0: DRAW, -2: LOSE}[int(row["wdl"])])
            for row in csv.DictReader(file)
            if row["table"] == name
        ]


FOUR_MEN = [name for name in TIERS if 3 <= len(name) <= 4]
QUICK = ["KRK", "KPK", "KRKN"]


@pytest.mark.parametrize("name", slowly(QUICK, [name for name in FOUR_MEN if name not in QUICK]))
def test_values_are_those_of_syzygy(database, name):
    solution = database(name)
    positions = syzygy(name)
    assert len(positions) == 300
    for fen, value in positions:
        assert solution[solution.game.read(fen)].value == value, fen


def random_wins(database, name, count):
    """Return random positions in which the first-named side is to move and wins, with the plies it takes."""
    game, tier, chance = database.game, tier_of(name), Random(name)
    half = game.parts(tier)[0][1]
    wins = {}
    while len(wins) < count:
        position = game.unindex(tier, chance.randrange(half))
        if position >= 0 and (outcome := database[position]).value == WIN:
            wins[position] = outcome.remoteness
    return wins


def stubborn(solution, position):
    """Choose by python-chess, not by the database: take if you can, else the move that leaves most moves."""
    board = chess.Board(solution.game.write(position))

    def mobility(move):
        board.push(move)
        replies = board.legal_moves.count()
        board.pop()
        return board.is_capture(move), -replies, move.uci()

    return solution.game.move(position, max(board.legal_moves, key=mobility).uci())


@pytest.mark.parametrize(
    ("name", "games"),
    [
        ("KRK", 5),
        *(pytest.param(name, 5, marks=pytest.mark.thorough) for name in ("KRKN", "KPK")),
        *(pytest.param(name, 200, marks=pytest.mark.slow) for name in ("KRK", "KRKN", "KQKR", "KBNK", "KPK")),
    ],
)
def test_perfect_player_mates_in_exactly_so_many_moves(database, name, games):
    """Against perfect defence in the stated number, against any other in no more; python-chess keeps the board."""
    solution = Solution(database(name))
    met = Counter()
    for start, plies in random_wins(database(name), name, games).items():
        for opponent in (perfect, random_player(Random(start)), stubborn):
            position, board = start, chess.Board(solution.game.write(start))
            for ply in range(plies):
                if ply % 2 == 0:
                    left = solution.value(position).remoteness
                    assert left <= plies - ply
                move = (opponent if ply % 2 else perfect)(solution, position)
                board.push_uci(uci(position, move))
                position = solution.game.do_move(position, move)
                if board.is_checkmate():
                    break
            assert board.is_checkmate()
            assert ply + 1 == plies or opponent is not perfect
            met[ply + 1 < plies] += 1
    assert met[False] >= games
