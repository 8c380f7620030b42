"""`retrograde match`: games between two players, counted."""

from collections import defaultdict
from contextlib import closing
from random import Random
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.common import (
    WithPlayers,
    complete_players,
    database_option,
    json_option,
    player_named,
    print_json,
    source_argument,
)
from retrograde.cli.known import open_oracle, time_option
from retrograde.cli.query import read_reachable
from retrograde.cli.words import heading, indent, table
from retrograde.games import DRAW, FLIPPED, LOSE, TIE, WIN

if TYPE_CHECKING:
    from retrograde.solver.play.oracle import Oracle

SECONDS = 1.0


@click.command(cls=WithPlayers)
@source_argument
@click.argument("a", metavar="A", shell_complete=complete_players)
@click.argument("b", metavar="B", shell_complete=complete_players)
@click.option("--games", type=click.IntRange(1), default=100, show_default=True, help="How many to play.")
@click.option("--from", "position", metavar="POSITION", help="Where to begin, instead of the start; or random.")
@click.option("--seed", type=int, default=1, show_default=True, help="For the same play by chance each time.")
@time_option(SECONDS, "for a move")
@database_option
@json_option
def command(
    source: str,
    a: str,
    b: str,
    games: int,
    position: str | None,
    seed: int,
    seconds: float,
    database: str | None,
    as_json: bool,
) -> None:
    """Let two players play one another, taking turns at moving first.

    A and B are perfect; first (the first of the best moves, sets no traps); random; greedy; depth:4 or time:0.5 (looks
    ahead so many plies or seconds, and goes by the game's estimate); a player that is installed, such as rules (for
    tic-tac-toe); or a skill from 0 to 1. A win is a point, a tie or a draw half of one. Mistakes are moves that gave up
    value; where there is no database, those of which a search has proved it in the time for a move.

    A game without a start begins in random positions, each played twice, once with either side.

    \b
    Examples:
      retrograde match tictactoe perfect rules --games 100
      retrograde match connect4:4,4 depth:2 perfect --games 20
      retrograde match connect4:4,4 perfect 0.8 --games 200 --seed 7 --json
    """
    with closing(open_oracle(source, database, seconds)) as oracle:
        outcome = contest(oracle, (a, b), games, position, seed)
        variant, puzzle = oracle.variant, oracle.game.players == 1
    if as_json:
        print_json({"variant": variant, "games": games, "seed": seed, "players": outcome})
        return
    click.echo(f"{variant}: {a} against {b}, {games} games, seed {seed}\n")
    won, drawn = ("solved", "not solved") if puzzle else ("won", "drawn")
    head = ["", won, "tied", drawn, "lost", "points", "mistakes", "as first", "as second"]
    rows = [[heading(text) for text in head]]
    for one in outcome:
        counts = [str(one[column]) for column in ("won", "tied", "drawn", "lost")]
        rest = [f"{one['points']:g}", str(one["mistakes"]), f"{one['first']:g}", f"{one['second']:g}"]
        rows.append([one["player"], *counts, *rest])
    click.echo(indent(table(rows, "<" + ">" * (len(head) - 1))))


def contest(
    oracle: "Oracle", names: tuple[str, str], games: int, position: str | None, seed: int
) -> list[dict[str, Any]]:
    """Play games, the first player named moving first in every other; return the counts of both.

    A puzzle has one player, who is the first in every other.
    """
    from retrograde.solver.play.match import play, points, random_position

    players = [player_named(name, oracle, Random(f"{seed} {k}")) for k, name in enumerate(names)]
    beginnings, dice = Random(f"{seed} beginnings"), Random(f"{seed} dice")
    by_chance = position == "random" or (position is None and oracle.start is None)
    start = 0
    if not by_chance:
        start = oracle.game.start if position is None else read_reachable(oracle, position)
    counts: list[dict[Any, float]] = [defaultdict(int), defaultdict(int)]
    for number in range(games):
        if by_chance and number % 2 == 0:
            start = random_position(oracle, beginnings)
        first = number % 2
        played = play(oracle, start, (players[first], players[1 - first]), dice)
        sides = [(first, played.value), (1 - first, FLIPPED[played.value])]
        for side, value in sides[: oracle.game.players]:
            counts[side][value] += 1
            counts[side]["first" if side == first else "second"] += points(value)
            counts[side]["mistakes"] += played.mistakes[side != first]
    return [
        {
            "player": name, "won": count[WIN], "tied": count[TIE], "drawn": count[DRAW], "lost": count[LOSE],
            "points": count["first"] + count["second"], "mistakes": count["mistakes"],
            "first": count["first"], "second": count["second"],
        }
        for name, count in zip(names, counts, strict=True)
    ]  # fmt: skip
