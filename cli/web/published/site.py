"""Writes the folder of a published site: pages, pictures, answers and databases.

index.html, game.html, static/     the page of `serve`; static/backend.js reads what is below instead of asking
gallery.json                       what the gallery shows
games/GAME/                        a picture and the answers that are written beforehand (written.py)
databases/GAME.h5                  the databases, unchanged
"""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from retrograde.cli.web.answers import answer_text
from retrograde.cli.web.gallery import Card, Gallery, card, names_in
from retrograde.cli.web.published.written import write_answers
from retrograde.cli.web.shelf import read_facts
from retrograde.databases.location import database_path
from retrograde.games import RetrogradeError
from retrograde.solver.play.picture import board_svg
from retrograde.solver.play.solution import Solution

STATIC = Path(__file__).parent.parent / "static"
BACKEND = Path(__file__).parent / "backend.js"
PAGES = {"gallery.html": "index.html", "index.html": "game.html"}
"""The pages of `serve`, and their names in a site."""
PARTS = ("index.html", "game.html", "gallery.json", "static", "games", "databases")
"""What a site consists of; anything else in its folder is left alone."""
POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'self'"
)


class NotASite(RetrogradeError):
    """The folder holds something else than a published site."""


class Published(NamedTuple):
    """What was published of a game: whether all positions have answers."""

    variant: str
    positions: int
    whole: bool


def publish(solutions: Sequence[Solution], folder: Path) -> Iterator[Published]:
    """Write a site with these games, and yield what was published of each. An older site in the folder is replaced.

    Raises NotASite if the folder has files, and no site.
    """
    if folder.exists() and not (folder / "gallery.json").exists() and any(folder.iterdir()):
        raise NotASite(f"{str(folder)!r} has files, and none of a published site; name a new or an empty folder")
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder, prefix=".publish") as made:
        site, cards = Path(made), []
        write_pages(site)
        for solution in solutions:
            yield write_game(site, solution)
            cards.append(card_of(solution))
        cards.sort(key=lambda one: one.title.casefold())
        gallery = Gallery(cards=cards, games=[], may_solve=False, token="", solves=[])
        (site / "gallery.json").write_text(answer_text(gallery), encoding="utf-8")
        # Only now is the older site replaced, part by part.
        for part in PARTS:
            old = folder / part
            if old.is_dir():
                shutil.rmtree(old)
            (site / part).replace(old)


def write_pages(site: Path) -> None:
    """Write the pages of `serve`, with a back end that reads files."""
    shutil.copytree(STATIC, site / "static", ignore=lambda *_: PAGES)
    shutil.copy(BACKEND, site / "static" / "backend.js")
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    for source, name in PAGES.items():
        head, charset, rest = (STATIC / source).read_text(encoding="utf-8").partition('<meta charset="utf-8">\n')
        (site / name).write_text(f"{head}{charset}{policy}\n{rest}", encoding="utf-8")


def write_game(site: Path, solution: Solution) -> Published:
    """Write a game: its picture, its answers and its database."""
    source = solution.database.file.path
    folder, databases = site / "games" / database_path(solution.variant, "").stem, site / "databases"
    folder.mkdir(parents=True)
    databases.mkdir(exist_ok=True)
    shutil.copy(source, databases / source.name)
    (folder / "picture.svg").write_text(board_svg(solution.game, solution.start_or_example), encoding="utf-8")
    whole = write_answers(solution, folder, {"database": source.name})
    return Published(solution.variant, solution.database.file.positions, whole)


def card_of(solution: Solution) -> Card:
    """Return what the gallery shows of a game."""
    facts = read_facts(solution.database.file.path)
    return card(solution.variant, facts, names=names_in(solution.game))
