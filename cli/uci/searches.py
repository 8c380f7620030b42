"""Moves for positions without a database, found by a searching oracle within the clock.

The rules of an ending are compiled once for all endings, in a separate thread. No move waits for that longer than its
clock allows.
"""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

from retrograde.cli.progress import poll_progress, search_progress
from retrograde.cli.uci.clock import Clock, in_background
from retrograde.cli.uci.lines import SURE, score
from retrograde.games.chess import Chess
from retrograde.games.chess.san import uci
from retrograde.games.contract.choice import Choice
from retrograde.games.contract.game import LOSE, UNDECIDED, WIN
from retrograde.solver.play.oracles.searching import SearchingOracle
from retrograde.solver.play.weights import load_weights
from retrograde.solver.runtime.progress import Progress

SECONDS = 1.0
"""Seconds of search for a move without a clock."""
SHORTEST = 0.6
"""With fewer seconds than this, no search begins."""
AROUND = 0.4
"""Seconds kept for work before and after a search, in rules that are not compiled..."""
SHARE = 0.2
"""...or this share of the time, if that is more."""
EARLY = SECONDS / 4
"""A search of one second that ends sooner than this has nothing left to prove."""
SPARE = 0.05
"""Seconds before the deadline when the engine stops waiting for an answer."""
LEAST_TABLE = 16
"""The least size of the transposition table, in MiB."""
FOR_BEST = 0.5
"""The share of the time for the best move, if several are shown; the rest is for the others."""
MOST_SEARCHED = 4
"""The number of endings whose searches are kept."""


class EndingSearches:
    """The searches of endings. *say* prints lines of `info`, *remark* prints a text for people."""

    def __init__(self, say: Callable[[str], object], remark: Callable[[str], object]):
        self.say, self.remark = say, remark
        self.thread = ThreadPoolExecutor(1, "search")
        """Runs the searches one after another, so that a clock does not have to wait for a late answer."""
        self.searching: Future[Any] = Future()
        """The last search."""
        self.searching.set_result(None)
        self.oracles: dict[tuple[str, int], Future[SearchingOracle]] = {}
        """Oracles that are ready or compiling, by ending and table size."""

    def best(
        self, material: str, fen: str, moves: list[str], clock: Clock, options: Mapping[str, int]
    ) -> str | None:  # fmt: skip
        """Return the best of some moves within the clock, a second without one; None if time is too short.

        *material* names the ending, such as "KQK". An infinite search goes on until `stop`, or until nothing is left to
        prove.
        """
        table, most = options["Hash"], options["MultiPV"]
        if clock.seconds is None and not clock.infinite:
            clock = clock.within(SECONDS)
        oracle = self.compiled_in_time(material, max(table, LEAST_TABLE), clock)
        if oracle is None:
            self.remark("the rules are being compiled; until then the engine looks two plies ahead")
            return None
        if clock.left is not None and clock.left < SHORTEST:
            self.remark("there is no time for a search; the engine looks two plies ahead")
            return None
        began = clock.passed
        move = self.search_once(oracle, fen, moves, clock, most)
        # Each search lasts SECONDS; one that ended early has nothing left to prove.
        while clock.infinite and not clock.is_over and clock.passed - began > EARLY:
            began = clock.passed
            move = self.search_once(oracle, fen, moves, clock, most) or move
        if move is None:
            self.remark("no move was found in time; the engine looks two plies ahead")
        return move

    def search_once(
        self, oracle: SearchingOracle, fen: str, moves: list[str], clock: Clock, most: int = 1
    ) -> str | None:  # fmt: skip
        """Search once within the clock. Print at most *most* of the best of *moves*, as UCI writes them; return the
        first.

        Return None if there is no move when the clock ends. *fen* is the position.
        """
        if not clock.await_result(self.searching, SPARE):  # an earlier search that is still stopping
            return None
        oracle.stopped, nodes_before = False, oracle.looked_at
        seconds_left = SECONDS if clock.left is None else clock.left
        seconds = seconds_left - max(AROUND, SHARE * seconds_left)
        found: list[MoveFound] | None = None
        with poll_progress(self.print_progress, search_progress(oracle)):
            for count, share in ((1, 1.0),) if most == 1 else ((1, FOR_BEST), (most, 1.0 - FOR_BEST)):
                search = self.thread.submit(choose, oracle, fen, moves, share * seconds, count)
                self.searching = search
                if not clock.await_result(search, SPARE):
                    oracle.stop()
                    break
                found = keep_first(found, search.result())
        if found is None:
            return None
        nodes = oracle.looked_at - nodes_before
        for rank, one in enumerate(found, 1):
            about = f"{f'multipv {rank} ' * (most > 1)}score {score_of(one.choice)} nodes {nodes}"
            self.say(f"info depth {one.plies} {about} time {clock.milliseconds} pv {one.name}")
        choice, move, _ = found[0]
        if choice.value == UNDECIDED and not clock.infinite:
            self.remark("what the move is worth was not proved in that time")
        return move

    def compiled_in_time(self, material: str, table: int, clock: Clock) -> SearchingOracle | None:
        """Return the oracle of an ending, such as "KQK"; None if its rules are not compiled in time.

        *table* is the size of its transposition table in MiB. The wait ends AROUND seconds before the clock, or when
        the clock is stopped; compiling goes on.
        """
        key = material, table
        if key not in self.oracles:
            while len(self.oracles) >= MOST_SEARCHED:
                del self.oracles[next(iter(self.oracles))]  # the oldest
            self.oracles[key] = in_background(partial(compiled_oracle, material, table))
        oracle = self.oracles[key]
        return oracle.result() if clock.await_result(oracle, AROUND) else None

    def print_progress(self, progress: Progress) -> None:
        """Print how many positions were visited."""
        self.say(f"info nodes {progress.done} nps {round(progress.rate)} time {round(1000 * progress.seconds)}")


def compiled_oracle(material: str, table: int) -> SearchingOracle:
    """Return an oracle for an ending whose rules are compiled; *table* is in MiB."""
    oracle = SearchingOracle(load_weights(Chess(material)), SECONDS, os.cpu_count() or 1, table << 20)
    oracle.prepare()
    return oracle


class MoveFound(NamedTuple):
    """A move that a search has found, its UCI name, and the depth in plies.

    If the search has found how the game ends after the move, the depth is the plies to that end, the move included.
    Otherwise the search has ruled out an end within n plies after the move, and the depth is n + 1.
    """

    choice: Choice
    name: str
    plies: int


def keep_first(before: list[MoveFound] | None, found: list[MoveFound]) -> list[MoveFound]:
    """Return moves found later, as many, with the move found *before* in front if none is proved to be better."""
    if not before or found[0].choice.value != UNDECIDED:
        return found
    first = next((one for one in found if one.name == before[0].name), before[0])
    return [first, *(one for one in found if one.name != first.name)][: len(found)]


def choose(oracle: SearchingOracle, fen: str, moves: list[str], seconds: float, most: int = 1) -> list[MoveFound]:
    """Search for *seconds*, and return at most *most* of the best of *moves*, the best first."""
    position = oracle.game.read(fen)
    choices = [] if most > 1 else oracle.best(position, seconds)
    choices = [choice for choice in choices if uci(position, choice.move) in moves]
    if not choices:  # several are wanted, or none of the best is among *moves*: take any that is, without a search
        choices = oracle.moves(position, seconds if most > 1 else 0)
        choices = [choice for choice in choices if uci(position, choice.move) in moves]
    found = []
    for choice in choices[:most]:
        plies = choice.remoteness  # from the position after the move
        if plies is None:
            plies = oracle.probe(choice.position, 0).no_end_within
        found.append(MoveFound(choice, uci(position, choice.move), plies + 1))
    return found


def score_of(choice: Choice) -> str:
    """Return the score of a move, for the player who makes it.

    >>> [score_of(Choice(0, "", 0, *known)) for known in ((LOSE, 2), (WIN, None), (UNDECIDED, None))]
    ['mate 2', 'cp -20000', 'cp 0']
    """
    if choice.remoteness is None and choice.value in (WIN, LOSE):
        return f"cp {SURE if choice.value == LOSE else -SURE}"
    return score(choice.value, choice.remoteness)
