"""The databases that are served: opened when they are asked for, and anew when their file has become another."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from retrograde.databases import DamagedDatabase, NoDatabase, NotADatabase, OtherRules, VersionTooNew, open_database
from retrograde.databases.location import database_path, list_databases
from retrograde.games.catalog import load_game, variant
from retrograde.games.game import Game, RetrogradeError, VariantError
from retrograde.solver.solution import Solution

State = tuple[int, int, int]


class Unavailable(RetrogradeError):
    """A database is there, but cannot be read at the moment: it may be being replaced."""


class Library:
    """The solutions of the variants given, or where none is given, of all whose databases lie in the usual place.

    It is for one thread: requests are answered one after another.
    """

    def __init__(self, variants: Sequence[str] = ()):
        self.opened: dict[Path, tuple[State, Solution]] = {}
        games = [load_game(text) for text in variants]
        self.games = {variant(game): game for game in games}
        """The games given, by variant: a path to a user's rule module is known by no other name."""
        for text in self.games:
            self.solution(text)  # so that what is missing is told at once

    def variants(self) -> list[str]:
        """Return the variants there are."""
        if self.games:
            return list(self.games)
        found = []
        for path in list_databases():
            try:
                found.append(self.solution_at(path, None).database.file.variant)
            except RetrogradeError:
                continue  # what cannot be read is no variant to offer
        return found

    def solution(self, text: str) -> Solution:
        """Return the solution of a variant.

        Raises VariantError where there is no such variant, NoDatabase where it is not served, and Unavailable where its
        database cannot be read.
        """
        game = self.games.get(text) or self.named(text)
        if self.games and variant(game) not in self.games:
            raise NoDatabase(f"{variant(game)} is not served here")
        path = database_path(variant(game))
        if not path.exists():
            raise NoDatabase(f"no database for {variant(game)}; make it with: retrograde solve {variant(game)}")
        return self.solution_at(path, game)

    def named(self, text: str) -> Game:
        """Return the game of a variant that was not given; its text may come from anywhere, so it may name no file."""
        if re.search(r"[/\\]|\.py", text):
            raise VariantError(f"no game {text!r} is served here")
        try:
            return load_game(text)
        except VariantError:
            for path, (_, solution) in self.opened.items():
                if solution.database.file.variant == text and path.exists():
                    return solution.game  # the rules lie beside the database
            raise

    def solution_at(self, path: Path, game: Game | None) -> Solution:
        """Return the solution in a file, as it is now."""
        try:
            about = os.stat(path)
            state = (about.st_ino, about.st_mtime_ns, about.st_size)
            held = self.opened.get(path)
            if held and held[0] == state:
                return held[1]
            solution = Solution(open_database(path, game=game))
        except (OSError, NoDatabase, NotADatabase, DamagedDatabase, OtherRules, VersionTooNew) as error:
            raise Unavailable(f"{path.name} cannot be read now: {error}") from error
        if held:
            held[1].close()
        self.opened[path] = state, solution
        return solution

    def of_game(self, name: str) -> Iterable[Solution]:
        """Yield the solutions of all variants of a game."""
        for text in self.variants():
            if text.partition(":")[0] == name:
                yield self.solution(text)

    def close(self) -> None:
        """Close all databases."""
        for _, solution in self.opened.values():
            solution.close()
        self.opened.clear()
