"""Checks a declared board: whether texts and pictures can be derived from what a game declares.

Each check concerns one position of a survey and raises a Fault at the first thing that is wrong. A Fault's words follow
the rule and position that `begin_check` recorded last, as in "bits at 5: take 70 bits". So each check calls it first.
"""

from typing import Any

from retrograde.games.contract.drawing import Board
from retrograde.games.contract.game import POSITION_BITS, can_set_up, defines, has_bits
from retrograde.games.contract.raised import optional_member
from retrograde.solver.conformance.survey import Survey, expect_again
from retrograde.solver.rules.examine import Fault

EMPTY = "."
DECLARED = ("board", "bits", "by_turns", "to_move")


def check_declared(survey: Survey, position: int) -> None:
    """Check at the first position that the declarations can be read; else the game would seem to declare nothing."""
    if position == next(iter(survey.answers)):
        for name in DECLARED:
            survey.rule, survey.position = name, None  # as `survey.begin_check` does, but not counted as a check
            optional_member(survey.game, name)


def check_board(survey: Survey, position: int) -> None:
    """Check the board, what stands on it, and that moves are places if nothing else is declared. Skipped for rules that
    write positions themselves and mean something else by `board`."""
    game = survey.game
    uses_board = has_bits(game) or defines(game, "position_of") or hasattr(game, "by_turns") or hasattr(game, "to_move")
    if not uses_board and defines(game, "write") and not isinstance(game.draw_board(), Board):
        return
    board = require_board(survey, position)
    for name in DECLARED[1:]:
        if hasattr(game, name):
            survey.begin_check(name, position)
            check_players_or_pieces(board, name, getattr(game, name))
    check_bits(survey, board, position)
    check_mover(survey, position)
    require_signs(survey, board, position)
    survey.begin_check("position_of", position)
    if not can_set_up(game) and not defines(game, "read"):
        raise Fault("is missing; give the position back from what signs(position) gives, so that texts can be read")
    check_cells(survey, board, position)


def require_board(survey: Survey, position: int) -> Board:
    """Return the board; raise a Fault unless it is a Board with one name for each place."""
    game = survey.game
    survey.begin_check("draw_board" if defines(game, "draw_board") else "board", position)
    board = game.draw_board()
    if not isinstance(board, Board):
        given = f"is {getattr(game, 'board', None)!r:.60}" if hasattr(game, "board") else "is missing"
        example = 'grid(3, 3, {"X": "cross"}) of retrograde.games.contract.drawing'
        raise Fault(f"{given}; let it be a board, as {example} gives it")
    count = len(board.places)
    if not count or len(board.names) != count or not 0 <= board.cells <= count:
        raise Fault(f"has {count} places, {len(board.names)} names and {board.cells} cells; each place has one name")
    return board


def check_players_or_pieces(board: Board, name: str, signs: Any) -> None:
    """Raise a Fault unless *signs*, the member *name*, is a text of distinct signs that the board knows."""
    if not isinstance(signs, str):
        raise Fault(f'is {signs!r:.60}; it must be signs as text, such as "XO"')
    if len(set(signs)) < len(signs) or EMPTY in signs:
        raise Fault(f"is {signs!r}; let each sign be another one, and none a dot, which is an empty place")
    if strange := [sign for sign in signs if sign not in board.pieces]:
        raise Fault(f"has the sign {strange[0]!r}, and the board does not say what that looks like")
    if name != "bits" and len(signs) == 1:
        raise Fault(f"is {signs!r}; there must be two players or more, or nothing")


def check_bits(survey: Survey, board: Board, position: int) -> None:
    """Raise a Fault unless the declared bits fit in a position, describe it completely, and put one piece on each
    place."""
    game = survey.game
    if not has_bits(game) or (defines(game, "signs") and defines(game, "position_of")):
        return
    survey.begin_check("bits", position)
    # A position has a bit for each sign and place; above these stands the number of the player to move, by to_move.
    used, players = board.count * len(game.bits), len(getattr(game, "to_move", ""))
    if (needed := used + max(0, players - 1).bit_length()) > POSITION_BITS:
        raise Fault(
            f"take {needed} bits, for {board.count} places and {len(game.bits)} signs; there are {POSITION_BITS}"
        )
    if position >> used >= max(1, players) and not defines(game, "write"):
        raise Fault(f"leave {position >> used} above {used} bits; there stands who is to move by to_move, and else 0")
    for place in range(board.count):
        if sum((position >> (board.count * sign + place)) & 1 for sign in range(len(game.bits))) > 1:
            what = (
                f"let the rules have the {board.count} places of the board, or say by signs(position) what stands there"
            )
            raise Fault(f"put two pieces on {board.names[place]}; {what}")


def check_mover(survey: Survey, position: int) -> None:
    """Raise a Fault if a game declares who may be to move, but nothing shows who is."""
    game = survey.game
    to_move = getattr(game, "to_move", "")
    survey.begin_check("to_move", position)
    if to_move and getattr(game, "by_turns", ""):
        raise Fault("is there as well as by_turns; leave out by_turns where the pieces do not tell who is to move")
    if to_move and not has_bits(game) and not defines(game, "draw_turn"):
        raise Fault("says who may be to move, and nothing who is; let draw_turn(position) give that sign")
    if to_move and game.draw_turn(position) not in tuple(to_move):
        survey.begin_check("draw_turn", position)
        raise Fault(f"gives {game.draw_turn(position)!r}; by to_move it must be one of {to_move!r}")


def require_signs(survey: Survey, board: Board, position: int) -> str:
    """Return the text of what stands on the board; raise a Fault unless it has one sign for each place."""
    survey.begin_check("signs", position)
    signs = survey.game.signs(position)
    is_text = isinstance(signs, str) or (isinstance(signs, tuple) and all(isinstance(sign, str) for sign in signs))
    if not is_text or any(len(sign) != 1 for sign in signs):
        raise Fault(f"gives {signs!r:.60}; it must give one sign for each place, as text or as a tuple")
    if len(signs) != board.count:
        raise Fault(f"gives {''.join(signs)!r}, {len(signs)} signs; there must be one for each of {board.count} places")
    if strange := set(signs) - {EMPTY, *board.pieces}:
        raise Fault(f"gives the sign {min(strange)!r}, and the board does not say what that looks like")
    expect_again(signs, survey.game.signs(position))
    return "".join(signs)


def check_cells(survey: Survey, board: Board, position: int) -> None:
    """Raise a Fault if a move would be shown as a place at which it changes nothing."""
    game, answers = survey.game, survey.answers[position]
    if defines(game, "draw_move"):
        return
    signs = require_signs(survey, board, position)
    for move, child in zip(answers.moves, answers.children, strict=True):
        if move < board.count:
            signs_after = require_signs(survey, board, child)
            survey.begin_check("draw_move", position)
            if signs[move] == signs_after[move]:
                raise Fault(
                    f"is not there, so that the move {move} is taken for the place {board.names[move]}, where it "
                    "changes nothing; say what places a move touches"
                )


def check_names(survey: Survey, position: int) -> None:
    """Raise a Fault if, without draw_move(), some moves are named by places and others by numbers. One move besides the
    places, such as passing, may have a number."""
    game, moves = survey.game, survey.answers[position].moves
    board = game.draw_board()
    if board is None or defines(game, "draw_move") or defines(game, "move_name"):
        return
    survey.begin_check("draw_move", position)
    places, others = [move for move in moves if move < board.count], [move for move in moves if move >= board.count]
    if places and len(others) > 1:
        name = board.names[places[0]]
        raise Fault(
            f"is not there, so that the move {places[0]} is called {name}, and {others[0]} and others by their "
            "numbers; say what places a move touches"
        )
