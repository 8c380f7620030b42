"""`retrograde warm`: compiles the loops of the solver once, so that no later command has to."""

import click

from retrograde.cli import options
from retrograde.cli.common import print_json
from retrograde.solver.runtime.progress import announce


@click.command()
@click.option("--workers", type=click.IntRange(1), metavar="N", help="Processes to use; by default one for each core.")
@options.json
def command(workers: int | None, as_json: bool) -> None:
    """Compile the loops of the solver now; later commands load them from disk.

    This takes about three minutes on one core, and half of that on two. Without it, each command compiles the loops
    that it needs when it first runs. The loops are the same for all games; only the rules of a game are compiled for
    that game.

    \b
    Example:
      retrograde warm
    """
    from retrograde.cli.progress import progress_listener
    from retrograde.solver.warm import warm

    count = 0
    with progress_listener(as_json) as line:
        for name, number, count in warm(workers):
            announce(line, f"compiled {number} of {count}: {name}")
    if as_json:
        print_json({"steps": count})
    else:
        click.echo("all loops are compiled")
