"""`retrograde new`: writes the skeleton of a rule file, and its test."""

import keyword
import re
import sys
from pathlib import Path
from string import Template

import click

from retrograde.cli.failure import Failure

TAKEN = {*sys.stdlib_module_names, *("click", "h5py", "numba", "numpy", "psutil", "pytest", "retrograde", "zstandard")}
"""Names of modules that Python or our own code imports. A rule file with such a name would be imported instead."""

KINDS = ("board", "captures", "dice", "drops", "heap", "heaps", "hunt", "lines", "men", "mills", "placements",
         "players", "puzzle", "sown")  # fmt: skip
"""The modules of `games/skeletons/`."""


@click.command()
@click.argument("name")
@click.option("--kind", type=click.Choice(KINDS), help="The kind of game; a heap of stones if you do not say.")
@click.option("--board", is_flag=True, help="The same as --kind board: a grid of cells, with pictures.")
@click.option("--like", "game", metavar="GAME", help="A copy of a built-in game, under the new name.")
def command(name: str, kind: str | None, board: bool, game: str | None) -> None:
    """Write a rule file to start from, NAME.py, and its test, test_NAME.py, in this folder.

    It is a complete game: you can check, solve and play it at once. Change it into yours. Existing files are never
    overwritten.

    \b
    Examples:
      retrograde new mygame
      retrograde new myboard --board
      retrograde new myshogi --kind drops
      retrograde new mypawns --like hexapawn
    """
    from retrograde.cli.commands.skeleton import COPY_TEST, TESTS

    ways = [way for way, given in (("--kind", kind), ("--board", board), ("--like", game)) if given]
    if len(ways) > 1:
        raise click.UsageError(f"{' and '.join(ways)} are two ways to start; give one", click.get_current_context())

    name = valid_name(name.removesuffix(".py"))
    words = {"name": name, "game": "".join(part.capitalize() for part in name.split("_"))}
    kind = kind or ("board" if board else "heap")
    rules, test = (template_of(game), COPY_TEST) if game else (skeleton_of(kind), TESTS.get(kind, COPY_TEST))
    files = {Path(f"{name}.py"): rules, Path(f"test_{name}.py"): test}
    for path in files:
        if path.exists() or path.is_symlink():
            raise Failure(f"error: {str(path)!r} is there already, and is not written over; choose another name")
    for path, text in files.items():
        with open(path, "x", encoding="utf-8") as file:
            file.write(Template(text).substitute(words))
    click.echo(f"{name}.py has the rules, test_{name}.py their test. What to do with them:\n")
    for line in (f"retrograde check ./{name}.py", f"retrograde solve ./{name}.py", f"retrograde play ./{name}.py",
                 f"python -m pytest test_{name}.py"):  # fmt: skip
        click.echo(f"  {line}")


def template_of(name: str) -> str:
    """Return the rules of a built-in game as a template for the name of its class; raise UsageError if there is none.

    A game in a folder of its own has several files, which a copy of one would not find.
    """
    from retrograde.games.catalog import BUILT_IN, game_class

    if name not in BUILT_IN:
        reason = f"no built-in game {name!r}; list them with: retrograde games"
        raise click.UsageError(reason, click.get_current_context())
    cls = game_class(name)
    file = Path(str(sys.modules[f"retrograde.games.{name}"].__file__))
    if file.stem != name:
        reason = f"{name} has several files and cannot be copied; choose another game, such as hexapawn"
        raise click.UsageError(reason, click.get_current_context())
    return as_template(file, cls.__name__)


def skeleton_of(kind: str) -> str:
    """Return the skeleton of a kind as a template for the names of the file and of the class."""
    from retrograde.games import skeletons

    file = Path(str(skeletons.__file__)).with_name(f"{kind}.py")
    (name,) = re.findall(r"^class (\w+)", file.read_text("utf-8"), re.MULTILINE)
    return as_template(file, name).replace(f" {kind}.py:", " $name.py:")


def as_template(file: Path, name: str) -> str:
    """Return the text of a rule file as a template for the name of its class."""
    return re.sub(rf"\b{name}\b", "$game", file.read_text("utf-8").replace("$", "$$"))


def valid_name(name: str) -> str:
    """Return a valid name for a rule file; raise UsageError for an invalid one."""
    from retrograde.games.catalog import needs_no_path

    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name.endswith("_"):
        reason = f"a name is small letters, digits and underscores, as in my_game, not {name!r}"
    elif keyword.iskeyword(name):
        reason = f"{name!r} is a word of Python; choose another name"
    elif name in TAKEN:
        reason = f"there is a Python module {name!r}, which programs here would no longer find; choose another name"
    elif needs_no_path(name):
        reason = f"there is a game {name!r} already, whose databases have that name; choose another one"
    else:
        return name
    raise click.UsageError(reason, click.get_current_context())
