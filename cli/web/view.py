"""The answers to the page: positions with their pictures, replies, and what a database holds."""

from collections.abc import Sequence
from contextlib import suppress
from random import Random
from typing import Any
from urllib.parse import unquote

from retrograde.cli.commands.query import read_reachable
from retrograde.cli.render.expected import EXPECTATION
from retrograde.cli.render.moves import pgn_of
from retrograde.cli.render.oracles import bounds_text, estimated_text, evidence_text, unknown_text
from retrograde.cli.web import metric_texts
from retrograde.cli.web.answers import (
    BoardParts,
    BoardPlace,
    Count,
    DatabaseAbout,
    GameStep,
    Man,
    Move,
    MoveVerdict,
    PlayedGame,
    Player,
    PlayerMove,
    Position,
    SetUp,
    Start,
    Variant,
)
from retrograde.cli.web.shelf import DatabaseFacts, installed_games
from retrograde.databases import NotInDatabase
from retrograde.databases.legend import by_outcome
from retrograde.games.catalog import game_class
from retrograde.games.contract import naming
from retrograde.games.contract.choice import preference
from retrograde.games.contract.declared import signs_known, word
from retrograde.games.contract.drawing import Board
from retrograde.games.contract.game import UNDECIDED, Game, MoveError, PositionError, can_set_up, declares, mover
from retrograde.games.contract.marks import mark_text
from retrograde.games.contract.naming import first_of_other, piece_name, player_to_move, variant_title
from retrograde.games.contract.picture import board_svg, is_ground, piece
from retrograde.games.contract.text import printable
from retrograde.games.contract.zeroing import count_after, counts_along
from retrograde.solver.play import match
from retrograde.solver.play.answer import Answer, answer_of, is_chances, name_of
from retrograde.solver.play.oracle import DATABASE, Oracle, ValueBounds
from retrograde.solver.play.oracles.fifty_moves import apply_fifty_move_rule, judge_moves_by_rule
from retrograde.solver.play.player import skilled_player
from retrograde.solver.play.solution import Solution

LINE = 60
"""The greatest length of best play, in plies."""
MOST_BETTER = 3
"""How many better moves are named."""


def variant(facts: DatabaseFacts) -> Variant:
    """Return the facts about a variant, without its rules."""
    return Variant(variant=facts.variant, name=title(facts.game), positions=facts.positions, start=start_of(facts))


def title(name: str) -> str:
    """Return the name of a game for people. The rules in a user's own file are not read for this."""
    return naming.title(game_class(name)) if name in installed_games() else name


def summary(game: Game) -> str:
    """Return a game's rules in a sentence, from the docstring of its class."""
    return (type(game).__doc__ or "").strip()


def start_of(facts: DatabaseFacts) -> Start | None:
    """Return the value of a variant's start, from its file alone."""
    if facts.start is None:
        return None
    return Start(
        value=name_of(facts.start.value), remoteness=facts.start.plies, metric=facts.metric, measure=facts.measure
    )


def position_in(oracle: Oracle, text: str | None) -> int:
    """Return the position that a request names; raise PositionError or NotInDatabase. None stands for the start, or for
    a random position if there is no start; "random" always does."""
    if text is None and oracle.start is not None:
        return oracle.start
    if text is None or text == "random":
        return match.any_position(oracle, Random())
    return read_reachable(oracle, text)


def show_position(
    oracle: Oracle, position: int, line: bool = False, seconds: float = 0.0, count: int | None = None
) -> Position:
    """Return a position for the page. Without a database it is searched for *seconds*. *count* are the plies without
    progress before it, None if they do not count."""
    game, without_rule_oracle = oracle.game, oracle
    oracle = oracle if count is None else apply_fifty_move_rule(oracle, position, count)
    answer = answer_of(oracle, position, seconds, count or 0, with_line=False)
    bounds, over = answer.bounds, answer.is_over
    board = game.draw_board()
    signs = game.draw_pieces(position) if board else ""
    return Position(
        variant=oracle.variant,
        summary=summary(game),
        position=game.write(position),
        svg=board_svg(game, position),  # the page itself marks the last move and picked places
        turn=player_to_move(game, position),
        value=name_of(bounds.value),
        remoteness=bounds.remoteness,
        known="" if bounds.proved else with_estimate(unknown_text(bounds, game.players == 1), answer.estimate),
        how="" if oracle.source == DATABASE or over or not is_examined(bounds) else evidence_text(bounds),
        open=not over and not (bounds.is_exact and all(choice.value for choice in answer.choices)),
        distance=answer.distance,
        over=over,
        ending=game.ending(position) if over else "",
        places=places(game, board, signs) if board else [],
        moves=moves(answer, count),
        line=best_play(answer, seconds) if line else [],
        pieces=signs,
        sign=game.draw_turn(position),
        end=list(game.draw_end(position)) if over else [],
        falls=board is not None and board.style == "holes",
        editable=board is not None and can_set_up(game),
        title=variant_title(game),
        players=players(oracle, position),
        pgn=hasattr(game, "pgn"),
        seats=metric_texts.seats_of(game),
        seat=max(0, mover(game, position)),
        metric=oracle.metric,
        measure=metric_texts.measure_text(answer),
        expected=metric_texts.expectation_of(oracle, position),
        chance=bool(answer.odds),
        paid=metric_texts.payoffs(game, position, None) if over else [],
        count=count,
        without="" if count is None else metric_texts.without_rule(without_rule_oracle, position, bounds.value),
    )


def moves(answer: Answer, count: int | None) -> list[Move]:
    """Return the moves of an answer, the best first; *count* is None if plies without progress are not counted."""
    game, position = answer.game, answer.position
    total, by_expectation = sum(answer.odds.values()), answer.oracle.metric == EXPECTATION
    best = preference(answer.choices[0]) if answer.moves and answer.bounds.proved else None
    return [
        Move(
            name=choice.name,
            value=name_of(choice.brings),
            remoteness=one.plies,
            known="" if choice.value else with_estimate(bounds_text(one.mover_bounds), one.mover_estimate),
            worth=choice.worth,
            mark=mark_text(choice.worth) if by_expectation else "",
            odds=f"{answer.odds[choice.move]} in {total}" if answer.odds else "",
            paid=metric_texts.payoffs(game, position, choice.move),
            best=preference(choice) == best,
            again=choice.again,
            places=list(game.draw_move(position, choice.move)),
            position=game.write(choice.position),
            steps=[list(group) for group in game.draw_steps(position, choice.move)],
            reach=list(game.draw_reach(position, choice.move)),
            count=None if count is None else one.count,
        )
        for one in answer.moves
        for choice in [one.choice]
    ]


def with_estimate(value_text: str, estimate: int | None) -> str:
    """Return what is known of a value, and the estimate of a book: `not known, estimated as +12`."""
    return ", ".join(filter(None, (value_text, estimated_text(estimate))))


def is_examined(bounds: ValueBounds) -> bool:
    """Return whether a search has looked at a position, or its value is known without one."""
    return bounds.proved or bool(bounds.evidence.nodes)


def best_play(answer: Answer, seconds: float) -> list[str]:
    """Return best play from a position, if that takes no time or there is time."""
    if answer.oracle.source == DATABASE or (seconds and answer.bounds.is_exact):
        return [choice.name for choice in answer.oracle.line(answer.position, LINE)]
    return []


def players(oracle: Oracle, position: int) -> list[str]:
    """Return the names of the player to move and of the next player; "" for unknown names."""
    game: Any = oracle.game
    own = player_to_move(game, position)
    if game.primitive(position) == UNDECIDED or game.players != 2:
        names = [own, *name_of_other(game, position)]
    else:  # after the end nobody is next: the start knows both names
        start = oracle.start_or_example
        both = [player_to_move(game, start), *name_of_other(game, start)]
        names = [own, *(name for name in both if name != own)] if own in both else [own]
    return [*names, ""][:2] if len(set(names)) == len(names) else ["", ""]


def name_of_other(game: Game, position: int) -> list[str]:
    """Return the name of the player who moves after the player to move, in a list; [] if nobody does."""
    other = first_of_other(game, position)
    return [] if other is None else [player_to_move(game, other)]


def moves_in(text: str) -> list[str]:
    """Return the names of moves separated by commas. Commas and percent signs within names are escaped.

    >>> moves_in("e4,a%2Cb"), moves_in("")
    (['e4', 'a,b'], [])
    """
    return [unquote(name) for name in text.split(",")] if text else []


def show_game(oracle: Oracle, position: int, names: list[str], text: str = "", count: int | None = None) -> PlayedGame:
    """Return the positions of a game up to the first illegal move; before it came *count* plies without progress."""
    first, steps, problem = position, [step(oracle, position, "", (), 0, count=count)], ""
    names_of_players, usual = players(oracle, position), position == oracle.start
    for name in names:
        try:
            move = move_named(oracle.game, position, name)
        except ValueError as error:
            problem = f"move {len(steps)}, {name!r}, cannot be made: {error}"
            break
        name = oracle.game.move_name(position, move)  # it may be written in another way
        places_of_move, paid = oracle.game.draw_move(position, move), metric_texts.payoffs(oracle.game, position, move)
        count = None if count is None else count_after(oracle.game, position, move, count)
        position = oracle.game.do_move(position, move)
        side = match.side_of(oracle.game, first, position, len(steps))
        steps.append(step(oracle, position, name, places_of_move, side, paid, count))
    return PlayedGame(
        variant=oracle.variant,
        title=variant_title(oracle.game),
        players=names_of_players,
        usual=usual,
        start=text or oracle.game.write(first),
        steps=steps,
        last=show_position(oracle, position, count=count),
        problem=problem,
    )


def move_named(game: Game, position: int, name: str) -> int:
    """Return the move with a name; raise MoveError if there is none."""
    if game.primitive(position) != UNDECIDED:
        raise MoveError("the game is over there")
    return game.move(position, name)


def step(
    oracle: Oracle, position: int, name: str, touched: Sequence[int], side: int, paid: Sequence[int] = (),
    count: int | None = None,
) -> GameStep:  # fmt: skip
    """Return a position of a game. The other parameters are fields of GameStep; *count* is None if plies without
    progress do not count."""
    here = oracle if count is None else apply_fifty_move_rule(oracle, position, count)
    value, remoteness = here.probe(position, 0).outcome
    return GameStep(
        name=name,
        touched=list(touched),
        position=oracle.game.write(position),
        turn=player_to_move(oracle.game, position),
        value=name_of(value),
        remoteness=remoteness,
        over=oracle.game.primitive(position) != UNDECIDED,
        side=side,
        seat=max(0, mover(oracle.game, position)),
        expected=metric_texts.expectation_of(oracle, position),
        chance=is_chances(oracle.game, position),
        paid=list(paid),
        count=count,
    )


def scorecard(oracle: Oracle, position: int, names: list[str], count: int | None = None) -> list[MoveVerdict]:
    """Return a verdict on each move of a game from *position*; *names* are its moves.

    *count* is the number of plies without progress before the game, for the fifty-move rule of chess. Raises MoveError
    for an illegal move.
    """
    positions, moves = play_moves(oracle.game, position, names)
    counts = counts_along(oracle.game, positions, moves, count or 0)
    reviews = judge_moves_by_rule(oracle, positions, moves, range(len(moves)), counts)
    return [move_verdict(review) for review in reviews]


def play_moves(game: Game, position: int, names: list[str]) -> tuple[list[int], list[int]]:
    """Return (*position* and that after each move, the moves with these names); raise MoveError for an illegal one."""
    positions, moves = [position], []
    for name in names:
        moves.append(move_named(game, positions[-1], name))
        positions.append(game.do_move(positions[-1], moves[-1]))
    return positions, moves


def move_verdict(review: match.Review) -> MoveVerdict:
    """Return what a move was worth, in plies from before it."""
    played, best = review.played, review.best
    return MoveVerdict(
        verdict=review.verdict,
        value=name_of(played.brings),
        remoteness=None if played.remoteness is None else played.remoteness + 1,
        best_value=name_of(best.brings),
        best_remoteness=None if best.remoteness is None else best.remoteness + 1,
        better=review.better[:MOST_BETTER],
        worth=played.worth if review.by_share else "",
        best_worth=best.worth if review.by_share else "",
    )


def pgn(oracle: Oracle, position: int, names: list[str], players: Sequence[str], finished: bool, count: int = 0) -> str:
    """Return a game as PGN: its moves *names* from *position*, and the names of its two *players*.

    *count* is the number of plies without progress before the game. Raises PositionError if games of this kind have no
    PGN, and MoveError for an illegal move.
    """
    game: Any = oracle.game
    if not hasattr(game, "pgn"):
        raise PositionError(f"games of {game.name} cannot be written as PGN")
    _, moves = play_moves(game, position, names)
    return pgn_of(game, position, moves, [*map(tag, players)], finished, count)


def tag(name: str) -> str:
    """Return a name without characters that a PGN tag may not have."""
    return "".join(sign for sign in name if sign.isprintable() and sign not in '"\\')


def places(game: Game, board: Board, signs: str) -> list[BoardPlace]:
    """Return the places of a board, with the piece on each."""
    return [
        BoardPlace(name=name, piece=piece_name(game, board, sign))
        for name, sign in zip(board.names, signs, strict=True)
    ]


def parts(oracle: Oracle) -> BoardParts:
    """Return what positions of a game are set up with; raise PositionError if they cannot be set up."""
    game = oracle.game
    board = board_to_set_up(game)
    start, chance = oracle.start_or_example, Random(0)
    turns = {game.draw_turn(start), *word(game, "by_turns"), *word(game, "to_move")}
    with suppress(match.NoBeginning):
        for _ in range(20):
            turns.add(game.draw_turn(match.random_position(oracle, chance, match.FEW_TRIES)))
    signs = [sign for sign in board.pieces if not is_ground(board, sign)]
    men = set(signs_known(game, board)) if declares(game) else set(signs)
    return BoardParts(
        men=[Man(sign=sign, name=piece_name(game, board, sign), svg=piece(board.pieces[sign], 0, 0))
             for sign in signs if len(sign) == 1 and sign in men],
        players=[Player(sign=sign, name=printable(game.words.get(sign, sign))) for sign in signs if sign in turns],
        empty="".join(sign if is_ground(board, sign) else "." for sign in game.draw_pieces(start)),
        start=None if oracle.start is None else game.draw_pieces(start),
        first=game.draw_turn(start),
    )  # fmt: skip


def set_up(oracle: Oracle, pieces: str, turn: str) -> SetUp:
    """Return the position that a person has set up; raise PositionError in the game's words, or NotInDatabase."""
    game = oracle.game
    board = board_to_set_up(game)
    if len(pieces) != len(board.places) or set(pieces) - {".", *board.pieces}:
        raise PositionError(f"no board {pieces!r}; it takes {len(board.places)} signs of .{''.join(board.pieces)}")
    try:
        position = game.read_pieces(pieces, turn)
    except ValueError as error:
        raise PositionError(str(error)) from error
    if position not in oracle:
        raise NotInDatabase("such a position cannot be reached from the start")
    return SetUp(position=game.write(position))


def board_to_set_up(game: Game) -> Board:
    """Return the board of a game on which positions can be set up."""
    board = game.draw_board()
    if board is None or not can_set_up(game):
        raise PositionError("positions of this game are set up by their text only")
    return board


def reply(oracle: Oracle, position: int, skill: float, seed: int | None, count: int | None = None) -> PlayerMove:
    """Return a player's move after *count* plies without progress, or chance's; raise PositionError at the end."""
    game: Any = oracle.game
    if game.primitive(position) != UNDECIDED:
        raise PositionError("the game is over there, and nobody is to move")
    chance = Random(seed)
    oracle = oracle if count is None else apply_fifty_move_rule(oracle, position, count)
    move = (
        match.roll(game, position, chance)
        if is_chances(game, position)
        else skilled_player(skill, chance)(oracle, position)
    )
    return PlayerMove(name=game.move_name(position, move), position=game.write(game.do_move(position, move)))


def database(oracle: Oracle) -> DatabaseAbout:
    """Return what the database of an oracle holds, and facts about its file, if there is one."""
    if not isinstance(oracle, Solution):
        return DatabaseAbout()
    file = oracle.database.file
    return DatabaseAbout(
        counts=[
            Count(value=name_of(row.value), remoteness=row.plies, positions=row.positions)
            for row in by_outcome(file.legend)
        ],
        file=file.path.name,
        bytes=file.bytes,
        positions=file.positions,
        made_with=file.made_with,
        digest=file.digest,
    )
