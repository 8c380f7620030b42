"""Moves where no database has the position: by an oracle that searches, within the clock.

The rules of an ending are compiled once for all endings, in a thread of its own, and never on the clock: a move that
cannot wait for that, or for a search, is any legal one.
"""

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from threading import Thread
from time import monotonic

from retrograde.cli.progress import polled, search_progress
from retrograde.cli.uci.lines import SURE, score
from retrograde.games.chess import Chess
from retrograde.games.chess.san import uci
from retrograde.games.game import LOSE, UNDECIDED, WIN
from retrograde.solver.oracles.searching import SearchingOracle
from retrograde.solver.play.choice import Choice
from retrograde.solver.work.progress import Progress

SECONDS = 1.0
"""How long a move is searched for where there is no clock."""
SHORTEST = 0.6
"""Seconds with less than which no search is begun."""
AROUND = 0.4
"""Seconds that are kept for what is done before and after a search, by rules that are not compiled..."""
SHARE = 0.2
"""...or the share of the time, if that is more."""
SPARE = 0.05
"""Seconds before the deadline at which an answer is no longer waited for."""
LEAST_TABLE = 16
"""MiB of the table at least."""
MOST_SEARCHED = 4
"""Endings whose searches are kept."""


class Searches:
    """Who searches for which ending; *say* is given lines of `info`, and *remark* what a person should know."""

    def __init__(self, say: Callable[[str], object], remark: Callable[[str], object]):
        self.say, self.remark = say, remark
        self.thread = ThreadPoolExecutor(1, "search")
        """Where moves are searched, one after another, so that a clock need not wait for a late answer."""
        self.coming: dict[tuple[str, int], Future[SearchingOracle]] = {}
        """Those who search, or are getting ready, by ending and size of the table."""

    def best(self, material: str, fen: str, moves: list[str], deadline: float | None, table: int) -> str | None:
        """Return a move, one of some, found by the deadline, with a table of so many MiB; None where there is no time.

        Without a deadline it takes a second, and before that whatever it takes to compile the rules.
        """
        oracle = self.ready(material, max(table, LEAST_TABLE), deadline)
        if oracle is None:
            self.remark("the rules are being compiled; until then any legal move is made")
            return None
        left = SECONDS if deadline is None else deadline - monotonic()
        if left < SHORTEST:
            self.remark("there is no time for a search; any legal move is made")
            return None
        nodes, began = oracle.looked_at, monotonic()
        try:
            with polled(self.so_far, search_progress(oracle)):
                coming = self.thread.submit(chosen, oracle, fen, moves, left - max(AROUND, SHARE * left))
                choice, move, plies = coming.result(None if deadline is None else deadline - SPARE - monotonic())
        except TookTooLong:
            self.remark("no move was found in time; any legal one is made")
            return None
        passed, looked = round(1000 * (monotonic() - began)), oracle.looked_at - nodes
        self.say(f"info depth {plies} score {score_of(choice)} nodes {looked} time {passed} pv {move}")
        if choice.value == UNDECIDED:
            self.remark("what the move is worth was not proved in that time")
        return move

    def ready(self, material: str, table: int, deadline: float | None) -> SearchingOracle | None:
        """Return who searches for an ending; None where nobody is ready by the deadline."""
        key = material, table
        if key not in self.coming:
            while len(self.coming) >= MOST_SEARCHED:
                self.coming.pop(next(iter(self.coming)))
            future: Future[SearchingOracle] = Future()
            self.coming[key] = future
            Thread(target=self.prepare, args=(material, table, future), daemon=True).start()
        try:
            wait = None if deadline is None else max(deadline - monotonic() - AROUND, 0.0)
            return self.coming[key].result(wait)
        except TookTooLong:
            return None

    @staticmethod
    def prepare(material: str, table: int, future: "Future[SearchingOracle]") -> None:
        """Make an oracle for an ending, and compile its rules."""
        try:
            oracle = SearchingOracle(Chess(material), SECONDS, os.cpu_count() or 1, table << 20)
            oracle.prepare()
            future.set_result(oracle)
        except Exception as error:
            future.set_exception(error)

    def so_far(self, progress: Progress) -> None:
        """Tell how many positions have been looked at."""
        self.say(f"info nodes {progress.done} nps {round(progress.rate)} time {round(1000 * progress.seconds)}")


def chosen(oracle: SearchingOracle, fen: str, moves: list[str], seconds: float) -> tuple[Choice, str, int]:
    """Return the best of some moves as far as is found in so many seconds, its name, and how many plies are looked
    ahead: to the end, or within which there is no win."""
    position = oracle.game.read(fen)
    choices = [one for one in oracle.best(position, seconds) if uci(position, one.move) in moves]
    if not choices:
        choices = [one for one in oracle.moves(position, 0) if uci(position, one.move) in moves]
    choice = choices[0]
    far = choice.remoteness if choice.remoteness is not None else oracle.known(choice.position, 0).no_end_within
    return choice, uci(position, choice.move), far + 1


def score_of(choice: Choice) -> str:
    """Return the score of a move, for who makes it.

    >>> [score_of(Choice(0, "", 0, *known)) for known in ((LOSE, 2), (WIN, None), (UNDECIDED, None))]
    ['mate 2', 'cp -20000', 'cp 0']
    """
    if choice.remoteness is None and choice.value in (WIN, LOSE):
        return f"cp {SURE if choice.value == LOSE else -SURE}"
    return score(choice.value, choice.remoteness)
