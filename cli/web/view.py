"""What the page asks for: positions with their pictures, replies, and counts."""

from random import Random
from typing import Any, Literal

from pydantic import BaseModel

from retrograde.cli.query import read_reachable
from retrograde.cli.web.gamescrafters import name_of, summary, title
from retrograde.cli.web.shelf import Facts
from retrograde.games.drawing import Board
from retrograde.games.game import FLIPPED, UNDECIDED, Game, PositionError
from retrograde.games.naming import piece_name, player_to_move
from retrograde.solver.play.match import random_position
from retrograde.solver.play.picture import board_svg
from retrograde.solver.play.player import skilled
from retrograde.solver.play.solution import Solution

ValueName = Literal["win", "tie", "draw", "lose"]
LINE = 60
"""Plies of best play that are told."""


class Start(BaseModel):
    """What the start is worth to the player to move."""

    value: ValueName
    remoteness: int | None


class Variant(BaseModel):
    """A variant that is served; some games have no start."""

    variant: str
    name: str
    positions: int
    start: Start | None


class Move(BaseModel):
    """A move: its value is for who makes it; the places it touches; and the position it leads to."""

    name: str
    value: ValueName
    remoteness: int | None
    best: bool
    places: list[int]
    position: str


class Place(BaseModel):
    """A place of the board, and what stands on it."""

    name: str
    piece: str


class Position(BaseModel):
    """A position: the value is for the player to move; `summary` tells the rules of the game in a few words."""

    variant: str
    summary: str
    position: str
    svg: str
    turn: str
    value: ValueName
    remoteness: int | None
    distance: str
    over: bool
    ending: str
    places: list[Place]
    moves: list[Move]
    line: list[str]


class Reply(BaseModel):
    """A player's move."""

    name: str
    position: str


class Count(BaseModel):
    """How many positions have a value and a remoteness."""

    value: ValueName
    remoteness: int | None
    positions: int


def variant(facts: Facts) -> Variant:
    """Return what is to be known of a variant without its rules."""
    start = facts.start
    return Variant(
        variant=facts.variant,
        name=title(facts.game),
        positions=facts.positions,
        start=start and Start(value=name_of(start.value), remoteness=finite_or_none(start.remoteness)),
    )


def place_of(solution: Solution, text: str | None) -> int:
    """Return the position that a text stands for: the start for none, and one by chance where there is no start.

    Raises PositionError where it stands for none, and NotInDatabase where play never reaches it.
    """
    if text is None and solution.start is not None:
        return solution.start
    if text is None or text == "random":
        return random_position(solution, Random())
    return read_reachable(solution, text)


def position(solution: Solution, place: int, last: str | None, line: bool) -> Position:
    """Return a position; *last* are the numbers of the places that the last move touched, joined by commas."""
    game = solution.game
    value, remoteness = solution.value(place)
    choices = solution.moves(place)
    board = game.draw_board()
    signs = game.draw_pieces(place) if board else ""
    marked = [int(number) for number in (last or "").split(",") if number.isdecimal()]
    marked = [number for number in marked if number < len(signs)]
    over = game.primitive(place) != UNDECIDED
    best = (choices[0].value, choices[0].remoteness) if choices else None
    return Position(
        variant=solution.database.file.variant,
        summary=summary(game),
        position=game.write(place),
        svg=board_svg(game, place, choices, marked),
        turn=player_to_move(game, place),
        value=name_of(value),
        remoteness=remoteness,
        distance=game.distance(value, remoteness) if remoteness else "",
        over=over,
        ending=game.ending(place) if over else "",
        places=places(game, board, signs) if board else [],
        moves=[
            Move(
                name=choice.name,
                value=name_of(FLIPPED[choice.value]),
                remoteness=None if choice.remoteness is None else choice.remoteness + 1,
                best=(choice.value, choice.remoteness) == best,
                places=list(game.draw_move(place, choice.move)),
                position=game.write(choice.position),
            )
            for choice in choices
        ],
        line=[choice.name for choice in solution.line(place, LINE)] if line else [],
    )


def places(game: Game, board: Board, signs: str) -> list[Place]:
    """Return the places of a board, with what stands on each."""
    return [
        Place(name=name, piece=piece_name(game, board, sign)) for name, sign in zip(board.names, signs, strict=True)
    ]


def reply(solution: Solution, place: int, skill: float, seed: int | None) -> Reply:
    """Return a player's move; raise PositionError where the game is over."""
    game: Any = solution.game
    if game.primitive(place) != UNDECIDED:
        raise PositionError("the game is over there, and nobody is to move")
    move = skilled(skill, Random(seed))(solution, place)
    return Reply(name=game.move_name(place, move), position=game.write(game.do_move(place, move)))


def counts(solution: Solution) -> list[Count]:
    """Return the counts of a database."""
    return [
        Count(
            value=name_of(row.value),
            remoteness=finite_or_none(row.remoteness),
            positions=row.positions,
        )
        for row in solution.database.file.legend
    ]


def finite_or_none(remoteness: int) -> int | None:
    """Return the remoteness as the file has it, where -1 stands for play without an end."""
    return None if remoteness < 0 else remoteness
