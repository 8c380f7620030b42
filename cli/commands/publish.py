"""`retrograde publish`: writes solved games as a static site, for any host of files."""

from contextlib import ExitStack
from pathlib import Path
from shlex import quote

import click

from retrograde.cli import options
from retrograde.cli.common import open_source
from retrograde.databases.errors import NoDatabase
from retrograde.databases.remote import is_address


@click.command()
@click.argument("variants", nargs=-1, required=True, metavar="VARIANT…", shell_complete=options.complete_variants)
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="FOLDER",
    help="The folder of the site: a new one, an empty one, or one with an older site, which is replaced.",
)
@click.option(
    "--pyodide",
    type=click.Path(exists=True, path_type=Path),
    metavar="PATH",
    help="Pyodide, which runs the rules of larger games in the browser: the file that `npm pack pyodide@314.0.7` "
    "downloads, or a folder with its contents.",
)
def command(variants: tuple[str, ...], folder: Path, pyodide: Path | None) -> None:
    """Write solved games as a static site: the page of `retrograde serve`, without a server.

    Copy FOLDER to any host of files, such as GitHub Pages or a university's web space. Games of up to 20,000 positions
    are published whole, as answers. Of larger games, and of games without a first position, such as chess endings, the
    page has the first moves. With --pyodide it has all: the browser then runs Python, and reads the database in parts.
    Each database lies unchanged in FOLDER/databases.

    \b
    Examples:
      retrograde publish tictactoe mutorere --to site
      retrograde publish connect4:5,4 --to site --pyodide pyodide-314.0.7.tgz
      python -m http.server --directory site
    """
    from retrograde.cli.web.published.site import publish
    from retrograde.solver.play.solution import solution_of

    with ExitStack() as stack:
        solutions = {}
        for text in variants:
            if is_address(text):
                fetch = f"first fetch it with: retrograde fetch {quote(text)}"
                raise NoDatabase(f"{text!r} is no file of this machine, as publish needs; {fetch}")
            solution = stack.enter_context(solution_of(open_source(text, None)))
            if solution.variant in solutions:
                raise click.UsageError(f"{solution.variant} is given twice", click.get_current_context())
            solutions[solution.variant] = solution
        for name, positions, whole in publish([*solutions.values()], folder, pyodide):
            what = "all" if whole or pyodide else "the first moves of"
            advice = "; for all, run `npm pack pyodide@314.0.7` and add `--pyodide pyodide-314.0.7.tgz`"
            more = "" if whole or pyodide else advice
            click.echo(f"{name}: {what} {positions:,} positions{more}")
    look = f"python -m http.server --directory {quote(str(folder))}"
    click.echo(f"to look at it: {look}  (browsers do not open it from the disk)")
