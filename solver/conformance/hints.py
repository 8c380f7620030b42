"""Checks hints for search: estimates and promises are numbers within bounds, equal for symmetric positions.

`tie_in` must be the distance of every tie, and `least_plies` must fall by 1 at most with a move. `abstracted` must turn
moves into moves of smaller puzzles, `heap_code` must describe the moves, and a game whose `has_ties` is False must not
end in a TIE. Where `at_best` says that the player to move does not win, the opponent must have replies for that. Each
check raises a Fault at the first thing that is wrong. Its text follows the rule that `begin_check` recorded last, as in
"quiet at 5: gives 3".
"""

from collections.abc import Iterable
from typing import Any

from retrograde.games.catalog import variant
from retrograde.games.contract.game import (
    DRAW,
    ESTIMATE_LIMIT,
    FLIPPED,
    HINTS,
    LOSE,
    TIE,
    UNDECIDED,
    WIN,
    Game,
    Traits,
    Value,
    defines,
)
from retrograde.games.contract.heap_code import NOTHING, ONE, TWO, UNEQUAL, options_of, sizes_in
from retrograde.solver.conformance.pairs import some_images, text_of
from retrograde.solver.conformance.survey import Survey, expect_again, list_answers
from retrograde.solver.methods.numbered.numbering import is_int
from retrograde.solver.rules.examine import Fault

NUMERIC_HINTS = HINTS - {
    *("swapped", "exchanges", "feature_weights", "abstractions", "abstractions_add", "abstracted", "heap_code"),
    *("has_ties", "at_best"),
}
"""Hints about positions and moves that are numbers."""


def has_hints(game: Game) -> bool:
    """Return whether the rules define any of NUMERIC_HINTS."""
    return any(defines(game, name) for name in NUMERIC_HINTS)


def check_hints(survey: Survey, position: int) -> None:
    """Check that hints about an undecided position are numbers within bounds, and equal for its images."""
    if survey.answers[position].value != UNDECIDED:
        return
    given = hints_at(survey, position)
    expect_again(given, hints_at(survey, position))
    if "tie_in" in given:
        check_tie_in(survey, position, given["tie_in"])
    if "least_plies" in given:
        check_least_plies(survey, position, given["least_plies"])
    for image in some_images(survey, position) if Traits.of(survey.game).has_images else ():
        other = hints_at(survey, image)
        for name in ("estimate", "quiet", "tie_in", "least_plies"):
            if other.get(name) != given.get(name):
                survey.begin_check(name, position)
                what = f"gives {given[name]}, and {other[name]} for {text_of(survey.game, image)}"
                raise Fault(f"{what}, which is the same by symmetry; let both have the same")


def check_tie_in(survey: Survey, position: int, plies: int) -> None:
    """Check that *plies* is one more than the plies to a tie after each move, so that all ties are equally far. Skip
    children that are a WIN, LOSE or DRAW."""
    answers = survey.answers[position]
    for move, child in zip(answers.moves, answers.children, strict=True):
        value = survey.primitive(child)
        if value not in (TIE, UNDECIDED):
            continue
        plies_left = 0 if value == TIE else survey.game.tie_in(child)
        if plies_left != plies - 1:
            survey.begin_check("tie_in", position)
            raise Fault(
                f"gives {plies}, and after move {move} a tie is {plies_left} plies away; "
                "leave tie_in out unless all ties are equally far"
            )


def check_least_plies(survey: Survey, position: int, plies: int) -> None:
    """Check that *plies*, a lower bound, falls by 1 at most with each move, where it counts as 0 in a solution. If that
    holds everywhere, no bound exceeds the distance."""
    answers = survey.answers[position]
    for move, child in zip(answers.moves, answers.children, strict=True):
        value = survey.primitive(child)
        plies_after = survey.game.least_plies(child) if value == UNDECIDED else 0
        if value in (UNDECIDED, WIN) and plies_after < plies - 1:
            survey.begin_check("least_plies", position)
            raise Fault(
                f"gives {plies}, and after move {move} {plies_after}; a lower bound falls by 1 at most with a move"
            )


def check_abstractions(survey: Survey, position: int) -> None:
    """Check that moves are moves of smaller puzzles, and that a solution solves all of these.

    If distances add up, a move is a move in one of them at most."""
    game, numbers = survey.game, range(len(survey.game.abstractions))
    answers = survey.answers[position]
    if answers.value != UNDECIDED:
        return
    survey.begin_check("abstracted", position)
    before = [game.abstracted(position, number) for number in numbers]
    for move, child in zip(answers.moves, answers.children, strict=True):
        changed = 0
        for number in numbers:
            puzzle, start, after = game.abstractions[number], before[number], game.abstracted(child, number)
            answer = f"after move {move}, {text_of(puzzle, after)} in {variant(puzzle)}"
            if after != start and puzzle.primitive(start) == UNDECIDED and not leads_to(puzzle, start, after):
                raise Fault(f"gives, {answer}; no move leads there from {text_of(puzzle, start)}")
            if survey.primitive(child) == WIN and puzzle.primitive(after) != WIN:
                raise Fault(f"gives, {answer}; it must be solved there, as the puzzle is")
            changed += after != start
        if changed > 1 and game.abstractions_add:
            what = f"makes move {move} a move in {changed} smaller puzzles, so that their distances do not add up"
            raise Fault(f"{what}; declare abstractions_add = False, or let what moves count in one only")


def check_ties(survey: Survey, position: int) -> None:
    """Check that a game which declares that it has no ties does not end in one."""
    if survey.answers[position].value == TIE:
        survey.begin_check("has_ties", position)
        raise Fault("is False, and the position is a TIE; leave has_ties out")


RANKS: dict[int, int] = {LOSE: 0, TIE: 1, DRAW: 1, WIN: 2}
"""Values for a player, from the worst."""


def check_at_best(survey: Survey, position: int) -> None:
    """Check that the opponent can answer every move so that the player to move still gets no more than `at_best`.

    If that holds everywhere, the answers together are a strategy. For LOSE, the tier must rise with them, for otherwise
    play might go in circles and not end.
    """
    answers, game = survey.answers[position], survey.game
    if answers.value != UNDECIDED:
        return
    survey.begin_check("at_best", position)
    best = game.at_best(position)
    if best not in RANKS:
        raise Fault(f"gives {best!r}; it must give WIN, TIE, DRAW or LOSE")
    for move, child in zip(answers.moves, answers.children, strict=True):
        value = survey.primitive(child)  # for the opponent, who is to move there
        if value != UNDECIDED:
            is_kept = RANKS[FLIPPED[value]] <= RANKS[best]
        else:
            replies = [game.do_move(child, reply) for reply in list_answers(game.generate_moves(child))]
            kept = [after for after in replies if RANKS[value_at_best(survey, after)] <= RANKS[best]]
            is_kept = bool(kept)
            if best == LOSE and kept and not any(survey.tier(after) > survey.tier(position) for after in kept):
                what = "gives LOSE, and tier() does not rise, so that play may never end"
                raise Fault(f"{what}; let tier() rise, or give TIE")
        if not is_kept:
            what = f"gives {Value(best).name}, and no reply to move {move} leads to a position with the same or less"
            raise Fault(f"{what}; give WIN where a position has no such reply")


def value_at_best(survey: Survey, position: int) -> int:
    """Return the value of a position where the game is over, else what the player to move gets `at_best`."""
    value = survey.primitive(position)
    return survey.game.at_best(position) if value == UNDECIDED else value


def check_heap_code(survey: Survey, position: int) -> None:
    """Check that the moves lead to the heaps that the code allows. Heaps without a move may be left out."""
    survey.begin_check("heap_code", position)
    game, code = survey.game, survey.game.heap_code
    if not all(is_int(digit) and (digit & ~(NOTHING | ONE | TWO | UNEQUAL)) == 0 for digit in code):
        raise Fault(f"is {code!r}; each number must be a sum of {NOTHING}, {ONE}, {TWO} and {UNEQUAL}")

    def drop_dead_heaps(sizes: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(size for size in sizes if any(True for _ in options_of(code, size))))

    heaps = sizes_in(game.write(position))
    declared = {
        drop_dead_heaps([*heaps[:i], *heaps[i + 1 :], *remaining])
        for i in range(len(heaps))
        for remaining in options_of(code, heaps[i])
    }
    possible = {drop_dead_heaps(sizes_in(game.write(child))) for child in survey.answers[position].children}
    for sizes in sorted(declared ^ possible):
        text = "+".join(map(str, sizes[::-1])) or "0"
        in_code, in_rules = ("lacks", "have") if sizes in possible else ("has", "lack")
        raise Fault(f"{in_code} a move to {text}, and the rules {in_rules} it")


def leads_to(game: Game, position: int, after: int) -> bool:
    """Return whether a move leads from one position to another."""
    return any(game.do_move(position, move) == after for move in list_answers(game.generate_moves(position)))


def hints_at(survey: Survey, position: int) -> dict[str, Any]:
    """Return {name: answer} of the hints that a game defines; `promise` has an answer for each move."""
    game = survey.game
    answers: dict[str, Any] = {}
    for name in sorted(NUMERIC_HINTS, key=lambda name: (name != "features", name)):  # the estimate rests on them
        if defines(game, name) or (name == "estimate" and defines(game, "features")):
            survey.begin_check(name, position)
            ask = getattr(game, name)
            if name == "promise":
                answers[name] = [ask(position, move) for move in list_answers(game.generate_moves(position))]
                for answer in answers[name]:
                    refuse_hint(name, answer)
            else:
                answers[name] = ask(position)
                refuse_hint(name, answers[name])
                if name == "features" and len(answers[name]) != len(game.feature_weights):
                    counts = f"gives {len(answers[name])} numbers, and feature_weights has {len(game.feature_weights)}"
                    raise Fault(f"{counts}; let both have as many")
    return answers


def refuse_hint(name: str, answer: Any) -> None:
    """Raise a Fault if the answer of a hint has the wrong type or is out of bounds."""
    if name == "quiet":
        if answer not in (0, 1):
            raise Fault(f"gives {answer!r}; it must give True or False")
    elif name == "features":
        if not isinstance(answer, tuple) or not all(type(one) is int for one in answer):
            raise Fault(f"gives {answer!r}; it must give a tuple of ints")
    elif not is_int(answer) or not -ESTIMATE_LIMIT <= answer <= ESTIMATE_LIMIT:
        raise Fault(f"gives {answer!r}; it must give an int from -2**30 to 2**30")
