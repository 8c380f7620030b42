"""`retrograde search`: proves the value of a position without a database."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from retrograde.cli import options
from retrograde.cli.common import check_can_write, print_json, read_position
from retrograde.cli.progress import COMPILING, poll_progress, progress_listener, search_progress
from retrograde.cli.render.measures import measure_in_words, score_line
from retrograde.cli.render.moves import mover, names_of, print_line
from retrograde.cli.render.oracles import evidence_text, verdict
from retrograde.cli.render.words import amount, duration, indent, plies
from retrograde.games import LOSE, TIE, UNDECIDED, WIN, Game, RetrogradeError
from retrograde.games.contract.game import Traits, defines, metric_of
from retrograde.games.contract.raised import given_start
from retrograde.solver.runtime.progress import Listener, announce

if TYPE_CHECKING:
    from retrograde.solver.search.probing.tables import LoadedTables
    from retrograde.solver.search.searcher import SearchResult

TABLE = "256M"
"""The table's usual size. Long searches take more (see `table_for_long_search`) unless --table is given."""
METHODS = ["alpha-beta", "pn"]
ORDERS = {"given": "as given", "worst": "worst first", "best": "best first"}
"""Orders of moves, by their names in `trees/tree.py`."""
WITHOUT_EFFECT = {
    "a --tree": ("seconds", "size", "workers", "value_only", "tables"),
    "searches of nimbers": ("size", "workers", "value_only", "tables"),
    "searches of scores": ("tables",),
    "searches of games with chance or several players": ("method", "size", "workers", "value_only", "tables"),
}
"""The options without effect in some searches, by the name of these searches in the message that refuses them."""
DISTANCE_SECONDS = 10.0
"""Seconds to search for the distance of a value that proof-number search has proved, unless --time is given."""


@click.command()
@options.source
@click.argument("position", required=False)
@options.time_limit
@click.option(
    "--depth",
    type=click.IntRange(1),
    metavar="N",
    help="Search to a depth of N plies only: for wins and losses, not ties.",
)
@options.size(
    "--table",
    "size",
    None,
    f"Memory for the transposition table; by default {TABLE}, in long searches up to 1G or a quarter of what is free.",
)
@options.threads
@click.option(
    "--method",
    type=click.Choice(METHODS),
    help="How to search; by default by proof numbers (pn) if positions can repeat, else by alpha-beta.",
)
@click.option(
    "--metric",
    type=click.Choice(["remoteness", "score", "nimber"]),
    help="What to search for: value and distance, the score, or the nimber; by default the game's own metric.",
)
@click.option(
    "--tables/--no-tables",
    default=True,
    show_default=True,
    help="Probe databases of smaller games of the family, such as endings, during the search.",
)
@click.option("--value-only", is_flag=True, help="Prove the value only; the distance takes longer.")
@click.option(
    "--tree", is_flag=True, help="Draw the trees of textbook searches to --depth; values at its leaves are estimates."
)
@click.option("--order", type=click.Choice(ORDERS), help="Draw alpha-beta with this order of moves only, in a --tree.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write the --tree to an .svg file."
)
@options.json
def command(
    source: str, position: str | None, seconds: float | None, depth: int | None, size: int | None, workers: int | None,
    method: str | None, metric: str | None, tables: bool, value_only: bool, tree: bool, order: str | None,
    out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Prove the value of a position by search, without a database.

    By default POSITION is the start. All results are proved, except those that the command calls estimates. When --time
    is over, the command prints the bounds that it has proved so far.

    Alpha-beta search finds the value and the distance. Proof-number search (pn) also proves draws by endless play, and
    finds no distance. In games with points, the result is the score: by how many points the player to move can win.

    With chance, the result is the expected payoff, and for several players, what each gets. These are exact if the
    search reaches the end of every line, otherwise estimates.

    In puzzles, the search finds a shortest solution (IDA*). In octal games and Grundy's game, it finds the nimber of
    heaps of any size, and the period of the nim-sequence if it can prove one.

    The search trusts the databases of smaller games of the same family, such as the chess endings to which captures
    lead.

    \b
    Examples:
      retrograde search connect4:4,4 2122
      retrograde search connect4:4,4 --value-only
      retrograde search mutorere --json
      retrograde search othello:4,4
      retrograde search kalah:3,2 --metric score
      retrograde search eightpuzzle:4,4 51.3/2674/9AB8/DEFC
      retrograde search octal:code=.77 10000
      retrograde search tictactoe X.O/.X./O.. --tree --depth 2
    """
    from retrograde.games.catalog import load_game
    from retrograde.solver.conformance.check import precheck
    from retrograde.solver.play.answer import bounds_json, distance_text
    from retrograde.solver.play.oracle import bounds_of_finding
    from retrograde.solver.runtime.memory import parse_size

    if order and not (tree or out):
        raise click.UsageError("--order goes with --tree")
    if depth and method == "pn" and not (tree or out):
        raise click.UsageError("--depth needs --method alpha-beta: proof numbers know no plies")
    game = load_game(source)
    precheck(game).require_ok()
    otherwise = depth or method or tree or out
    if metric == "nimber" and otherwise:
        raise click.UsageError("nimbers are searched without --depth, --method, --tree and --out")
    if metric == "nimber" or (metric is None and not otherwise and game.heap_code and metric_of(game) == "nimber"):
        refuse_options_of("searches of nimbers")
        print_nimber(game, position, seconds, as_json)
        return
    root = start_of(game) if position is None else read_position(game, position)
    if tree or out:
        refuse_options_of("a --tree")
        if order and method == "pn":
            raise click.UsageError("--order is for alpha-beta, and not for --method pn")
        by_points, by_proofs = metric == "score" if metric else None, method == "pn"
        draw_trees(game, root, (depth, by_points, by_proofs, ORDERS[order] if order else ""), out, as_json)
        return
    limits = SearchLimits(
        seconds, depth, size or parse_size(TABLE), size is None, workers or os.cpu_count() or 1, not value_only, tables
    )
    if (metric or metric_of(game)) == "score":
        if depth or method == "pn":
            raise click.UsageError("scores are searched to the end of the game, without --depth and --method pn")
        refuse_options_of("searches of scores")
        print_score(game, root, limits, as_json)
        return
    if metric == "remoteness" and game.players > 2:
        raise RetrogradeError(f"remoteness is for one player or two, not for {game.players}; leave out --metric")
    if game.players > 2 or (metric or metric_of(game)) == "expectation":
        refuse_options_of("searches of games with chance or several players")
        print_points(game, root, limits, as_json)
        return
    with progress_listener(as_json) as line:
        found, moves = search_value(game, root, method, limits, line)
    bounds, names = bounds_of_finding(found), names_of(game, root, moves)
    if as_json:
        print_json({**bounds_json(game, root, bounds), "line": names})
        return
    text = verdict(bounds, mover(game, root), distance_text(game, bounds.value, bounds.remoteness))
    click.echo(f"{indent(game.show(root))}\n\n{text}")
    click.echo(evidence_text(bounds, puzzle=game.players == 1))
    if game.players == 1 and bounds.proved and defines(game, "least_plies"):
        click.echo("no solution is shorter if the rules' lower bound is right (least_plies; see retrograde check)")
    if limits.tables and game.players == 1 and (note := about_patterns(game)):
        click.echo(note)
    print_line(game, root, names)
    if found.value in (WIN, LOSE, TIE) and found.remoteness is None and not value_only:
        known_by_rules = found.value == TIE and Traits.of(game).has_tie_in
        hint = f": the rules say {plies(game.tie_in(root))} (tie_in)" if known_by_rules else ""
        click.echo(f"distance not proved{hint}; a longer --time may prove it, or solve the game")


def refuse_options_of(searches: str) -> None:
    """Raise UsageError if the command line gives an option without effect in these searches (see WITHOUT_EFFECT)."""
    options.refuse_options(WITHOUT_EFFECT[searches], f"has no effect in {searches}")


def print_nimber(game: Game, position: str | None, seconds: float | None, as_json: bool) -> None:
    """Search for the nimber of a position, and print it; raise UsageError unless the game declares its heaps."""
    from retrograde.cli.render.nimbers import print_heaps
    from retrograde.games.catalog import variant

    if not game.heap_code:
        why = "nimbers are searched in games with heaps that declare their heap_code"
        raise click.UsageError(f"{why}; in others, retrograde solve {variant(game)} --metric nimber computes them")
    print_heaps(game, game.write(start_of(game)) if position is None else position, seconds, as_json)


def draw_trees(
    game: Game, position: int, settings: tuple[int | None, bool | None, bool, str], out: Path | None, as_json: bool
) -> None:
    """Print the search trees of a position, or write them as a picture; for the settings see `trees_of`."""
    from retrograde.cli.render.trees import print_trees
    from retrograde.solver.search.trees.tree import trees_of

    if out is not None and out.suffix != ".svg":
        raise click.UsageError(f"the picture must be .svg, not {out.name!r}", click.get_current_context())
    if game.primitive(position) != UNDECIDED:
        raise RetrogradeError(f"the game is over in {game.write(position)!r}; a tree begins where it goes on")
    if out is not None:
        check_can_write(out)
    print_trees(trees_of(game, position, *settings), out, as_json)


class SearchLimits(NamedTuple):
    """The limits of a search, whether to find the distance, and whether to probe tables.

    The transposition table has *size* bytes; if it *grows*, a long search may take more.
    """

    seconds: float | None
    depth: int | None
    size: int
    grows: bool
    workers: int
    distance: bool
    tables: bool

    @property
    def most(self) -> int:
        """The bytes to which the table may grow; 0 if it may not."""
        from retrograde.solver.search.searcher import table_for_long_search

        return table_for_long_search() if self.grows else 0


def print_score(game: Game, root: int, limits: SearchLimits, as_json: bool) -> None:
    """Search for the score of a position, or for its sign if no distance is wanted, and print the result."""
    from retrograde.solver.play.answer import bounds_json
    from retrograde.solver.play.oracle import SEARCH, Evidence, ValueBounds
    from retrograde.solver.play.oracles.scoring import score_json
    from retrograde.solver.search.scores.searcher import ScoreSearch

    with progress_listener(as_json) as line:
        announce(line, COMPILING)
        search = ScoreSearch(game, limits.workers, limits.size, most=limits.most)
        with poll_progress(line, search_progress(search)):
            found = search.score(root, limits.seconds, value_only=not limits.distance)
            moves = [] if found.score is None else search.best_line(root, found.score, limits.seconds)
    bounds = ValueBounds(found.at_least, found.at_most, None, Evidence(SEARCH, found.nodes, found.seconds))
    names = names_of(game, root, moves)
    if as_json:
        print_json({**bounds_json(game, root, bounds), "line": names, **score_json(found)})
        return
    head = f"{indent(game.show(root))}\n\n{verdict(bounds, mover(game, root))}"
    click.echo(f"{head}\n{score_line(score_json(found))}{evidence_text(bounds)}")
    print_line(game, root, names)


def print_points(game: Game, position: int, limits: SearchLimits, as_json: bool) -> None:
    """Search a game with chance, or for several players, and print what the players may expect and the best move.

    Without limits the search ends after DISTANCE_SECONDS.
    """
    from retrograde.games.catalog import variant
    from retrograde.solver.search.depth.names import AdaptiveDepthSearch
    from retrograde.solver.search.depth.scoring import NO_MOVE
    from retrograde.solver.search.depth.searcher import MaxNSearch

    if game.primitive(position) != UNDECIDED:
        raise RetrogradeError(f"the game is over in {game.write(position)!r}; search where it goes on")
    search = AdaptiveDepthSearch(game)
    seconds = limits.seconds or (None if limits.depth else DISTANCE_SECONDS)
    with progress_listener(as_json) as line:
        announce(line, COMPILING)
        found = search.ask(lambda depth_search: depth_search.find(position, limits.depth, seconds))
    name, measure = "expectation", dict[str, Any](expectation=found.score)
    if isinstance(search.search, MaxNSearch):  # for several players
        name, measure = "utilities", {"utilities": search.search.shares(position, found.move, found.depth)}
    move = None if found.move == NO_MOVE else game.move_name(position, found.move)
    facts = {"exact": found.to_the_end, "depth": found.depth, "nodes": found.nodes, "seconds": round(found.seconds, 3)}
    if as_json:
        print_json({"variant": variant(game), "position": game.write(position), **measure, **facts, "move": move})
        return
    whose = "" if game.players != 2 else ", for player 0" if move is None else ", for the player to move"
    evidence = f"{amount(found.nodes)} positions in {duration(found.seconds)}"
    click.echo(f"{indent(game.show(position))}\n\n{name.capitalize()}: {measure_in_words(name, measure)}{whose}")
    if found.to_the_end:
        click.echo(f"exact, since the search reached the end of every line: {evidence}")
    else:
        click.echo(f"not proved: estimated {plies(found.depth)} ahead, {evidence}")
    if move is not None:
        click.echo(f"\nBest move  {move}")


def search_value(
    game: Game, position: int, method: str | None, limits: SearchLimits, line: Listener
) -> tuple["SearchResult", list[int]]:
    """Return the result of a search by *method* (None: the one that fits), and the moves of best play."""
    from retrograde.solver.rules.examine import is_plain_puzzle
    from retrograde.solver.search.prover import can_repeat

    if is_plain_puzzle(game) and method is None:
        return by_iterative_deepening(game, position, limits, line)
    if method is None and not limits.depth and can_repeat(game, position):
        found = by_proof_numbers(game, position, limits, line)
        if not (limits.distance and found.value in (WIN, LOSE) and found.remoteness is None):
            return found, []
        # Proof numbers give no distance: look for it by alpha-beta in the time that is left.
        left = DISTANCE_SECONDS if limits.seconds is None else max(limits.seconds - found.seconds, 0.01)
        again, moves = by_alpha_beta(game, position, limits._replace(seconds=left), line)
        nodes, seconds = found.nodes + again.nodes, found.seconds + again.seconds
        in_tables = found.in_tables + again.in_tables
        return replace(found, remoteness=again.remoteness, nodes=nodes, seconds=seconds, in_tables=in_tables), moves
    if method == "pn":
        return by_proof_numbers(game, position, limits, line), []
    return by_alpha_beta(game, position, limits, line)


def by_iterative_deepening(
    game: Game, position: int, limits: SearchLimits, line: Listener
) -> tuple["SearchResult", list[int]]:
    """Return what is found of the shortest solution of a puzzle, and its moves."""
    from retrograde.solver.search.probing.patterns import find_patterns
    from retrograde.solver.search.puzzles import PuzzleSearch

    announce(line, COMPILING)
    search = PuzzleSearch(game, limits.size, find_patterns(game) if limits.tables else None)
    with poll_progress(line, search_progress(search)):
        return search.find(position, limits.seconds, limits.depth)


def about_patterns(game: Game) -> str:
    """Return a sentence: from which databases of smaller puzzles a search has its lower bounds, or how to make them.

    It is "" if the game declares no smaller puzzles.
    """
    from retrograde.games.catalog import variant
    from retrograde.solver.search.probing.patterns import missing_patterns

    if missing := missing_patterns(game):  # by variant: whether its file exists, but is unusable
        commands = " && ".join(f"retrograde solve {name}{' --fresh' * exists}" for name, exists in missing.items())
        unusable = ", ".join(name for name, exists in missing.items() if exists)
        why = f"; searched without them: other rules made {unusable}, or it is damaged" if unusable else ""
        return f"databases of smaller puzzles make such searches faster{why}; to make them: {commands}"
    names = ", ".join(dict.fromkeys(map(variant, game.abstractions)))
    return f"lower bounds from the databases {names}" if names else ""


def by_proof_numbers(game: Game, position: int, limits: SearchLimits, line: Listener) -> "SearchResult":
    """Return what proof-number search finds for a position."""
    from retrograde.solver.search.prover import ProofNumberSearch

    announce(line, COMPILING)
    prover = ProofNumberSearch(game, limits.size, tables_of(game, position, limits))
    with poll_progress(line, search_progress(prover)):
        return prover.find(position, limits.seconds)


def by_alpha_beta(game: Game, position: int, limits: SearchLimits, line: Listener) -> tuple["SearchResult", list[int]]:
    """Return what alpha-beta search finds for a position, and the moves of best play."""
    from retrograde.solver.search.searcher import Search

    announce(line, COMPILING)
    search = Search(game, limits.workers, limits.size, tables_of(game, position, limits), limits.most)
    if limits.depth and limits.depth > search.most_plies:
        click.echo(f"searching to {search.most_plies} plies, the most that the entries of the table hold", err=True)
    with poll_progress(line, search_progress(search)):
        found = search.find(position, limits.seconds, limits.distance, limits.depth)
        return found, search.line(position, found, limits.seconds) if limits.distance else []


def tables_of(game: Game, position: int, limits: SearchLimits) -> "LoadedTables | None":
    """Return the tables to probe, or None."""
    if not limits.tables:
        return None
    from retrograde.solver.search.probing.tables import find_tables

    return find_tables(game, position)


def start_of(game: Game) -> int:
    """Return the first position of a game; raise UsageError if it has none."""
    start: int | None = given_start(game)
    if start is None:
        raise click.UsageError(f"{game.name} has no start; give a POSITION", click.get_current_context())
    return start
