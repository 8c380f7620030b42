"""`retrograde match`: plays games between two players, and counts the results."""

from collections import defaultdict
from contextlib import ExitStack, closing, nullcontext
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli import options
from retrograde.cli.commands.query import read_reachable
from retrograde.cli.common import file_named, open_source, player_named, plies_in, print_json, read_position
from retrograde.cli.failure import explain_interrupt
from retrograde.cli.progress import progress_listener
from retrograde.cli.render.expected import EXPECTATION, within
from retrograde.cli.render.moves import check_writes_pgn, pgn_of, pgn_option
from retrograde.cli.render.oracles import open_oracle, time_option
from retrograde.cli.render.words import heading, indent, table
from retrograde.databases.location import metric_named
from retrograde.games import DRAW, FLIPPED, LOSE, TIE, WIN, Game
from retrograde.games.contract.unfolded import folded

if TYPE_CHECKING:
    from retrograde.solver.play.match import FinishedGame
    from retrograde.solver.play.oracle import Oracle

SECONDS = 1.0


@click.command(cls=options.WithPlayers)
@options.source
@click.argument("a", metavar="A", shell_complete=options.complete_players)
@click.argument("b", metavar="B", shell_complete=options.complete_players)
@click.option(
    "--games", type=click.IntRange(1), metavar="N", default=100, show_default=True, help="How many games to play."
)
@click.option("--from", "position", metavar="POSITION", help="First position instead of the start; or random.")
@click.option(
    "--seed",
    type=int,
    metavar="N",
    default=1,
    show_default=True,
    help="Random seed; the same seed gives the same games.",
)
@click.option("--exact", is_flag=True, help="Compute each player's expected payoff minus the other's; play no games.")
@time_option(SECONDS, "for a move")
@pgn_option("the games")
@options.weights
@options.database
@options.json
def command(
    source: str, a: str, b: str, games: int, position: str | None, seed: int, exact: bool, seconds: float,
    pgn: str | None, weights: str | None, database: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Play games between two players, and count the results. Each moves first in every other game.

    \b
    A and B are players:
      PLAYERS

    A win is one point, a tie or a draw half a point. Mistakes are moves that gave up value. If there is no database, a
    move counts as a mistake only if a search has proved this within --time. If the database has expectations, mistakes
    are not counted.

    In a game for three or more, the player who moves first has one seat, and the other player has all the others.

    If a chess ending is also solved with --metric dtz, games follow the fifty-move rule: after 100 plies without a
    capture or pawn move the game is a draw. The count begins with the counter of the FEN.

    If a game has no start, the command selects random positions, and plays two games from each, with sides exchanged.

    With --exact, the output is the expected payoff of each player. A and B must then be players whose move
    probabilities are known: random, greedy, perfect, skill:0.8, depth:4, exploit:random, FILE.py:function, or an
    installed player that gives them.

    \b
    Examples:
      retrograde match tictactoe perfect rules --games 100
      retrograde match connect4:4,4 depth:2 perfect --games 20
      retrograde match connect4:4,4 perfect 0.8 --games 200 --seed 7 --json
      retrograde match tictactoe random skill:1 --exact
    """
    from retrograde.solver.play.weights import load_weights

    if exact:
        options.refuse_options(("games", "seed", "seconds", "pgn"), "goes with games, and not with --exact")
        game, name = game_of(source, database)
        print_exact(load_weights(game, weights), name, (a, b), position, as_json)
        return
    with closing(open_oracle(source, database, seconds)) as oracle:
        oracle.game = load_weights(oracle.game, weights)
        check_writes_pgn(oracle.game, pgn)
        contest = Contest(oracle, (a, b), position, seed)
        failure = None
        try:
            contest.play(games, None if pgn is None else Path(pgn))
        except KeyboardInterrupt as error:
            played = len(contest.games)
            failure = explain_interrupt(error, f"; {played} of {games} {'game' if games == 1 else 'games'} were played")
        if contest.games or not failure:
            print_table(contest, seed, as_json)
    if failure:
        raise failure from None


def print_table(contest: "Contest", seed: int, as_json: bool) -> None:
    """Print the counts of both players in the games that were played."""
    outcome, games, (a, b) = contest.counts(), len(contest.games), contest.names
    variant, puzzle = contest.oracle.variant, contest.oracle.game.players == 1
    if as_json:
        print_json({"variant": variant, "games": games, "seed": seed, "players": outcome})
        return
    click.echo(f"{variant}: {a} against {b}, {games} {'game' if games == 1 else 'games'}, seed {seed}\n")
    won, drawn = ("solved", "not solved") if puzzle else ("won", "drawn")
    head = ["", won, "tied", drawn, "lost", "points", "mistakes", "as first", "as second"]
    rows = [[heading(text) for text in head]]
    for player in outcome:
        counts = [str(player[column]) for column in ("won", "tied", "drawn", "lost")]
        mistakes = "–" if player["mistakes"] is None else str(player["mistakes"])
        rest = [f"{player['points']:g}", mistakes, f"{player['first']:g}", f"{player['second']:g}"]
        rows.append([player["player"], *counts, *rest])
    click.echo(indent(table(rows, "<" + ">" * (len(head) - 1))))


def print_exact(game: "Game", name: str, names: tuple[str, str], position: str | None, as_json: bool) -> None:
    """Print each player's expected payoff, minus the other's."""
    from retrograde.games.catalog import variant
    from retrograde.solver.metrics.models.model import NoModel
    from retrograde.solver.metrics.models.names import model_named
    from retrograde.solver.play.pairing import expected

    with ExitStack() as opened, progress_listener(as_json) as line:
        try:
            first, second = (opened.enter_context(model_named(player, game, name)) for player in names)
            start = None if position is None else read_position(game, position)
            found = expected(game, first, second, start, listener=line)
        except NoModel as error:
            raise click.UsageError(str(error), click.get_current_context()) from error
    if as_json:
        print_json({"variant": variant(game), "players": list(names), **found})
        return
    own = within(found), within(found["waiting"])
    other = within(for_other_player(found["waiting"])), within(for_other_player(found))
    click.echo(f"{variant(game)}: {names[0]} against {names[1]}, each player's expected payoff minus the other's\n")
    head = tuple(heading(text) for text in ("", "as first", "as second"))
    click.echo(indent(table([head, (names[0], *own), (names[1], *other)], "<<<")))


def for_other_player(facts: dict[str, Any]) -> dict[str, float]:
    """Return an expectation as the other player sees it."""
    names = {"expectation": "expectation", "low": "high", "high": "low"}
    return {name: 0.0 - facts[other] for name, other in names.items()}  # not -0.0


def game_of(source: str, database: str | None) -> "tuple[Game, str]":
    """Return the game that VARIANT|FILE and --database name, and the name of its database, with its metric if given."""
    from retrograde.games.catalog import load_game

    if database is None and file_named(source) is None:
        return load_game(metric_named(source)[0]), source
    with open_source(source, database) as opened:
        return folded(opened.game), opened.file.variant


class Contest:
    """Games between two players, who take turns to move first. A puzzle has one player, who is the first named in
    every other game."""

    def __init__(self, oracle: "Oracle", names: tuple[str, str], position: str | None, seed: int):
        self.oracle = oracle
        self.names = names
        self.players = [player_named(name, oracle, Random(f"{seed} {k}")) for k, name in enumerate(names)]
        self.position = position
        self.beginnings, self.dice = Random(f"{seed} beginnings"), Random(f"{seed} dice")
        self.games: list[FinishedGame] = []
        """The games that have been played to their end."""

    def play(self, games: int, pgn: Path | None) -> None:
        """Play games; write each to a file as PGN when it ends."""
        from retrograde.solver.play.match import play, random_position
        from retrograde.solver.play.oracles.fifty_moves import apply_fifty_move_rule, knows_fifty_move_rule

        oracle, position = self.oracle, self.position
        random_start = position == "random" or (position is None and oracle.start is None)
        start, count = 0, plies_in(oracle.game, position or "")
        by_rule = partial(apply_fifty_move_rule, oracle) if knows_fifty_move_rule(oracle) else None
        if not random_start:
            start = oracle.game.start if position is None else read_reachable(oracle, position)
        with nullcontext() if pgn is None else pgn.open("w", encoding="utf-8") as file:
            for number in range(games):
                if random_start and number % 2 == 0:
                    start = random_position(oracle, self.beginnings)
                first = number % 2
                players = self.players[first], self.players[1 - first]
                played = play(oracle, start, players, self.dice, by_rule, count)
                if file:
                    text = pgn_of(oracle.game, start, played.moves, self.names[:: 1 - 2 * first], count=count)
                    file.write(f"\n{text}" if number else text)
                    file.flush()  # the games played so far stay if the command is killed
                self.games.append(played)

    def counts(self) -> list[dict[str, Any]]:
        """Return the counts of both players; mistakes are None if they are not counted."""
        from retrograde.solver.play.match import points

        # For each player: games by value, points as first and as second, and mistakes.
        score: list[dict[Any, float]] = [defaultdict(int), defaultdict(int)]
        players, counts_mistakes = self.oracle.game.players, self.oracle.metric != EXPECTATION
        for number, played in enumerate(self.games):
            first = number % 2
            sides = [(first, played.value), (1 - first, FLIPPED[played.value])]
            for side, value in sides[:players]:
                score[side][value] += 1
                # A puzzle that is not solved brings nothing.
                gained = points(value) if players > 1 else float(value == WIN)
                score[side]["first" if side == first else "second"] += gained
                score[side]["mistakes"] += played.mistakes[0 if side == first else 1]
        return [
            {
                "player": name, "won": own[WIN], "tied": own[TIE], "drawn": own[DRAW], "lost": own[LOSE],
                "points": own["first"] + own["second"], "mistakes": own["mistakes"] if counts_mistakes else None,
                "first": own["first"], "second": own["second"],
            }
            for name, own in zip(self.names, score, strict=True)
        ]  # fmt: skip
