"""`retrograde fit`: fits the weights of a game's features to a database."""

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from retrograde.cli import options
from retrograde.cli.commands.judge import percent
from retrograde.cli.common import check_can_write, open_source, print_json
from retrograde.cli.progress import progress_listener
from retrograde.cli.render.words import heading, indent, table


@click.command()
@options.variant
@click.option("--from", "source", metavar="VARIANT|FILE", shell_complete=options.complete_variants,
              help="The database to learn from; by default the variant's own.")  # fmt: skip
@options.number("--positions", 20_000, "How many positions to sample.")
@options.number("--judged", 1_000, "In how many positions to count errors, at most.")
@options.seed
@click.option("--weights", metavar="FILE", shell_complete=options.complete_files,
              help="Where to write the weights, if not beside the databases.")  # fmt: skip
@options.json
def command(
    variant: str, source: str | None, positions: int, judged: int, seed: int, weights: str | None, as_json: bool
) -> None:
    """Fit the weights of a game's features to a database, so that depth-limited players play better.

    The estimate of many games is a sum of features, such as the lead in men and in moves, each times its weight. This
    command finds weights that predict the values in a database: that of VARIANT, or (--from) of a smaller game with the
    same features, such as the endings of draughts.

    Then it counts how often searches give up value with the old and the new weights, in positions that the fit did not
    see. If the new weights are better, it stores them: in --weights, or beside the databases, where play, match, judge,
    serve and uci find them.

    \b
    Examples:
      retrograde fit draughts --from draughts:KKvK,4 --positions 2000 --judged 50
      retrograde fit morris:3 --weights mine.json --json
    """
    from retrograde.databases.location import weights_path
    from retrograde.games.catalog import load_game
    from retrograde.games.catalog import variant as text_of
    from retrograde.solver.play.fitting import CannotFit, fit
    from retrograde.solver.play.solution import solution_of
    from retrograde.solver.play.weights import write_weights
    from retrograde.solver.runtime.progress import announce

    game = load_game(variant)
    if weights:
        check_weights_file(Path(weights))
    with solution_of(open_source(source or variant, None)) as solution, progress_listener(as_json) as line:
        if type(solution.game).features is not type(game).features:
            raise CannotFit(f"{solution.variant} has other features than {text_of(game)}; choose another --from")
        announce(line, "fitting, and counting errors")
        found = fit(solution, positions, judged, seed)  # `target` is "" if the weights are not better
        learned_from = solution.variant
    facts = {
        "from": learned_from, "target": found.target, "date": datetime.now(UTC).date().isoformat(),
        "positions": found.positions, "judged": found.judged, "seed": seed,
        "errors": {str(depth): [round(share, 4) for share in pair] for depth, pair in found.errors.items()},
    }  # fmt: skip
    path = Path(weights) if weights else weights_path(text_of(game))
    if found.target:
        write_weights(path, game, found.weights, facts)
    if as_json:
        stored = {"weights": found.weights, "file": str(path)} if found.target else {"weights": None, "file": None}
        print_json({"variant": text_of(game), **stored, **facts})
        return
    how = f"{found.positions:,} positions of {learned_from}"
    click.echo(f"{text_of(game)}: weights of {len(game.feature_weights)} features, fitted to {how}\n")
    click.echo(f"moves that give up value, in {found.judged:,} positions held out:\n")
    rows = [[heading(text) for text in ("plies", "before", "after")]]
    rows += [[str(depth), *map(percent, pair)] for depth, pair in found.errors.items()]
    click.echo(indent(table(rows, ">>>")) + "\n")
    if found.target:
        click.echo(f"weights by {found.target}: {', '.join(map(str, found.weights))}\n{path}")
    else:
        click.echo("the weights found are not better; nothing was stored")


def check_weights_file(path: Path) -> None:
    """Raise CannotWrite if a file of weights cannot be written; the folders that are missing would be made."""
    from retrograde.databases.errors import CannotWrite

    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise CannotWrite(f"cannot write {str(path)!r}; name another file with --weights")
    if path.parent.is_dir():
        check_can_write(path)
