"""`retrograde sum`: the value of several games played side by side, in each of which a player without a move loses."""

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli import options
from retrograde.cli.common import open_source, print_json, read_position
from retrograde.cli.failure import Failure
from retrograde.cli.render.words import coloured, heading, indent, table
from retrograde.databases.errors import NoDatabase
from retrograde.databases.location import metric_named
from retrograde.games.contract.game import metric_of
from retrograde.solver.values.sums import add, goals, text_of, value_of

if TYPE_CHECKING:
    from retrograde.databases import Database
    from retrograde.games import Game

Component = tuple["Database", int]
"""A game of the sum (its database), and its position."""


@click.command()
@click.argument("parts", nargs=-1, required=True, metavar="VARIANT...", shell_complete=options.complete_variants)
@click.option("--cgsuite", is_flag=True, help="Print the sum as source text of CGSuite 2, and compute nothing.")
@options.json
def command(parts: tuple[str, ...], cgsuite: bool, as_json: bool) -> None:
    """Show the value of a sum of games: the player to move chooses one of them and moves there.

    A player who cannot move in any of them loses. The command adds the values of the games, and does not solve the sum
    as one game. If both players have the same moves in all games, the values are nimbers: first run `solve --metric
    nimber`. Otherwise they are canonical forms, computed from the rules, with mean and temperature.

    A position may follow VARIANT after a space, in quotes; by default the game is at its start. A game may occur more
    than once.

    \b
    Examples:
      retrograde sum nim nim
      retrograde sum nim nim nim --json
      retrograde sum domineering:2,2 domineering:3,3
      retrograde sum --cgsuite clobber:5,6
    """
    if cgsuite:
        print_cgsuite(parts, as_json)
        return
    if any(is_partizan(text) for text in parts):
        print_partizan(parts, as_json)
        return
    with ExitStack() as opened:
        components = [read_component(text, opened) for text in parts]
        nimbers = [database.measures(position)["nimber"] for database, position in components]
        total = add(nimbers)
        wins = [
            winning_moves(database, position, goal)
            for (database, position), goal in zip(components, goals(nimbers), strict=True)
        ]
        if as_json:
            print_json(facts(components, nimbers, total, wins))
            return
        print_sum(components, nimbers, total, wins)
        value = value_of(total)
        click.echo(f"\n{coloured(value, VERDICTS[value.name])}")


VERDICTS = {
    "WIN": "the player to move wins",
    "LOSE": "the player to move loses",
    "DRAW": "a draw: neither side can force an end",
}


def read_component(text: str, opened: ExitStack) -> Component:
    """Return the database and the position that a component of the sum names; raise Failure if it has no nimbers."""
    from retrograde.games.catalog import typed
    from retrograde.solver.metrics.method import refuse_nimbers

    source, _, position_text = text.strip().partition(" ")
    database = opened.enter_context(open_nimbers(source))
    if database.metric != "nimber":
        refuse_nimbers(database.game)
        own = " --metric nimber" if metric_of(database.game) != "nimber" else ""
        raise Failure(
            f"error: {source} was not solved by nimbers; do it with: retrograde solve {typed(database.game)}{own}"
        )
    position = read_position(database.game, position_text.strip()) if position_text else database.game.start
    database[position]  # raises NotInDatabase where play never reaches it
    return database, position


def open_nimbers(source: str) -> "Database":
    """Open the database with the nimbers of a source: VARIANT, or VARIANT@nimber if that is another file."""
    from retrograde.games.catalog import load_game
    from retrograde.solver.metrics.method import refuse_nimbers

    if source.endswith(".h5"):
        return open_source(source, None)
    name, metric = metric_named(source)
    try:
        return open_source(source if metric else f"{source}@nimber", None)
    except NoDatabase as error:
        if not metric:
            with suppress(NoDatabase):
                return open_source(source, None)
        refuse_nimbers(load_game(name))  # else the error would advise a solve that is refused
        raise error from None


def winning_moves(database: "Database", position: int, goal: int | None) -> list[str]:
    """Return the names of the moves in one game that win the sum: those to a position with nimber *goal*."""
    game = database.game
    if goal is None or game.primitive(position):
        return []
    return [
        game.move_name(position, move)
        for move in game.generate_moves(position)
        if database.measures(game.do_move(position, move))["nimber"] == goal
    ]


def facts(components: list[Component], nimbers: list[int], total: int, wins: list[list[str]]) -> dict[str, Any]:
    """Return the value of a sum, ready for JSON."""
    from retrograde.solver.values.measures import facts_of

    return {
        "value": value_of(total).name.lower(),
        **facts_of("nimber", {}, [total]),
        "parts": [
            {
                "variant": database.file.variant,
                "position": database.game.write(position),
                **facts_of("nimber", {}, [nimber]),
                "wins": moves,
            }
            for (database, position), nimber, moves in zip(components, nimbers, wins, strict=True)
        ],
    }


def print_sum(components: list[Component], nimbers: list[int], total: int, wins: list[list[str]]) -> None:
    """Print the parts of a sum with their nimbers and winning moves, and the nimber of the sum."""
    rows = [(heading("game"), heading("position"), heading("nimber"), heading("moves that win"))]
    for (database, position), nimber, moves in zip(components, nimbers, wins, strict=True):
        rows.append((database.file.variant, database.game.write(position), text_of(nimber), " ".join(moves)))
    rows.append(("the sum", "", text_of(total), ""))
    click.echo(indent(table(rows, "<<><")))


# Games in which the players have their own moves


def is_partizan(text: str) -> bool:
    """Return whether the players differ in a part of a sum, by the rules of its game.

    >>> is_partizan("domineering:2,2"), is_partizan("nim:3+5")
    (True, False)
    """
    from retrograde.games.catalog import load_game
    from retrograde.solver.metrics.method import refuse_partisan
    from retrograde.solver.runtime.work import MetricNotApplicable

    source = text.strip().partition(" ")[0]
    if "@" in source or source.endswith(".h5"):
        return False
    try:
        refuse_partisan(load_game(source))
    except MetricNotApplicable:
        return True
    return False


def game_and_position(text: str) -> "tuple[Game, int]":
    """Return the game and the position that a part of a sum names."""
    from retrograde.games.catalog import load_game

    source, _, position_text = text.strip().partition(" ")
    game = load_game(source)
    return game, read_position(game, position_text.strip()) if position_text else game.start


def print_cgsuite(parts: tuple[str, ...], as_json: bool) -> None:
    """Print a sum as an expression of CGSuite."""
    from retrograde.cli.render.cgsuite import cgsuite_text

    text = " + ".join(cgsuite_text(*game_and_position(part)) for part in parts)
    if as_json:
        print_json({"cgsuite": text})
    else:
        click.echo(text)


def print_partizan(parts: tuple[str, ...], as_json: bool) -> None:
    """Print the canonical forms of the parts and of their sum, and who wins it."""
    from retrograde.games.catalog import variant
    from retrograde.solver.metrics.partizan import PartizanGame
    from retrograde.solver.values.partizan import Values

    values, found = Values(), []
    left, right = "the first player", "the second player"
    for game, position in map(game_and_position, parts):
        partizan = PartizanGame(game, values)
        found.append((variant(game), game.write(position), partizan.value(position)))
        if len(partizan.players) > 1:
            left, right = (game.words.get(player, player) for player in partizan.players[:2])
    total = values.add(value for _, _, value in found)
    found.append(("the sum", "", total))
    rows = [(*names, values.name(value), *map(str, values.mean_and_temperature(value))) for *names, value in found]
    if total == 0:
        verdict = VERDICTS["LOSE"]
    elif values.is_at_most(0, total):
        verdict = f"{left} wins, no matter who begins"
    elif values.is_at_most(total, 0):
        verdict = f"{right} wins, no matter who begins"
    else:
        verdict = VERDICTS["WIN"]
    titles = ("game", "position", "value", "mean", "temperature")
    if as_json:
        *rows_of_parts, (_, _, *measures) = rows
        facts_of_parts = [dict(zip(("variant", *titles[1:]), row, strict=True)) for row in rows_of_parts]
        print_json({**dict(zip(titles[2:], measures, strict=True)), "winner": verdict, "parts": facts_of_parts})
        return
    click.echo(indent(table([tuple(map(heading, titles)), *rows], "<<<>>")))
    click.echo(f"\n{verdict}; {left} is Left, for whom values above 0 are good")
