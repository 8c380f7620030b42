"""`retrograde publish`: writes solved games as a static site, for any host of files."""

from contextlib import ExitStack
from pathlib import Path

import click

from retrograde.cli import options
from retrograde.cli.common import open_source


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
def command(variants: tuple[str, ...], folder: Path) -> None:
    """Write solved games as a static site: the page of `retrograde serve`, without a server.

    Copy FOLDER to any host of files, such as GitHub Pages or a university's web space. Games of up to 20,000 positions
    are published whole. Of larger games the page has the first moves. Each database lies unchanged in
    FOLDER/databases.

    \b
    Examples:
      retrograde publish tictactoe mutorere --to site
      python -m http.server --directory site
    """
    from retrograde.cli.web.published.site import publish
    from retrograde.solver.play.solution import solution_of

    with ExitStack() as stack:
        solutions = {}
        for text in variants:
            solution = stack.enter_context(solution_of(open_source(text, None)))
            if solution.variant in solutions:
                raise click.UsageError(f"{solution.variant} is given twice", click.get_current_context())
            solutions[solution.variant] = solution
        for name, positions, whole in publish([*solutions.values()], folder):
            click.echo(f"{name}: {'all' if whole else 'the first moves of'} {positions:,} positions")
    click.echo(f"to look at it: python -m http.server --directory {folder}  (browsers do not open it from the disk)")
