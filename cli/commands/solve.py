"""`retrograde solve`: makes a game's database from its rules."""

import os
import shutil
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from retrograde.cli import options
from retrograde.cli.commands.cluster import cluster_options, executor_for
from retrograde.cli.commands.sets import result_or_found, solve_set
from retrograde.cli.common import print_json
from retrograde.cli.failure import INTERRUPTED, Failure, explain
from retrograde.cli.progress import progress_listener
from retrograde.cli.render.expected import EXPECTATION
from retrograde.cli.render.measures import print_start_measure
from retrograde.cli.render.report import print_file, print_head, print_values
from retrograde.cli.render.words import amount, duration, faint, heading, indent, size, table, wrap
from retrograde.databases.location import against as against_model
from retrograde.databases.location import database_path, expect_short, metric_named, model_in
from retrograde.databases.lock import Lock
from retrograde.games import Game
from retrograde.games.contract.game import METRICS, Traits, metric_of
from retrograde.games.contract.text import printable
from retrograde.games.contract.zeroing import PROGRESS_METRICS
from retrograde.solver.runtime.progress import Phase, Progress, announce

if TYPE_CHECKING:
    from retrograde.solver.estimation.amounts import Estimate
    from retrograde.solver.metrics.models.model import Model
    from retrograde.solver.runtime.cluster.executor import ClusterExecutor


class Goal(NamedTuple):
    """What to compute: the metric, how utilities break ties, and the model of the opponent for a best response."""

    metric: str
    ties: str
    against: "Model | None" = None


REMEDIES = {
    "fresh": "solve it again with --fresh",
    "path": "choose another --database",
    "remove": "choose another --database, or remove it",
}
"""What to do if a file must not be replaced, by the kinds of remedies of `CannotReplace`."""
MOST_ROWS = 100
"""The greatest number of rows in the table of an estimate."""
AMOUNTS: dict[str, Callable[[float], str]] = {"positions": amount, "records": amount, "seconds": duration}
"""How amounts of an estimate are told; those missing here are bytes."""


@click.command()
@options.variant
@options.database
@options.workers
@click.option(
    "--memory",
    type=options.Size(),
    metavar="SIZE",
    help="The most memory to use, such as 1.5G; by default all that is free.",
)
@options.fresh
@click.option("--estimate", "only_estimate", is_flag=True, help="Print what a solve will take, and do not solve.")
@click.option(
    "--metric", type=click.Choice(METRICS), help="What to compute for each position; by default the game's own metric."
)
@click.option(
    "--ties",
    type=click.Choice(["first", "leader", "average", "paranoid"]),
    help="For utilities: which of several equally good moves a player makes; or paranoid: what each player can force "
    "if all others play together against that player.",
)
@click.option(
    "--against", metavar="MODEL",
    help="Compute expectations of a best response to an opponent who moves by this model: random, greedy, perfect, "
    "skill:0.8, depth:4, exploit:MODEL, an installed player, or a function of your own, FILE.py:function.",
)  # fmt: skip
@cluster_options
@options.json
def command(
    variant: str, database: str | None, workers: int | None, memory: int | None, fresh: bool, only_estimate: bool,
    metric: str | None, ties: str | None, against: str | None, cluster: str | None, mpi: "ClusterExecutor | None",
    as_json: bool,
) -> None:  # fmt: skip
    """Solve a game and write its database.

    Run the same command again to resume an interrupted solve. A game that is solved already is not solved again. Some
    games have names for sets of variants, which are solved one after another: chess:all=4 is all endings of three and
    four men. With --json, progress goes to standard error as lines of JSON.

    \b
    Examples:
      retrograde solve tictactoe
      retrograde solve chess:KRK
      retrograde solve connect4:4,4 --database connect4.h5 --workers 1 --memory 1G
      retrograde solve connect4:5,5 --estimate
      retrograde solve chess:all=3
      retrograde solve chess:KRK --metric dtz
      retrograde solve tictactoe --metric score
      retrograde solve tictactoe --against random
      retrograde solve connect4:5,5 --cluster local:4
      mpiexec -n 8 retrograde solve connect4:5,5 --mpi
    """
    from retrograde.games.catalog import load_game, variants_in
    from retrograde.games.catalog import variant as text_of

    given = [name for name, value in (("--mpi", mpi), ("--cluster", cluster), ("--workers", workers)) if value]
    if len(given) > 1:
        raise click.UsageError(f"give {given[0]} or {given[-1]}, not both", click.get_current_context())
    name, metric_in_name = metric_named(variant)
    how = Run(workers, memory, fresh, as_json, cluster, mpi)
    if members := variants_in(name):
        other_metric = (metric or metric_in_name) not in ("", METRICS[0], *PROGRESS_METRICS)
        if any([database, ties, against, other_metric, only_estimate and (cluster or mpi)]):
            what = f"{name} is a set of {len(members)} variants, each with a database of its own"
            raise click.UsageError(
                f"{what}: it goes with none of --database, --metric but dtz and dtc, --ties, --against"
            )
        run_set(name, members, how, metric or metric_in_name, only_estimate)
        return
    game = load_game(name)
    against = against or model_in(metric_in_name)
    with model_for(against, metric, game, name) if against else nullcontext() as model:
        goal = Goal(EXPECTATION if model else metric or metric_in_name or metric_of(game), ties or "", model)
        if ties and goal.metric != "utilities":
            what = f"--ties goes with --metric utilities, and not with {goal.metric}"
            raise click.UsageError(what, click.get_current_context())
        # The part of the file's name that names the metric: none for the game's own.
        in_file_name = against_model(model.name) if model else "" if goal.metric == metric_of(game) else goal.metric
        path = Path(database) if database is not None else database_path(text_of(game), metric=in_file_name)
        if not only_estimate:
            solve_or_find(game, path, goal, how)
            return
        with executor_for(cluster, mpi) as executor:
            print_estimate(game, path, how, goal, executor)


class Run(NamedTuple):
    """How a solve runs: workers, memory, whether to start over, JSON output, cluster, and the variant's name in a
    set."""

    workers: int | None
    memory: int | None
    fresh: bool
    as_json: bool
    cluster: str | None = None
    mpi: "ClusterExecutor | None" = None
    about: str = ""


def run_set(name: str, members: list[str], how: Run, metric: str, only_estimate: bool) -> None:
    """Solve the variants of a set, or print what that will take."""
    if only_estimate:
        print_estimate_of_set(name, members, how, metric)
        return
    with executor_for(how.cluster, how.mpi) as executor:
        solve_members(name, members, how._replace(cluster=None, mpi=executor), metric)


def solve_members(name: str, members: list[str], how: Run, metric: str) -> None:
    """Solve the variants of a set. On a cluster, solve all variants at once that do not have to wait for one
    another."""
    from retrograde.games.catalog import load_game, variant_of_same_rules
    from retrograde.games.catalog import variant as text_of

    def solve_or_load(variant: str) -> tuple[dict[str, Any], bool]:
        loaded = load_game(variant)
        game = variant_of_same_rules(loaded, text_of(loaded))  # cached: its tables serve again when others rest on it
        return solve_if_needed(game, *usual_path_and_goal(game, metric), how._replace(about=variant))

    if how.mpi is None:
        solve_set(members, solve_or_load, how.as_json, how.fresh)
        return
    from retrograde.solver.variants import VariantTask, memory_per_worker, solve_variants

    most, tasks = memory_per_worker(how.mpi, how.memory), []
    for member in members:
        game = load_game(member)
        path, goal = usual_path_and_goal(game, metric)
        with suppress(Failure):  # reported when it is this variant's turn
            if not is_solved(game, path, how.fresh, goal):
                tasks.append(VariantTask(member, path.absolute(), goal.metric, how.fresh, most))
    with solve_variants(how.mpi, database_path(name).absolute(), tasks) as ahead:
        solve_set(members, result_or_found(ahead, solve_or_load, facts_in, how.as_json), how.as_json, how.fresh)


def usual_path_and_goal(game: Game, metric: str) -> tuple[Path, Goal]:
    """Return the usual path of a game's database by a metric ("" for the game's own), and the goal of its solve."""
    from retrograde.games.catalog import variant

    own = metric_of(game)
    return database_path(variant(game), metric="" if metric == own else metric), Goal(metric or own, "")


def model_for(text: str, metric: str | None, game: Game, name: str) -> "Model":
    """Return the model with this name for a game; raise UsageError if there is none."""
    from retrograde.solver.metrics.models.model import NoModel
    from retrograde.solver.metrics.models.names import model_named

    if metric not in (None, EXPECTATION):
        what = f"--against goes with --metric {EXPECTATION}, and not with {metric}"
        raise click.UsageError(what, click.get_current_context())
    try:
        return model_named(text, game, name)
    except NoModel as error:
        raise click.UsageError(str(error), click.get_current_context()) from error


def solve_or_find(game: Game, path: Path, goal: Goal, how: Run) -> None:
    """Solve a game unless that is done already, and print the result."""
    facts, solved = solve_if_needed(game, path, goal, how)
    if how.as_json:
        print_json(facts)
        return
    print_head(facts)
    print_start_measure(facts)
    print_values(facts)
    if solved:
        click.echo("it was solved before; add --fresh to solve it again")
    else:
        click.echo(how_it_went(facts))
    print_file(facts)


def solve_if_needed(game: Game, path: Path, goal: Goal, how: Run) -> tuple[dict[str, Any], bool]:
    """Solve a game unless that is done already; return (the facts, whether it had been solved before)."""
    from retrograde.games.catalog import trust, typed
    from retrograde.solver.runtime.memory import peak_memory

    began, before, explored = time.monotonic(), 0, 0
    expect_short(path)
    solved = is_solved(game, path, how.fresh, goal)
    if not solved:
        from retrograde.solver.runtime.scratch import without_empty_folders

        with without_empty_folders(path), Lock(path) as lock:
            solved = is_solved(game, path, how.fresh, goal)  # perhaps by another process that held the lock
            if not solved:
                if path.exists() and not how.fresh:  # made by earlier rules: `is_solved` allows that
                    click.echo(
                        f"retrograde: {path} was made by earlier rules of {typed(game)}, and will be replaced", err=True
                    )
                before, explored = solve_with_progress(game, path, how, lock, goal)
    if solved:
        from retrograde.cli.commands.remove import clear_leftovers
        from retrograde.solver.runtime.journal import is_to_replace

        if not is_to_replace(path):
            clear_leftovers(path)
        trust(game)  # the user has named its file
    seconds, facts = round(time.monotonic() - began, 3), facts_in(game, path)
    took = {"seconds": seconds, "peak_memory_bytes": peak_memory(), "resumed": before, "explored_before": explored}
    return facts | took, solved


def facts_in(game: Game, path: Path) -> dict[str, Any]:
    """Return the summary of a game's database."""
    from retrograde.databases import DatabaseFile, database_of
    from retrograde.databases.open import matching_game
    from retrograde.solver.play.analysis import summary

    with DatabaseFile(path) as file, database_of(file, matching_game(file, game)) as result:
        return summary(result)


def how_it_went(facts: dict[str, Any]) -> str:
    """Return in words how long this run has taken, and how fast it was. Earlier runs do not count."""
    seconds, solved_before, explored = facts["seconds"], facts["resumed"], facts["explored_before"]
    solved = facts["positions"] - solved_before
    # If an earlier run has explored, but solved nothing, this run's time does not belong to all of the positions.
    has_speed = seconds >= 1 and solved > 0 and (solved_before or not explored)
    speed = f", {amount(solved / seconds)} positions a second" if has_speed else ""
    done = f"{amount(solved_before)} positions had been solved"
    done = done if solved_before else f"{amount(explored)} positions had been met"
    rest = f" for what was left; {done} before" if solved_before or explored else ""
    return f"{duration(seconds)}{speed}{rest}, {size(facts['peak_memory_bytes'])} of memory at most"


def has_journal(game: Game, path: Path, goal: Goal) -> bool:
    """Return whether there is a journal to resume from: the game's own, or that of a variant it rests on."""
    from retrograde.games.catalog import rests_on

    metric = "" if goal.metric == METRICS[0] else goal.metric  # names of files leave out the metric remoteness
    others = (
        [database_path(other, path.parent, metric) for other in rests_on(game)] if Traits.of(game).is_numbered else []
    )
    return any(one.with_name(f"{one.name}.journal").exists() for one in (path, *others))


def is_solved(game: Game, path: Path, fresh: bool, goal: Goal) -> bool:
    """Return whether the database is there already, and is not to be made *fresh*. Raise Failure if a file is in its
    place that must not be replaced."""
    if not path.exists():
        return False
    from retrograde.solver.replacing import CannotReplace, is_of_same_solve

    try:
        return is_of_same_solve(game, path, goal.metric, goal.ties, goal.against, fresh) and not fresh
    except CannotReplace as error:
        raise Failure(f"error: {error.what}; {REMEDIES[error.remedy]}") from error


def print_estimate(game: Game, path: Path, how: Run, goal: Goal, executor: "ClusterExecutor | None" = None) -> None:
    """Print what a solve will take, on this machine or on a cluster."""
    from retrograde.games.catalog import variant

    with progress_listener(how.as_json) as line:
        announce(line, "reading the rules")
        from retrograde.solver.conformance.check import precheck
        from retrograde.solver.estimation.estimate import estimate  # slow to import: announce first
        from retrograde.solver.methods.setwise.tiers import looks_plain

        precheck(game).require_ok()
        threads = executor.workers if executor else how.workers or os.cpu_count() or 1
        expected = estimate(
            game, threads, listener=line, metric=goal.metric, against=goal.against is not None, is_plain=looks_plain
        )
        if executor and goal.metric == METRICS[0] and not goal.against:
            from retrograde.solver.estimation.ranges import add_ranges

            add_ranges(game, expected, executor.workers, executor.sharing)
    print_expected(variant(game), expected, path, how, executor)


def print_estimate_of_set(name: str, members: list[str], how: Run, metric: str) -> None:
    """Print what it will take to solve the unsolved variants of a set; with --fresh, all of them.

    *name* is the set's, *members* are its variants.
    """
    from retrograde.games.catalog import load_game

    unsolved = [
        member for member in members if how.fresh or not usual_path_and_goal(load_game(member), metric)[0].exists()
    ]
    with progress_listener(how.as_json) as line:
        from retrograde.solver.estimation.amounts import add_estimates
        from retrograde.solver.estimation.estimate import estimate

        phase, estimates = Phase("estimating", line, len(unsolved)), []
        for member in unsolved:
            estimates.append(estimate(load_game(member), how.workers or os.cpu_count() or 1, metric=metric or None))
            phase.advance(1)
    print_expected(name, add_estimates(estimates), database_path(members[0]), how)


def print_expected(
    name: str, expected: "Estimate", path: Path, how: Run, executor: "ClusterExecutor | None" = None
) -> None:
    """Print an estimate."""
    folder = next(folder for folder in path.absolute().parents if folder.is_dir())
    free = shutil.disk_usage(folder).free
    refused = not executor and how.memory is not None and how.memory < expected.least_memory
    if how.as_json:
        tiers = [{"tier": tier, "records": records} for tier, records in expected.tiers.items()]
        fits = expected.fits(free)
        fitting = {"disk_free": free, "fits_disk": fits, "fits_memory": not refused}
        print_json({"variant": name, **asdict(expected), "tiers": tiers, **fitting})
        return
    click.echo(f"{heading(name)}: an estimate\n")
    workers = [("workers", str(executor))] if executor else []
    click.echo(indent(table(workers + rows_of_estimate(expected, free, refused), "<<")))
    # The records by tier, or else by wave, if there are neither too few nor too many of them for a table.
    for key, counts in (("tier", expected.tiers), ("plies from the start", dict(enumerate(expected.waves)))):
        if 1 < len(counts) <= MOST_ROWS:
            body = [(heading(key), heading("records"))] + [(str(each), f"{count:,}") for each, count in counts.items()]
            click.echo("\n" + indent(table(body, ">>", gap="   ")))
            break
    click.echo("\n  It rests on")
    for basis in expected.rests_on:
        click.echo(faint(wrap(f"  - {basis}", 4)))


def rows_of_estimate(expected: "Estimate", free: int, refused: bool) -> list[tuple[str, str]]:
    """Return the rows of an estimate. *free* is the free space on the disk; *refused*: --memory is too little."""
    texts = {name: amount_text(expected, name) for name in expected.ranges}
    memory = texts["memory"]
    workers = []
    if "worker" in texts:
        memory += " of the process that solves"
        workers = [("", f"{texts['worker']} of each worker"), ("wire", f"{texts['wire']} for each ply of remoteness")]
    if refused:
        memory += f"; but solve refuses a --memory of less than about {size(expected.least_memory)}"
    too_little = "" if expected.fits(free) else ", which is too little: solve refuses to begin"
    return [
        ("positions", texts["positions"]),
        ("records", texts["records"]),
        ("time", texts["seconds"]),
        ("memory", memory),
        *workers,
        ("scratch", f"{texts['scratch']} of disk while it runs"),
        ("database", texts["database"]),
        ("disk", f"{size(free)} free{too_little}"),
    ]


def amount_text(expected: "Estimate", name: str) -> str:
    """Return an amount of an estimate in words, with its range: `about 70 M (65 M to 75 M)`."""
    words = AMOUNTS.get(name, size)
    low, high = expected.ranges[name]
    exactly = f"{low:,}" if words is amount else words(low)
    if high is None:
        return f"at least {exactly}"
    if low == high:
        return exactly
    return f"about {words(getattr(expected, name))} ({words(low)} to {words(high)})"


def solve_with_progress(game: Game, path: Path, how: Run, lock: Lock, goal: Goal) -> tuple[int, int]:
    """Solve with progress on the terminal; return how many positions had been solved, and how many explored, before."""
    from retrograde.games.catalog import trust

    resumed: dict[str, int] = {}

    def listen(progress: Progress) -> None:
        resumed[progress.phase] = progress.resumed
        line(progress)

    try:
        with progress_listener(how.as_json, how.about) as line, warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: line.say(f"retrograde: warning: {printable(str(message))}")
            announce(line, "reading the rules")
            from retrograde.solver.engine import solve  # slow to import: announce first

            with executor_for(how.cluster, how.mpi) as executor:
                if executor and not how.as_json:
                    line.say(f"retrograde: {executor}")
                solve(
                    game, path, workers=how.workers, memory=how.memory, fresh=how.fresh, listener=listen, lock=lock,
                    metric=goal.metric, ties=goal.ties, against=goal.against, executor=executor,
                )  # fmt: skip
    except KeyboardInterrupt as error:
        failure = explain(error)
        is_resumable = failure.status == INTERRUPTED and has_journal(game, path, goal)
        if is_resumable:
            trust(game)  # so that `solve` finds the rules by the name that `list` shows
        starts_anew = how.fresh and not path.exists()  # an interrupted solve that is to replace a database goes on
        command = "the same command without --fresh" if starts_anew else "the same command"
        note = f"; finished work is kept, and {command} resumes the solve" if is_resumable else ""
        raise Failure(f"{failure.message}{note}", failure.status) from None
    return resumed.get("solving", 0), resumed.get("exploring", 0)
