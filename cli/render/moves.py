"""Moves for people: numbered as usual in the game, with values and distances, scorecards, and games as PGN."""

from collections.abc import Callable, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.common import check_can_write
from retrograde.cli.render.oracles import estimated_text, value_text
from retrograde.cli.render.words import NOUNS, coloured, heading, indent, table, wrap
from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN, Game
from retrograde.games.contract.game import mover as player_number
from retrograde.games.contract.naming import first_of_other, player_to_move

if TYPE_CHECKING:
    from retrograde.games.contract.choice import Choice
    from retrograde.solver.play.answer import Answer
    from retrograde.solver.play.match import Review
    from retrograde.solver.play.oracle import Oracle

MOVER = "the player to move"
OF_A_PUZZLE = {WIN: "solved", LOSE: "dead end", TIE: "tie", DRAW: "never"}
"""Values of moves in a puzzle."""


# Players


def side_to_move(game: Game, position: int) -> str:
    """Return the player to move, with the sign on the board if that differs: `Red (X)`, `White`; "" if unknown."""
    name, sign = player_to_move(game, position), game.draw_turn(position)
    board = game.draw_board() if name != sign else None
    return f"{name} ({sign})" if board and sign in board.pieces and not hasattr(game, "pgn") else name


def mover(game: Game, position: int) -> str:
    """Return the player to move as a subject: `Red (X) to move`, after the end `Red (X)`, for a puzzle ""."""
    if game.players == 1:
        return ""
    if not (side := side_to_move(game, position)):
        return MOVER
    return f"{side} to move" if game.primitive(position) == UNDECIDED else side


def sides_of(game: Game, start: int) -> tuple[str, str]:
    """Return the names of the players who move first and second from a position."""
    if game.players == 1:
        return "the player", "the player"
    other = first_of_other(game, start)
    names = [side_to_move(game, start), *([] if other is None else [side_to_move(game, other)])]
    return (names[0], names[1]) if all(names) and len(set(names)) == 2 else ("the first player", "the second player")


def names_of_several(game: Game, positions: Sequence[int]) -> list[str]:
    """Return the names of several players by their numbers: the game's, or else `player 1`, `player 2`, …

    *positions* are those of a game. The name of a player is known if it is this player's turn in one of them.
    """
    known = {max(0, player_number(game, position)): side_to_move(game, position) for position in positions}
    return [known.get(player) or f"player {player + 1}" for player in range(game.players)]


# Numbers


def counts_in_pairs(game: Game) -> bool:
    """Return whether a numbered move is one move of each side, as in chess."""
    return hasattr(game, "pgn")


def number_of(game: Game, start: int, ply: int) -> str:
    """Return the number of the move made *ply* plies after a position: `2.`, and `2...` for Black."""
    if not counts_in_pairs(game):
        return f"{ply + 1}."
    if game.draw_turn(start) != next(iter(game.words)):  # Black begins: `words` names White first
        ply += 1
    return f"{ply // 2 + 1}{'...' if ply % 2 else '.'}"


def with_numbers(game: Game, start: int, names: Sequence[str], first: int = 0) -> str:
    """Return a line of moves with move numbers, unless all their names are numbers. It begins *first* plies after
    *start*."""
    if all(name.isdecimal() for name in names):
        return " ".join(names)
    words = []
    for ply, name in enumerate(names, first):
        number = number_of(game, start, ply)
        words.append(name if ply > first and number.endswith("...") else f"{number} {name}")
    return " ".join(words)


def print_line(game: Game, start: int, names: Sequence[str]) -> None:
    """Print best play from a position, if there are any moves."""
    if names:
        head = "Best play"
        line = wrap(f"{head}  {with_numbers(game, start, names)}", len(head) + 2)
        click.echo(f"\n{heading(head)}{line[len(head) :]}")


def names_of(game: Game, position: int, moves: Sequence[int]) -> list[str]:
    """Return the names of moves that are made one after the other."""
    names = []
    for move in moves:
        names.append(game.move_name(position, move))
        position = game.do_move(position, move)
    return names


def moves_played(game: Game, plies: int) -> str:
    """Return the length of a game: `1 move`, `16 moves`."""
    count = (plies + 1) // 2 if counts_in_pairs(game) else plies
    return f"{count} {'move' if count == 1 else 'moves'}"


# Worth


def distance_of(game: Game, choice: "Choice") -> str:
    """Return the distance to the end by a move, counted from before it: `in 7`, `mate in 4`; "" for a draw.

    The words of the database's metric come first (`choice.far`), then those of the game.
    """
    from retrograde.solver.play.answer import distance_text

    if choice.remoteness is None:
        return ""
    plies = choice.remoteness + 1
    return choice.far or distance_text(game, choice.brings, plies) or f"in {plies}"


def moves_table(answer: "Answer", most: int | None = None) -> str:
    """Return the moves, best first, each with its value for the player who makes it; at most *most* of them."""
    game, moves = answer.game, answer.moves
    nouns = OF_A_PUZZLE if game.players == 1 else {}
    notes = {one.choice.move: one.choice.worth or estimated_text(one.mover_estimate) for one in moves}
    shown = moves if most is None or len(moves) <= most + 1 else moves[:most]
    has_notes = any(notes.values())
    rows = []
    for one in shown:
        # Two columns, so that the numbers of `in 7` and `mate in 4` are aligned.
        choice, words = one.choice, distance_of(game, one.choice).rsplit(" ", 1)
        distance = words if len(words) == 2 else ["", ""]
        value = coloured(choice.brings, nouns.get(choice.brings)) if choice.value else value_text(one.mover_bounds)
        rows.append((heading(choice.name), value, *distance, *([notes[choice.move]] if has_notes else [])))
    head = "The moves, best first, and what each brings" + ("" if nouns else " the player who makes it") + ":"
    left = len(moves) - len(shown)
    rest = f"\n  … and {left} more; ? shows all" if left else ""
    return f"{head}\n{indent(table(rows, '<<<>' + '>' * has_notes, gap=' '))}{rest}"


# The scorecard after a game

MOST_BETTER = 3
"""How many better moves are named."""


def scorecard(
    oracle: "Oracle", positions: Sequence[int], moves: Sequence[int], plies: Sequence[int], counts: Sequence[int]
) -> str:  # fmt: skip
    """Return a summary and a table of the moves played at some plies. *counts* are the plies without progress before
    each."""
    from retrograde.solver.play.oracles.fifty_moves import judge_moves_by_rule

    game, reviews = oracle.game, judge_moves_by_rule(oracle, positions, moves, plies, counts)
    rows = [
        (number_of(game, positions[0], ply), review.played.name, verdict_text(game, review))
        for ply, review in zip(plies, reviews, strict=True)
    ]
    verdicts = ("best", "mistake", "unknown")
    perfect, mistakes, unknown = (sum(review.verdict == name for review in reviews) for name in verdicts)
    of_all = f"of {len(rows)} {'move' if len(rows) == 1 else 'moves'}"
    rest = f", of {unknown} it is not known" if unknown else ""
    head = f"Your moves: {perfect} {of_all} perfect, {mistakes} threw something away{rest}"
    return f"{heading(head)}\n{indent(table(rows, '><<'))}"


def verdict_text(game: Game, review: "Review") -> str:
    """Return in words what a move was worth: `kept the win, in 5`, `threw the tie away: lose, in 4; better b2`."""
    played, best = review.played, review.best
    now, could = played.brings, best.brings
    far = distance_of(game, played)
    if review.verdict == "unknown":
        return f"brought a {NOUNS[now]}; whether there was more is not known" if now in NOUNS else "not known"
    better = f"better {', '.join(review.better[:MOST_BETTER])}{', …' if len(review.better) > MOST_BETTER else ''}"
    if review.by_share and played.worth:
        if review.verdict == "best":
            return f"as good as any: {played.worth}"
        return f"got less: {played.worth} rather than {best.worth}; {better}"
    if review.verdict == "best":
        if could == LOSE:
            return f"{coloured(LOSE, 'the best of a lost game')}, {far}"
        return f"kept the {coloured(could)}, {far}".removesuffix(", ")
    if review.verdict == "slower":
        how = {"win": "won, but slower", "lose": "lost sooner", "tie": "tied, but later"}[NOUNS[now]]
        return f"{coloured(now, how)}: {far} rather than {distance_of(game, best)}; {better}"
    outcome = " ".join(filter(None, [coloured(now, NOUNS[now]), far]))
    return f"threw the {NOUNS[could]} away: {outcome}; {better}"


# Games as PGN


def pgn_option(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option for the file to write games to."""
    return click.option(
        "--pgn", type=click.Path(dir_okay=False, writable=True), metavar="FILE", help=f"Where to write {what}."
    )


def check_writes_pgn(game: Game, pgn: str | None) -> None:
    """Raise UsageError if games are to be written as PGN and the rules cannot do that; CannotWrite if the path is
    wrong."""
    if pgn is None:
        return
    if not hasattr(game, "pgn"):
        raise click.UsageError(f"games of {game.name} cannot be written as PGN")
    check_can_write(Path(pgn))


def pgn_of(
    game: Any, start: int, moves: Sequence[int], players: Sequence[str], finished: bool = True, count: int = 0,
    resigned: bool = False,
) -> str:  # fmt: skip
    """Return a game as PGN. It begins after *count* plies without progress; *players* are the first and the second.
    A game that is not *finished* has no result even if it is over. With *resigned*, the player to move has resigned."""
    # Rules of other authors need not know these parameters.
    more = ({"count": count} if count else {}) | ({"resigned": True} if resigned else {})
    known = signature(game.pgn).parameters
    text: str = game.pgn(
        start, moves, tuple(players), finished, **{name: value for name, value in more.items() if name in known}
    )
    return text
