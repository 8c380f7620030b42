"""The databases that the server answers from: opened on request, and opened again if their file has changed.

The text of a request names a game, or a database on the shelf: never a file, never code.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from retrograde.cli.failure import message_of
from retrograde.cli.web.shelf import DatabaseFacts, Shelf, State, installed_games, is_there, state_of
from retrograde.databases import NoDatabase, OtherRules, open_database
from retrograde.databases.location import database_path, metric_named
from retrograde.databases.open import no_database
from retrograde.games.catalog import load_game, named_game, variant
from retrograde.games.contract.game import Game, RetrogradeError, VariantError, metric_of
from retrograde.solver.play.oracle import Oracle
from retrograde.solver.play.solution import Solution, solution_of
from retrograde.solver.play.weights import load_weights

if TYPE_CHECKING:
    from retrograde.solver.play.oracles.searching import SearchingOracle

LONGEST_NAME = 255
"""The greatest length of a file's name, in bytes."""
MOST_OPEN = 64
"""The number of databases open at once. Beyond it, the least recently used one is closed."""

MOST_SEARCHING = 2
"""The number of games without a database that are searched at once, each with a table. Beyond it, the oldest is
closed."""
TABLE = 1 << 27
"""The size of a search's transposition table, in bytes."""
SECONDS = 3.0
"""The default time limit of a search."""

Result = TypeVar("Result")

log = logging.getLogger(__name__)


class Unavailable(RetrogradeError):
    """A database exists but cannot be read at the moment, perhaps because it is being replaced."""


class Library:
    """The solutions of the given variants, or of all databases in the database folder.

    If it *searches*, it also answers for games without a database. One thread answers all questions to databases
    (`answer`, `ask`), another runs all searches. Any thread may call `all` and `of_game`.
    """

    def __init__(self, variants: Sequence[str] = (), seconds: float = SECONDS, searches: bool = False):
        self.shelf = Shelf()
        self.seconds, self.searches = seconds, searches or bool(variants)
        self.searched: dict[str, SearchingOracle] = {}
        self.searching_thread = ThreadPoolExecutor(1, "search")
        self.database_thread = ThreadPoolExecutor(1, "databases")
        self.opened: dict[Path, tuple[State, Solution]] = {}
        """Least recently used first."""
        named = [metric_named(text) for text in variants]
        games = [load_game(text) for text, _ in named]  # from the command line, so they may be paths
        self.games = {variant(game): game for game in games}
        """The given games by variant: the only way to name a user's rule module."""
        self.metrics = {variant(game): metric for game, (_, metric) in zip(games, named, strict=True)}
        """The metric that was given with each of them, or ""."""
        for name, metric in self.metrics.items():
            self.oracle(f"{name}@{metric}" if metric else name)  # so that a missing database is reported at once

    def oracle(self, text: str) -> Oracle:
        """Return the solution of a variant, such as "nim:3", or an oracle that searches if there is no database.

        Raises what `solution` does. That is NoDatabase also if there is none and the game may not be searched.
        """
        try:
            return self.solution(text)
        except NoDatabase:
            if (game := self.game_to_search(text)) is None:
                raise
        return self.searching(game)

    def game_to_search(self, text: str) -> Game | None:
        """Return the game of a variant; None if the library does not search, or not this game, or does not know it."""
        if not self.searches:
            return None
        try:
            game = self.games.get(text) or named_game(text)
        except VariantError:
            return None
        return game if not self.games or variant(game) in self.games else None

    def searching(self, game: Game) -> "SearchingOracle":
        """Return the oracle that searches a game. It keeps its results until others need its space."""
        from retrograde.solver.play.oracles.open import searching_oracle  # which imports numba: only searches need it

        name = variant(game)
        if (oracle := self.searched.pop(name, None)) is None:
            while len(self.searched) >= MOST_SEARCHING:
                self.searched.pop(next(iter(self.searched))).close()  # the least recently used
            threads = max(1, (os.cpu_count() or 2) - 1)
            oracle = searching_oracle(with_stored_weights(game), self.seconds, threads, TABLE)
        self.searched[name] = oracle
        return oracle

    async def answer(self, question: Callable[[], Result]) -> Result:
        """Return the answer to a question that needs databases, from the database thread."""
        return await asyncio.get_running_loop().run_in_executor(self.database_thread, question)

    async def ask(self, text: str, question: Callable[[Oracle], Result]) -> Result:
        """Return the answer to a question about a variant; a search has its own thread. Raise what `oracle` does."""

        def by_database() -> tuple[Result | None, Oracle | None]:
            """Return (the answer, None), or (None, the oracle) if that must search."""
            oracle = self.oracle(text)
            return (question(oracle), None) if isinstance(oracle, Solution) else (None, oracle)

        answer, searching = await self.answer(by_database)
        if searching is None:
            return cast("Result", answer)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.searching_thread, question, searching)

    def all(self) -> list[DatabaseFacts]:
        """Return the facts about everything that is served, without reading any rules."""
        if self.games:
            return [facts for text in self.games if (facts := self.facts(text, self.metrics[text]))]
        return self.shelf.all()

    def facts(self, name: str, metric: str) -> DatabaseFacts | None:
        """Return the facts about the database of a variant with a metric, "" for the game's own."""
        return self.shelf.facts(database_path(name, metric=metric)) if metric else self.shelf.find(name)

    def of_game(self, name: str) -> list[DatabaseFacts]:
        """Return the facts about all variants of a game."""
        return [facts for facts in self.all() if facts.game == name]

    def solution(self, text: str) -> Solution:
        """Return the solution of a variant, as in "tictactoe", or by another metric, as in "tictactoe@score".

        Raise VariantError if there is no such variant, NoDatabase if it is not served, or Unavailable if its database
        cannot be read.
        """
        if len(text.encode(errors="replace")) > LONGEST_NAME:
            raise NoDatabase(f"no variant has so long a name as {text[:40]!r}…")
        plain, metric = metric_named(text)
        game, unknown = self.games.get(plain), None
        if game is None:
            try:
                game = named_game(plain)
            except VariantError as error:  # no error yet: there may be a database of that name
                unknown = VariantError(str(error).partition("; list all games with")[0])  # no request names a file
        name = variant(game) if game else plain
        if self.games and name not in self.games:
            raise unknown or NoDatabase(f"{name} is not served here")
        metric = metric or self.metrics.get(name, "")
        if game and metric == metric_of(game):
            metric = ""  # the file of a game's own metric has no metric in its name
        if facts := self.facts(name, metric):
            return self.open(facts, game)
        if is_there(database_path(name, metric=metric)):
            raise Unavailable(unreadable(f"{name}@{metric}" if metric else name))
        raise unknown or no_database(name, metric)

    def open(self, facts: DatabaseFacts, game: Game | None = None) -> Solution:
        """Return the solution in a file as it is now; raise Unavailable if it cannot be read. *game* has its rules, if
        given."""
        path, state = facts.path, state_of(facts.path)
        earlier_state, solution = self.opened.pop(path, (None, None))
        if solution and state and earlier_state == state:
            self.opened[path] = state, solution  # now the most recently used
            return solution
        if solution:
            solution.close()
        if state is None:
            raise Unavailable(f"the database of {facts.variant} is gone; it may be being replaced")
        while len(self.opened) >= MOST_OPEN:
            self.opened.pop(next(iter(self.opened)))[1].close()
        try:
            if game is None and facts.game in installed_games():
                game = named_game(facts.variant)
            solution = solution_of(open_database(path, game=game))
        except (RetrogradeError, OSError) as error:
            log.error("%a cannot be read: %a", os.fspath(path), message_of(error))
            raise Unavailable(why_not(facts.variant, error)) from error
        solution.game = with_stored_weights(solution.game)
        self.opened[path] = state, solution
        return solution

    def close(self) -> None:
        """Close all databases, and end all searches."""
        for oracle in self.searched.values():
            oracle.close()
        self.searched.clear()
        for thread in (self.database_thread, self.searching_thread):
            thread.shutdown(cancel_futures=True)
        for _, solution in self.opened.values():
            solution.close()
        self.opened.clear()


def with_stored_weights(game: Game) -> Game:
    """Return a game with the weights in its file in the database folder; without them if the file is wrong."""
    try:
        return load_weights(game)
    except RetrogradeError as error:
        log.error("%a", message_of(error))
        return game


def why_not(name: str, error: Exception) -> str:
    """Return why a database cannot be opened, without naming folders of this machine."""
    if isinstance(error, OtherRules):
        return f"the database of {name} was made with other rules; make it again with: retrograde solve {name} --fresh"
    if isinstance(error, VariantError):
        return f"the rules of {name} are not at hand; give their file, as in: retrograde serve ./mygame.py"
    return unreadable(name)


def unreadable(name: str) -> str:
    """Return the message for a database that cannot be read."""
    return f"the database of {name} cannot be read now; what is wrong with it: retrograde info {name}"
