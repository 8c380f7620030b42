"""Answers the page in the browser, by Pyodide: with the rules, `view`, and databases read in plain Python."""

import gzip
import json
import pickle
from base64 import b64decode
from collections.abc import Callable
from functools import partial
from typing import Any

from retrograde.cli.web import view
from retrograde.cli.web.answers import answer_text
from retrograde.cli.web.metric_texts import count_at
from retrograde.databases import Database, NoDatabase
from retrograde.databases.location import database_path
from retrograde.databases.open import database_of, matching_game
from retrograde.databases.plain import PlainFile
from retrograde.databases.slots.database import SlotsDatabase
from retrograde.games import Game, RetrogradeError
from retrograde.games.catalog import variant_of_same_rules
from retrograde.games.contract.game import metric_of
from retrograde.solver.play.oracle import Oracle
from retrograde.solver.play.solution import solution_of

BLOCKS = 1024
"""Decoded blocks that are kept of a database: to have one again costs a request."""

GZIP = b"\x1f\x8b"
"""How a packed file begins, unless the host has let the browser unpack it."""

Read = Callable[..., Any]
"""Returns a file of the site as JavaScript's Uint8Array, or its bytes from a begin to an end; None if that fails."""


class HostFailed(RetrogradeError):
    """The host of the site does not send a file."""


class PublishedSite:
    """The games of a published site, each opened when it is first asked about."""

    def __init__(self, read: Read):
        self.read_by_browser = read
        self.solutions: dict[str, Oracle] = {}

    def read(self, path: str, *span: int) -> bytes:
        """Return a file of the site, or its bytes from a begin to an end."""
        found = self.read_by_browser(path, *span)
        if found is None:
            raise HostFailed(f"the host of this page does not send {path}; try again later")
        content: bytes = found.to_bytes()
        return content

    def solution(self, variant: str) -> Oracle:
        """Return the solution of a variant."""
        if variant not in self.solutions:
            facts = json.loads(self.read(f"games/{database_path(variant, '').stem}/facts.json"))  # the path without .h5
            game = pickle.loads(b64decode(facts["rules"]))  # safe: the site's publisher wrote it, like this page's code
            self.solutions[variant] = solution_of(self.open(facts["database"], game))
        return self.solutions[variant]

    def open(self, file: str, game: Game) -> Database:
        """Return a database of the site."""
        path = f"databases/{file}"
        packed = self.read(f"{path}.index.gz")
        index = json.loads(gzip.decompress(packed) if packed.startswith(GZIP) else packed)
        fetch: Callable[[int, int], bytes] = partial(self.read, path)
        if index["whole"]:
            content = self.read(path)
            fetch = lambda begin, end: content[begin:end]  # noqa: E731
        opened = PlainFile(index, fetch)
        database = database_of(opened, matching_game(opened, game), BLOCKS)
        if isinstance(database, SlotsDatabase):
            database.open_other = partial(self.open_other, database)
        return database

    def open_other(self, database: Database, variant: str) -> Database:
        """Return the database of another variant, on which one rests."""
        game = variant_of_same_rules(database.game, variant)
        metric = "" if database.metric == metric_of(game) else database.metric
        try:
            return self.open(database_path(variant, "", metric).name, game)
        except HostFailed as error:
            raise NoDatabase(str(error)) from error

    def answer(self, path: str, asked: str) -> tuple[str, int]:
        """Return the answer to a request of the page as JSON, and the status that a server would give it. *asked* has
        the request's parameters, as JSON."""
        try:
            return answer_text(self.answer_to(path, **json.loads(asked))), 200
        except RetrogradeError as error:
            return answer_text(str(error)), 404

    def answer_to(
        self, path: str, variant: str, position: str | None = None, moves: str | None = None, count: int | None = None,
        **asked: Any,
    ) -> object:  # fmt: skip
        """Return the answer to a request, as the server has it (cli/web/app.py)."""
        oracle, names = self.solution(variant), view.moves_in(moves or "")
        if path == "setup":
            return view.set_up(oracle, asked["pieces"], asked["turn"])
        start = view.position_in(oracle, position)
        count = count_at(oracle, position, count)
        if path == "position":
            return view.show_position(oracle, start, bool(asked.get("line")), 0.0, count)
        if path == "game":
            return view.show_game(oracle, start, names, "" if position == "random" else position or "", count)
        if path == "reply":
            return view.reply(oracle, start, asked["skill"], None, count)
        if path == "scorecard":
            return view.scorecard(oracle, start, names, count)
        if path == "pgn":
            players = asked["first"], asked["second"]
            return view.pgn(oracle, start, names, players, asked["finished"], count or 0)
        raise RetrogradeError(f"a published site does not answer {path}")
