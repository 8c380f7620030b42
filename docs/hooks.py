"""Builds the project's site: MkDocs calls these functions (mkdocs.yml).

1. Pages from outside docs/ (README, FORMAT, …) are read from where they are, so that no text exists twice.
2. Links keep their meaning: they lead to the page made of a file, or else to the file at the project's address.
3. `<!-- help solve -->` becomes the command's help, `<!-- board connect4:5,4 33442 -->` a picture of a position, of the
   start if none is given. Both are comments, so that pages can also be read without a build.
"""

import os.path
import re
import shutil
import tempfile
import tomllib
from pathlib import Path
from urllib.parse import quote

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
PAGES = {
    "README.md": "index.md",
    "databases/FORMAT.md": "format.md",
    "benchmarks/README.md": "benchmarks.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
"""Files outside docs/, and the pages made of them."""

BOARD = re.compile(r"^<!-- board ((\w+)\S*)(?: (.+))? -->$", re.MULTILINE)
"""The comment for a picture of a game. Groups: the variant, the game's name, and the position, if not the start."""

FOLDERS = ("games", "databases", "solver", "cli")
FOLDER = tempfile.TemporaryDirectory(prefix="retrograde-docs-")
"""Temporary folder, deleted when the build ends."""

SOURCES = {page: source for source, page in PAGES.items()}
LINK = r"(!?)(\[(?:[^][]|\[[^]]*\])*\])\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)"
"""A link to a file of the project. Groups: "!" for a picture, text, target, anchor."""

LINK_OR_CODE = re.compile(rf"{LINK}|^```.*?^```$|`(?:[^`\n]|\n(?!\n))+`", flags=re.MULTILINE | re.DOTALL)
"""A link or code, whichever begins first: the text of a link may be code, but a link within code is an example."""


@event_priority(100)  # before mkdocstrings, which reads its paths at this event
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set address and description from pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    config.extra["repository"] = project["urls"]["Repository"]  # `repo_url` would make pages ask GitHub for stars
    config.nav.append({"The repository": config.extra["repository"]})
    config.site_description = project["description"]
    config.plugins["mkdocstrings"].config.handlers["python"]["paths"] = [as_installed()]
    return config


def as_installed() -> str:
    """Return a folder with the sources as installed: top-level packages become `retrograde.*`."""
    root = Path(FOLDER.name, "retrograde")
    for name, folder in (("retrograde", root), *((name, root / name) for name in FOLDERS)):
        shutil.copytree(ROOT / name, folder, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    return FOLDER.name


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add pages and pictures from outside docs/."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    for picture in ROOT.glob("benchmarks/*.svg"):
        files.append(File.generated(config, f"benchmarks/{picture.name}", abs_src_path=str(picture)))
    for name, picture in boards().items():
        files.append(File.generated(config, f"gallery/{name}.svg", content=picture))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Replace the comments for help and boards, and rewrite links for the site."""
    markdown = re.sub(r"^<!-- help (\w+) -->$", lambda match: help_of(match[1]), markdown, flags=re.MULTILINE)
    markdown = BOARD.sub(r"![the board](gallery/\2.svg)", markdown)
    here = page.file.src_uri
    source = SOURCES.get(here, f"docs/{here}")

    def lead(match: re.Match[str]) -> str:
        picture, text, target, place = match.groups()
        if target is None:
            return match[0]
        return f"{picture}{text}({target_in_site(source, here, target, config.extra['repository'])}{place or ''})"

    return LINK_OR_CODE.sub(lead, markdown)


def target_in_site(source: str, here: str, target: str, address: str) -> str:
    """Return the target of a file's link on the site. Dead links stay, and the build reports them."""
    if not (ROOT / source).exists():
        return target  # links of generated pages are right already
    path = os.path.normpath(os.path.join(os.path.dirname(source), target)).replace(os.sep, "/")
    if path in PAGES or re.fullmatch(r"docs/.+(?<!\.py)|benchmarks/[^/]+\.svg", path):
        wanted = PAGES.get(path, path.removeprefix("docs/"))
        return os.path.relpath(wanted, os.path.dirname(here) or ".").replace(os.sep, "/")
    if (ROOT / path).exists():
        return f"{address}/{'tree' if (ROOT / path).is_dir() else 'blob'}/main/{quote(path)}"
    return target


def help_of(name: str) -> str:
    """Return the help of a command as a block of code."""
    import click

    from retrograde.cli.main import main

    context = click.Context(main, info_name="retrograde")
    command = main.get_command(context, name)
    assert command, f"no command {name}"
    text = command.get_help(click.Context(command, context, name, max_content_width=80))
    return f"```text\n{text}\n```"


def boards() -> dict[str, str]:
    """Return the pictures of the gallery by the names of their games."""
    from retrograde.games.catalog import load_game
    from retrograde.games.contract.picture import board_svg

    pictures = {}
    for variant, name, text in BOARD.findall((ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")):
        game = load_game(variant)
        pictures[name] = board_svg(game, game.read(text) if text else game.start)
    return pictures
