"""Games of chess from the start between `retrograde uci` and another engine, on clocks.

    python -m benchmarks.chess_match PROGRAM [--option NAME=VALUE]... [--seconds 10] [--increment 0.1] [--games 100]

There are 50 openings of a move by each side. Each is played twice: each engine has White once. Games end by the rules;
repetitions and fifty moves are claimed, and an engine whose time is up loses. Needs python-chess.
"""

import argparse
import itertools
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from math import sqrt

import chess
import chess.engine

OURS = [sys.executable, "-m", "retrograde", "uci"]
FIRST = ("e4", "d4", "c4", "Nf3", "g3")
REPLIES = ("e5", "c5", "e6", "c6", "d5", "Nf6", "d6", "g6", "Nc6", "b6")
POINTS = {"won": 1.0, "drawn": 0.5, "lost": 0.0}


def play(
    engines: Sequence[chess.engine.SimpleEngine], opening: Sequence[str], seconds: float, increment: float
) -> tuple[chess.Board, bool | None]:
    """Play a game from an *opening*; return (the last position, the winner's colour), with None for a draw.

    *engines* are those of Black and of White. Each has *seconds*, and *increment* more after each move.
    """
    board = chess.Board()
    for move in opening:
        board.push_san(move)
    left, game = [seconds, seconds], object()
    while (outcome := board.outcome(claim_draw=True)) is None:
        clocks = chess.engine.Limit(black_clock=left[0], white_clock=left[1], black_inc=increment, white_inc=increment)
        began = time.monotonic()
        move = engines[board.turn].play(board, clocks, game=game).move
        left[board.turn] -= time.monotonic() - began
        if left[board.turn] < 0 or move is None:
            return board, not board.turn
        left[board.turn] += increment
        board.push(move)
    return board, outcome.winner


def main(arguments: list[str] | None = None) -> None:
    """Play the match; print each game, then the score."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", nargs="+", help="the other engine, which speaks UCI, and its arguments")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the other")
    parser.add_argument("--seconds", type=float, default=10, help="each engine's time for the game")
    parser.add_argument("--increment", type=float, default=0.1, help="seconds added after each move")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--at-once", type=int, default=1, help="games played at the same time")
    options = parser.parse_args(arguments)
    theirs = dict(option.split("=", 1) for option in options.option)
    openings = [(first, reply) for reply, first in itertools.product(REPLIES, FIRST)]
    results: Counter[str] = Counter()

    def play_number(number: int) -> None:
        """Play a game of the match, with fresh engines, and print it."""
        opening, colour = openings[number // 2 % len(openings)], number % 2 == 0
        with ExitStack() as stack:
            ours, other = (
                stack.enter_context(chess.engine.SimpleEngine.popen_uci(program, timeout=60))
                for program in (OURS, options.program)
            )
            other.configure(theirs)
            ours.ping()
            engines = (other, ours) if colour else (ours, other)
            board, winner = play(engines, opening, options.seconds, options.increment)
        result = "drawn" if winner is None else "won" if winner == colour else "lost"
        results[result] += 1
        name = "White" if colour else "Black"
        print(f"{number + 1:>4}  {name}  {' '.join(opening):<8} {result:<6} {board.fullmove_number} moves", flush=True)
        print("      " + chess.Board().variation_san(board.move_stack), flush=True)

    with ThreadPoolExecutor(options.at_once) as executor:
        list(executor.map(play_number, range(options.games)))
    games = sum(results.values())
    score = sum(POINTS[result] * count for result, count in results.items()) / games
    spread = sqrt(sum((POINTS[result] - score) ** 2 * count for result, count in results.items())) / games
    counts = ", ".join(f"{results[result]} {result}" for result in POINTS)
    print(f"\n{games} games: {counts}; {100 * score:.1f} % (standard error {100 * spread:.1f})")


if __name__ == "__main__":
    main()
