"""Writes the folder of a published site: pages, pictures, answers and databases.

    index.html, game.html, static/     the page of `serve`; static/backend.js reads what is below instead of asking
    gallery.json                       what the gallery shows
    games/GAME/                        a picture and the answers that are written beforehand (written.py)
    databases/GAME.h5                  the databases, unchanged; GAME.h5.index.gz says where their frames lie
    python/                            Python for larger games (python.py)

All addresses are relative, so a site works at any path of a host.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, cast

from retrograde.cli.web.answers import answer_text
from retrograde.cli.web.gallery import Card, Gallery, card, names_in
from retrograde.cli.web.published.python import write_python
from retrograde.cli.web.published.written import write_answers, write_packed
from retrograde.cli.web.shelf import read_facts
from retrograde.databases import Database, DatabaseFile, NoDatabase
from retrograde.databases.location import database_path
from retrograde.databases.plain import index_of
from retrograde.databases.slots.database import SlotsDatabase
from retrograde.games import RetrogradeError
from retrograde.games.contract.picture import board_svg
from retrograde.solver.play.solution import Solution
from retrograde.solver.runtime.scratch import without_empty_folders

STATIC = Path(__file__).parent.parent / "static"
SCRIPTS = "backend.js", "worker.js"
PAGES = {"gallery.html": "index.html", "index.html": "game.html"}
"""The pages of `serve`, and their names in a site."""
PARTS = ("index.html", "game.html", "gallery.json", "static", "games", "databases", "python", "LICENCES.txt")
"""What a site consists of; anything else in its folder is left alone."""
WHOLE = 4 << 20
"""Databases of at most this many bytes are fetched whole: one request is quicker than hundreds."""
POLICY = (
    "default-src 'self'; script-src 'self'{}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'"
)


class NotASite(RetrogradeError):
    """The folder holds something else than a published site."""


class GameOnSite(NamedTuple):
    """What was published of a game: whether all positions have answers."""

    variant: str
    positions: int
    whole: bool


def publish(solutions: Sequence[Solution], folder: Path, pyodide: Path | None = None) -> Iterator[GameOnSite]:
    """Write a site with these games in place of an older one, and yield what was published of each.

    *pyodide* is a folder or an npm package with Pyodide; without it, larger games have their first moves only. Raise
    NotASite if the folder has other files, or NotPyodide.
    """
    if folder.exists() and not (folder / "gallery.json").exists() and any(folder.iterdir()):
        raise NotASite(f"{str(folder)!r} has files, and none of a published site; name a new or an empty folder")
    with without_empty_folders(folder / "index.html"):
        folder.mkdir(parents=True, exist_ok=True)
        yield from write_site(solutions, folder, pyodide)


def write_site(solutions: Sequence[Solution], folder: Path, pyodide: Path | None) -> Iterator[GameOnSite]:
    """Write a site into a folder, as `publish` does."""
    with TemporaryDirectory(dir=folder, prefix=".publish") as new_site:
        site, cards = Path(new_site), []
        write_pages(site, pyodide is not None)
        if pyodide:
            write_python(site, pyodide)
        for solution in solutions:
            yield write_game(site, solution, pyodide is not None)
            cards.append(card_of(solution))
        cards.sort(key=lambda one: one.title.casefold())
        gallery = Gallery(cards=cards, games=[], may_solve=False, token="", solves=[])
        (site / "gallery.json").write_text(answer_text(gallery), encoding="utf-8")
        # Only now is the older site replaced, part by part.
        for part in PARTS:
            old = folder / part
            if old.is_dir():
                shutil.rmtree(old)
            else:
                old.unlink(missing_ok=True)
            if (site / part).exists():
                (site / part).replace(old)


def write_pages(site: Path, python: bool) -> None:
    """Write the pages of `serve`, with a back end that reads files; with *python*, pages that may run WebAssembly."""
    shutil.copytree(STATIC, site / "static", ignore=lambda *_: PAGES)
    for name in SCRIPTS:
        shutil.copy(Path(__file__).with_name(name), site / "static" / name)
    policy = POLICY.format(" 'wasm-unsafe-eval'" if python else "")
    licences = '<footer><a href="LICENCES.txt">Licences</a></footer>\n' if python else ""
    for source, name in PAGES.items():
        head, charset, rest = (STATIC / source).read_text(encoding="utf-8").partition('<meta charset="utf-8">\n')
        meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        rest = rest.replace("</body>", f"{licences}</body>")
        (site / name).write_text(head + charset + meta + rest, encoding="utf-8")


def write_game(site: Path, solution: Solution, python: bool) -> GameOnSite:
    """Write a game: its picture, its answers and its database, with those on which it rests. With *python*, browsers
    compute the answers of larger games."""
    folder = site / "games" / database_path(solution.variant, "").stem
    folder.mkdir(parents=True)
    write_database(site / "databases", solution.database)
    (folder / "picture.svg").write_text(board_svg(solution.game, solution.start_or_example), encoding="utf-8")
    whole = write_answers(solution, folder, python)
    return GameOnSite(solution.variant, solution.database.file.positions, whole)


def write_database(folder: Path, database: Database) -> None:
    """Copy a database, with an index of its frames, and the databases that have the tiers it lacks.

    (An ending of chess lacks those after a capture.) Missing databases are left out.
    """
    source = database.file.path
    folder.mkdir(exist_ok=True)
    shutil.copy(source, folder / source.name)
    index = {**index_of(cast(DatabaseFile, database.file)), "whole": database.file.bytes <= WHOLE}
    write_packed(folder / f"{source.name}.index.gz", answer_text(index).encode())
    if isinstance(database, SlotsDatabase):
        for variant in database.rests_on:
            with suppress(NoDatabase), database.open_other(variant) as other:
                write_database(folder, other)


def card_of(solution: Solution) -> Card:
    """Return what the gallery shows of a game."""
    facts = read_facts(solution.database.file.path)
    return card(solution.variant, facts, names=names_in(solution.game))
