"""`retrograde plot`: draws the counts by value and remoteness."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli import options
from retrograde.cli.common import open_file
from retrograde.games import DRAW, LOSE, TIE, WIN, RetrogradeError
from retrograde.games.contract.marks import COLOURS

if TYPE_CHECKING:
    from retrograde.databases.checked import CheckedFile

SUFFIXES = (".png", ".svg", ".pdf")


@click.command()
@options.source
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="The output file, .png, .svg or .pdf; by default the database's name with .png, in this folder.",
)  # fmt: skip
@click.option("--linear", is_flag=True, help="Use a linear scale for the counts, not a logarithmic one.")
@options.database
def command(source: str, output: Path | None, linear: bool, database: str | None) -> None:
    """Draw how many positions there are of each value and remoteness.

    Needs the extra plot: pip install '.[plot]' in the folder of the sources.

    \b
    Examples:
      retrograde plot connect4:4,4
      retrograde plot chess:KRK --output krk.svg
    """
    from retrograde.databases import Database

    check_suffix(output)
    opened = open_file(source, database)
    with opened:
        file = opened.file if isinstance(opened, Database) else opened
        output = output or Path(f"{file.path.stem}.png")
        save_figure(output, lambda: draw(file, linear))
    click.echo(str(output))


def check_suffix(path: Path | None) -> None:
    """Raise UsageError if a picture of that name cannot be written."""
    if path is not None and path.suffix not in SUFFIXES:
        raise click.UsageError(f"the picture must be {', '.join(SUFFIXES)}, not {path.name!r}")


def save_figure(path: Path, draw: Callable[[], Any]) -> None:
    """Write the figure that *draw* returns; raise RetrogradeError without matplotlib, or if the disk refuses."""
    try:
        figure = draw()
    except ModuleNotFoundError as error:
        raise RetrogradeError(f"pictures need {error.name}; get it with: pip install matplotlib") from error
    try:
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    except OSError as error:
        raise RetrogradeError(f"cannot write {str(path)!r}: {error.strerror or error}") from error


def draw(file: "CheckedFile", linear: bool) -> Any:
    """Return a figure: for each number of plies a bar for each value, and one for draws."""
    from matplotlib.figure import Figure

    # hatches, so that values can be told apart without colours
    hatches = {WIN: ("", "#333"), TIE: ("....", "#333"), DRAW: ("xxxx", "#333"), LOSE: ("////", "#fff")}
    figure = Figure(figsize=(10, 5), dpi=120, layout="constrained")
    axes = figure.subplots()
    last = max((row.remoteness for row in file.legend), default=0)
    for value, shift in ((WIN, -0.3), (TIE, 0.0), (DRAW, 0.0), (LOSE, 0.3)):
        rows = [row for row in file.legend if row.value == value]
        if not rows:
            continue
        # Draws have no end: their bar stands two columns after the last one.
        places = [(last + 2 if row.remoteness < 0 else row.remoteness) + shift for row in rows]
        label = {WIN: "win", TIE: "tie", DRAW: "draw, for ever (∞)", LOSE: "lose"}[value]
        counts = [row.positions for row in rows]
        hatch, edge = hatches[value]
        axes.bar(places, counts, 0.3, label=label, color=COLOURS[value], edgecolor=edge, linewidth=0.3, hatch=hatch)
    ticks = list(range(0, last + 1, max(1, -(-last // 24))))  # 25 at most
    has_draws = any(row.remoteness < 0 for row in file.legend)
    axes.set_xticks(ticks + [last + 2] * has_draws, [str(tick) for tick in ticks] + ["∞"] * has_draws)
    if not linear:
        axes.set_yscale("log")
    axes.set_xlabel("plies to the end under best play")
    axes.set_ylabel("positions")
    axes.set_title(f"{file.variant}: {file.positions:,} positions, by what they are worth to the player to move",
                   parse_math=False)  # fmt: skip  # the variant comes from a file, and may hold anything
    figure.legend(loc="outside lower center", ncols=4)
    return figure
