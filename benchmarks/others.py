"""Time the search beside the searches of other libraries: pip install open_spiel easyAI; python benchmarks/others.py

The start of each game is searched by OpenSpiel's alpha-beta in Python (over games in C++), by easyAI's Negamax, and by
ours, each on one thread, ours after the rules are compiled; all must find the same. A library that is not installed is
left out. What counts as a position looked at is each library's own: the last column compares the time that it takes to
know the value, and only the one before it how fast it goes.
"""

import importlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from retrograde.games.catalog import load_game
from retrograde.games.contract.game import metric_of
from retrograde.solver.search.scores.searcher import ScoreSearch
from retrograde.solver.search.searcher import Search

SIZE = 1 << 26
RULES = Path(__file__).parent.parent / "tests" / "helpers"
DEPTH = 6
"""Plies to which Connect Four is searched from its start, where nobody can force an end by then."""


NIM = "nim(pile_sizes=4;5;6,is_misere=false)"
BOXES = "dots_and_boxes(num_rows=2,num_cols=2)"


class Told(NamedTuple):
    """The sign of what the start is worth to the first player, positions looked at, and CPU seconds."""

    sign: int
    nodes: int
    seconds: float


def ours(text: str, depth: int | None = None) -> Told:
    """Return what our search finds, to the end of the game or to a depth."""
    game = load_game(text)
    search = (ScoreSearch if metric_of(game) == "score" else Search)(game, 1, SIZE)
    look = (
        (lambda: search.score(game.start, value_only=True))
        if isinstance(search, ScoreSearch)
        else (lambda: search.find(game.start, distance=False, depth=depth))
    )
    look()
    search.make_table(search.table.layout.position_bits)  # an empty one
    began = time.process_time()
    found = look()
    return Told(int(found.at_least > 3) - int(found.at_most < 2), found.nodes, time.process_time() - began)


def spiel(text: str, depth: int = 30) -> Told:
    """Return what OpenSpiel's alpha-beta search finds."""
    module = importlib.import_module("open_spiel.python.algorithms.minimax")
    game = importlib.import_module("pyspiel").load_game(text)

    def search():
        return module.alpha_beta_search(game, maximum_depth=depth, value_function=lambda state: 0)[0]

    return timed(module, "_alpha_beta", search)


def easy(name: str, depth: int) -> Told:
    """Return what easyAI's Negamax finds."""
    module = importlib.import_module("easyAI.AI.Negamax")
    game = getattr(importlib.import_module(f"easyAI.games.{name}"), name)([None, None])

    def search():
        return module.negamax(game, depth, depth, lambda state: state.scoring(), -float("inf"), float("inf"))

    return timed(module, "negamax", search)


def timed(module, name: str, search: Callable[[], float]) -> Told:
    """Return what a search finds that calls a function of a module for each position, which are counted before."""
    function, calls = getattr(module, name), [0]

    def counted(*args, **options):
        calls[0] += 1
        return function(*args, **options)

    setattr(module, name, counted)
    try:
        search()
    finally:
        setattr(module, name, function)
    began = time.process_time()
    value = search()
    return Told((value > 0) - (value < 0), calls[0], time.process_time() - began)


GAMES: list[tuple[str, Callable[[], Told], dict[str, Callable[[], Told]]]] = [
    (
        "tictactoe",
        lambda: ours("tictactoe"),
        {"OpenSpiel": lambda: spiel("tic_tac_toe"), "easyAI": lambda: easy("TicTacToe", 9)},
    ),
    (f"connect4, {DEPTH} plies", lambda: ours("connect4", DEPTH), {"easyAI": lambda: easy("ConnectFour", DEPTH)}),
    ("connect4:5,4", lambda: ours("connect4:5,4"), {"OpenSpiel": lambda: spiel("connect_four(rows=4,columns=5)")}),
    ("nim:4+5+6", lambda: ours("nim:heaps=4+5+6"), {"OpenSpiel": lambda: spiel(NIM)}),
    ("hex.py:3", lambda: ours(f"{RULES / 'hex.py'}:3"), {"OpenSpiel": lambda: spiel("hex(board_size=3)")}),
    ("dotsandboxes:2,2", lambda: ours("dotsandboxes:2,2"), {"OpenSpiel": lambda: spiel(BOXES)}),
]


def main() -> None:
    print(f"{'':20} {'':10} {'positions':>10} {'CPU s':>9} {'k/s':>8} {'times our k/s':>14} {'times our s':>12}")
    for name, own, others in GAMES:
        mine = own()
        row(name, "ours", mine, mine)
        for library, search in others.items():
            try:
                theirs = search()
            except ModuleNotFoundError as error:
                print(f"{name:20} {library:10} is not installed ({error.name})")
                continue
            assert theirs.sign == mine.sign, f"{library} says something else of {name}"
            row(name, library, theirs, mine)


def row(name: str, library: str, told: Told, mine: Told) -> None:
    """Print how a search went, beside ours."""
    rate, our_rate = told.nodes / told.seconds, mine.nodes / mine.seconds
    figures = f"{told.nodes:10,} {told.seconds:9.4f} {rate / 1000:8.0f}"
    print(f"{name:20} {library:10} {figures} {rate / our_rate:14.4f} {told.seconds / mine.seconds:12.1f}", flush=True)


if __name__ == "__main__":
    main()
