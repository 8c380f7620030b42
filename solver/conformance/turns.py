"""Checks who plays and for what: players, turns, chance, and payments.

The text of a Fault follows the rule that `begin_check` recorded last, as in "turn at 5: gives 3".
"""

from retrograde.games.contract.game import CHANCE, METRICS, PAYOFF_LIMIT, UNDECIDED, Traits, defines, metric_of
from retrograde.solver.conformance.survey import RuleAnswers, Survey, expect_again
from retrograde.solver.methods.numbered.numbering import is_int
from retrograde.solver.rules.examine import Fault

SOLVED = ("remoteness", "score", "nimber", "drawlevel", "expectation", "utilities")
"""The metrics that can be computed."""
METHODS = ("turn", "odds", "payoff")


def check_players(survey: Survey) -> None:
    """Raise a Fault if `players` is wrong, if nothing says whose turn it is, or if the metric does not fit."""
    game = survey.game
    for name in METHODS:
        if not callable(member := getattr(game, name)):
            survey.begin_check(name, None)
            raise Fault(f"is {member!r:.60}; {name} is a method of the game contract: rename the option or member")
    survey.begin_check("players", None)
    players = game.players
    if not is_int(players) or players < 1:
        raise Fault(f"is {players!r}; it must be an int from 1 on")
    expect_again(players, game.players)
    if players > 2 and not Traits.of(game).has_turn:
        raise Fault(f"is {players}, and there is no turn(position) to say who is to move")
    check_metric(survey)


def check_metric(survey: Survey) -> None:
    """Raise a Fault if the metric is unknown, does not fit the players, or cannot be solved yet."""
    game = survey.game
    survey.begin_check("metric", None)
    metric = metric_of(game)
    if metric not in METRICS:
        raise Fault(f"is {metric!r}; the metrics are {', '.join(METRICS)}")
    if metric != "utilities" and game.players > 2:
        raise Fault(f"is {metric}, which is for one player or two; for {game.players} it must be utilities")
    if metric not in SOLVED:
        raise Fault(f"is {metric}, which cannot be solved yet; what can is {', '.join(SOLVED)}")


def check_starts(survey: Survey) -> None:
    """Raise a Fault unless `starts` is a tuple with at least one position."""
    survey.begin_check("starts", None)
    starts = survey.game.starts
    if not isinstance(starts, tuple) or not starts:
        raise Fault(f"is {starts!r:.60}; it must be a tuple of first positions")
    expect_again(starts, survey.game.starts)


def check_turn(survey: Survey, position: int) -> None:
    """Check whose turn it is, the weights of chance's moves, and what moves and ends pay."""
    answers, game = survey.answers[position], survey.game
    if Traits.of(game).has_turn:
        check_mover(survey, position, answers)
    if Traits.of(game).has_rewards:
        check_rewards(survey, position, answers)
    if answers.value != UNDECIDED and defines(game, "payoff"):
        survey.begin_check("payoff", position)
        for player in range(game.players):
            paid = game.payoff(position, player)
            if not is_int(paid) or abs(paid) >= PAYOFF_LIMIT:
                raise Fault(f"gives player {player} {paid!r}; it must give an int between -2**30 and 2**30")
            expect_again(paid, game.payoff(position, player))


def check_rewards(survey: Survey, position: int, answers: RuleAnswers) -> None:
    """Check that reward() gives ints within bounds for the moves of a position."""
    game = survey.game
    survey.begin_check("reward", position)
    for move in answers.moves:
        for player in range(game.players):
            paid = game.reward(position, move, player)
            if not is_int(paid) or abs(paid) >= PAYOFF_LIMIT:
                raise Fault(f"gives player {player} {paid!r} for move {move}; it must be an int of less than 2**30")
            expect_again(paid, game.reward(position, move, player))


def check_mover(survey: Survey, position: int, answers: RuleAnswers) -> None:
    """Check that turn() gives a player, or CHANCE if the metric allows it, and that chance's moves have weights."""
    game = survey.game
    survey.begin_check("turn", position)
    turn = game.turn(position)
    if not is_int(turn) or (turn != CHANCE and not 0 <= turn < game.players):
        raise Fault(f"gives {turn!r}; it must give a player from 0 to {game.players - 1}, or CHANCE")
    expect_again(turn, game.turn(position))
    if turn != CHANCE:
        return
    if answers.value != UNDECIDED:
        raise Fault("gives CHANCE where the game is over; let it give the player whose value primitive() says")
    if (metric := metric_of(game)) not in ("expectation", "utilities"):
        raise Fault(f"gives CHANCE, and the metric is {metric}; for games with chance let metric be 'expectation'")
    for move in answers.moves:
        survey.begin_check("odds", position)
        weight = game.odds(position, move)
        if not is_int(weight) or weight < 1:
            raise Fault(f"gives {weight!r} for the move {move}; it must give an int above 0")
        expect_again(weight, game.odds(position, move))
