"""`retrograde judge`: measures how often a depth-limited search picks a wrong move, checked against a database."""

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli import options
from retrograde.cli.commands.plot import check_suffix, save_figure
from retrograde.cli.common import check_can_write, file_named, open_source, player_named, print_json
from retrograde.cli.progress import progress_listener
from retrograde.cli.render.words import amount, heading, indent, table, wrap
from retrograde.solver.runtime.progress import announce

if TYPE_CHECKING:
    from retrograde.solver.play.judging import Counts, Errors

LABELS = {"own": "estimate", "ends": "ends alone", "chance": "chance", "noisy": "noisy truth"}
ORDERS = {"worst": "worst first", "given": "as given", "best": "best first"}


@click.command()
@options.source
@options.number("--depth", 6, "The greatest depth of the search, in plies.", most=30)
@options.number("--positions", 200, "How many positions to try.")
@options.seed
@click.option(
    "--player",
    "names",
    multiple=True,
    metavar="PLAYER",
    help="Also measure how often this player gives up value, such as mcts:1000; may be given several times.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write a picture: .png, .svg or .pdf.",
)
@options.weights
@options.database
@options.json
def command(
    source: str, depth: int, positions: int, seed: int, names: tuple[str, ...], plot: Path | None, weights: str | None,
    database: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Measure how often a depth-limited search picks a move that gives up value, in a game of two players without
    chance.

    The command uses only positions in which some move gives up value. It tries four estimates: the game's own; none, so
    that only ends of the game count; random numbers; and the true value, made wrong in one position of ten. With the
    last one, a deeper search can be worse.

    Then the command counts the positions that alpha-beta visits with good and with bad move ordering.

    \b
    Examples:
      retrograde judge tictactoe --depth 3 --positions 20
      retrograde judge connect4:4,4 --depth 2 --positions 20 --json
      retrograde judge connect4:4,4 --depth 2 --player mcts:100 --player greedy
    """
    from retrograde.databases.location import metric_named
    from retrograde.games.catalog import load_game
    from retrograde.solver.play.judging import SearchJudge, refuse_to_judge
    from retrograde.solver.play.solution import solution_of
    from retrograde.solver.play.weights import load_weights

    check_suffix(plot)
    if plot is not None:
        check_can_write(plot)
    if database is None and file_named(source) is None:
        refuse_to_judge(load_game(metric_named(source)[0]))  # before a message asks for a database
    with solution_of(open_source(source, database)) as solution, progress_listener(as_json) as line:
        solution.game = load_weights(solution.game, weights)
        announce(line, "looking for positions")
        players = {name: player_named(name, solution, Random(f"{seed} {name}")) for name in names}
        judge = SearchJudge(solution, positions, seed)
        variant = solution.database.file.variant
        errors: list[Errors] = []
        for row in judge.errors(depth):
            errors.append(row)
            announce(line, f"looked {row.depth} of {depth} plies ahead")
        counts: list[Counts] = []
        for count in judge.counts(depth):
            counts.append(count)
            announce(line, f"counted to {count.depth} plies")
        by_players = {}
        for name, player in players.items():
            announce(line, f"asking {name}")
            by_players[name] = round(judge.errors_of(player), 4)
    facts = {
        "variant": variant, "positions": len(judge.keeping), "seed": seed, "by_chance": round(judge.by_chance(), 4),
        "errors": [{name: round_share(value) for name, value in row._asdict().items()} for row in errors],
        "order": [row._asdict() for row in counts], "players": by_players,
    }  # fmt: skip
    if plot is not None:
        save_figure(plot, lambda: draw(facts))
    if as_json:
        print_json(facts)
    else:
        print_errors(facts, errors)
        print_players(by_players)
        print_order(counts)


def round_share(value: float | None) -> float | None:
    return round(value, 4) if isinstance(value, float) else value


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def print_errors(facts: dict[str, Any], errors: "list[Errors]") -> None:
    """Print how often searches err, by depth."""
    how = f"in {facts['positions']:,} positions where a move can, seed {facts['seed']}"
    click.echo(wrap(f"{facts['variant']}: how often a search gives up value, {how}") + "\n")
    rows = [[heading(text) for text in ("plies", *LABELS.values(), "looked at")]]
    rows += [["any move", *[percent(facts["by_chance"])] * len(LABELS), ""]]
    for row in errors:
        rows.append([str(row.depth), *(percent(getattr(row, name)) for name in LABELS), amount(row.looked_at)])
    click.echo(indent(table(rows, ">" * len(rows[0]))))


def print_players(errors: dict[str, float]) -> None:
    """Print how often players err, in the same positions."""
    if errors:
        rows = [(name, percent(share)) for name, share in errors.items()]
        click.echo("\n" + indent(table([(heading("player"), heading("gives up value")), *rows], "<>")))


def print_order(counts: "list[Counts]") -> None:
    """Print what move ordering saves."""
    text = "Positions looked at from the start, and to which power of minimax' that is (½: as if half as deep):"
    click.echo("\n" + wrap(text) + "\n")
    heads = [cell for name in ORDERS.values() for cell in (heading(name), "")]
    rows = [[heading("plies"), heading("minimax"), *heads]]
    for row in counts:
        numbers = [getattr(row, name) for name in ORDERS]
        cells = [cell for number in numbers for cell in (amount(number), f"{row.exponent(number):.2f}")]
        rows.append([str(row.depth), amount(row.minimax), *cells])
    click.echo(indent(table(rows, ">" * len(rows[0]))))


def draw(facts: dict[str, Any]) -> Any:
    """Return a matplotlib figure of two plots: how often searches err, and how many positions they visit, by depth.

    *facts* are what --json prints. `errors` and `order` have a row for each depth.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.5), dpi=120, layout="constrained")
    left, right = figure.subplots(1, 2)
    styles = "o-", "s--", "^:", "D-."  # marker and line
    for (name, label), style in zip(LABELS.items(), styles, strict=True):
        rows = [row for row in facts["errors"] if row[name] is not None]
        if rows:
            left.plot([row["depth"] for row in rows], [100 * row[name] for row in rows], style, label=label)
    left.axhline(100 * facts["by_chance"], color="#999", label="any move")
    left.set(xlabel="plies looked ahead", ylabel="moves that give up value, %", ylim=(0, None))
    for (name, label), style in zip({"minimax": "minimax", **ORDERS}.items(), styles, strict=True):
        right.plot([row["depth"] for row in facts["order"]], [row[name] for row in facts["order"]], style, label=label)
    right.set(xlabel="plies looked ahead", ylabel="positions looked at", yscale="log")
    for axes in (left, right):
        axes.legend()
        axes.xaxis.get_major_locator().set_params(integer=True)
    figure.suptitle(f"{facts['variant']}, {facts['positions']:,} positions, seed {facts['seed']}", parse_math=False)
    return figure
