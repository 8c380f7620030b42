"""Checks pictures: the board, what stands on it, the places of moves, and positions that are set up."""

from collections import Counter

from retrograde.games.contract.declared import word
from retrograde.games.contract.game import CHANCE, UNDECIDED, defines, mover, same_mover
from retrograde.solver.conformance.survey import Survey
from retrograde.solver.rules.examine import Fault

SAMPLED_TURNS = 100
"""Positions at which `check_turns` looks to see whether the drawn turn changes at all."""


def check_drawing(survey: Survey, position: int) -> None:
    """Check that the drawing of a position and its moves fits the board.

    As in all checks, the text of a Fault begins with a verb: its subject is the method that `begin_check` named.
    """
    game = survey.game
    survey.begin_check("draw_board", position)
    board = game.draw_board()
    if board is None:
        return
    count = len(board.places)
    if len(board.names) != count or not 0 <= board.cells <= count:
        raise Fault(f"has {count} places, {len(board.names)} names and {board.cells} cells; each place has one name")
    survey.begin_check("draw_pieces", position)
    signs = game.draw_pieces(position)
    if len(signs) != count:
        raise Fault(f"gives {signs!r}, {len(signs)} signs; there must be one for each of {count} places")
    if strange := set(signs) - {".", *board.pieces}:
        raise Fault(f"gives the sign {min(strange)!r}, and draw_board() does not say what that looks like")
    survey.begin_check("draw_turn", position)
    if (turn := game.draw_turn(position)) and turn not in board.pieces:
        raise Fault(f"gives {turn!r}, and draw_board() does not say what that looks like")
    for move in survey.answers[position].moves:
        survey.begin_check("draw_move", position)
        expect_places(count, game.draw_move(position, move), f" for the move {move}")
    check_pointing(survey, position, count)
    if not survey.answers[position].moves:
        survey.begin_check("draw_end", position)
        expect_places(count, game.draw_end(position))


def check_pointing(survey: Survey, position: int, count: int) -> None:
    """Check the places that a user clicks for a move, of *count* places on the board. draw_steps() must give those of
    draw_move(), and a place of draw_reach() must stand for one move only."""
    game, moves = survey.game, survey.answers[position].moves
    if defines(game, "draw_steps"):
        for move in moves:
            survey.begin_check("draw_steps", position)
            steps, places = game.draw_steps(position, move), game.draw_move(position, move)
            if steps and Counter(place for group in steps for place in group) != Counter(places):
                raise Fault(
                    f"gives {steps!r} for the move {move}, and draw_move() {places!r}; both must have the same places"
                )
    if defines(game, "draw_reach"):
        reached: dict[int, int] = {}
        for move in moves:
            survey.begin_check("draw_reach", position)
            for place in expect_places(count, game.draw_reach(position, move), f" for the move {move}"):
                if reached.setdefault(place, move) != move:
                    raise Fault(f"gives {place} for the moves {reached[place]} and {move}; a place stands for one move")


def expect_places(count: int, places: object, for_move: str = "") -> tuple[int, ...]:
    """Return *places* as a tuple; raise a Fault unless they are numbers from 0 to *count* - 1."""
    if not isinstance(places, tuple | list) or not all(
        isinstance(place, int) and 0 <= place < count for place in places
    ):
        raise Fault(f"gives {places!r}{for_move}; places are numbers from 0 to {count - 1}")
    return tuple(places)


def check_pieces(survey: Survey, position: int) -> None:
    """Check that read_pieces() is the inverse of draw_pieces() and draw_turn(), and refuses what is no position.
    Positions that look the same, such as those of chess with and without en passant, may stand for each other."""
    game = survey.game
    if game.draw_board() is None:
        return
    survey.begin_check("read_pieces", position)
    seen = game.draw_pieces(position), game.draw_turn(position)
    try:
        again = game.read_pieces(*seen)
    except Exception as error:
        raise Fault(f"raises {type(error).__name__} for what is drawn, {seen}: {error}") from error
    if again != position and (game.draw_pieces(again), game.draw_turn(again)) != seen:
        raise Fault(f"gives {again} for {seen}, which is drawn for {position}; each must undo the other")
    pieces, turn = seen
    full_board = next((sign for sign in pieces if sign != "."), ".") * len(pieces)
    # Two positions that are probably illegal: all pieces shifted by one place, and a board full of one piece.
    for odd in (pieces[1:] + pieces[0], full_board):
        try:
            got = game.read_pieces(odd, turn)
            drawn = game.draw_pieces(got), game.draw_turn(got)
        except ValueError:
            continue
        except Exception as error:
            raise Fault(f"raises {type(error).__name__} for {odd!r}; let it raise ValueError") from error
        if drawn != (odd, turn):
            raise Fault(f"gives {got} for {odd!r}, for which {drawn[0]!r} is drawn; let it raise ValueError")


def check_turns(survey: Survey, position: int) -> None:
    """Check that the drawn turn passes to another player exactly when it does by the rules.

    Moves that end the game are left out, and moves before or after chance moves. A game that draws the same sign
    everywhere is not checked, unless `to_move` or `by_turns` says that positions show whose turn it is.
    """
    game = survey.game
    if not survey.checks["turns"]:  # at the first call: do drawn turns differ at all?
        signs = {game.draw_turn(other) for other in list(survey.answers)[:SAMPLED_TURNS]} - {""}
        survey.turns_differ = len(signs) > 1 or bool(word(game, "to_move") or word(game, "by_turns"))
    survey.begin_check("turns", position)
    answers = survey.answers[position]
    if not survey.turns_differ or not answers.children or not (turn := game.draw_turn(position)):
        return
    for move, child in zip(answers.moves, answers.children, strict=True):
        drawn, stays = game.draw_turn(child), same_mover(game, position, child)
        if CHANCE in (mover(game, position), mover(game, child)):
            continue
        if survey.primitive(child) != UNDECIDED or not drawn or (drawn == turn) == stays:
            continue
        if stays:
            raise Fault(f"pass from {turn!r} to {drawn!r} by the move {move}, after which turn() is the same")
        raise Fault(
            f"stay with {turn!r} after the move {move}, and are solved as if they passed to the other player; "
            "turns alternate unless turn() says who is to move"
        )
