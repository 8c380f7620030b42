"""Compares compiled rules with interpreted ones, position by position."""

from functools import lru_cache
from typing import Any

import numpy as np

from retrograde.games.contract.game import UNDECIDED, Game, Traits, is_none
from retrograde.solver.conformance.hints import has_hints, hints_at
from retrograde.solver.conformance.kernels import to_slots_and_back
from retrograde.solver.conformance.pairs import canonical_children, canonical_parents, images_of
from retrograde.solver.conformance.survey import Survey, list_answers
from retrograde.solver.rules.examine import Fault, to_list
from retrograde.solver.rules.expansion import Expander, compiling
from retrograde.solver.rules.positions import note, of_positions
from retrograde.solver.rules.running_kernels import trouble_array


@lru_cache(1)
def expander_of(game: Game) -> Expander:
    """Return an expander whose rules are compiled at once."""
    return Expander(game, eager=True)


def check_compiled(survey: Survey, position: Any) -> None:
    """Raise a Fault if compiled and interpreted rules differ at a canonical position; RuleError or NotCompilable."""
    survey.begin_check("compiled", position)
    game, traits, tier = survey.game, Traits.of(survey.game), survey.tier(position)
    expander, positions = expander_of(game.family), np.array([position], np.int64)
    if traits.has_numbering and (slot := game.index(position)) >= 0:  # with chance, it may have none
        slots, again = np.empty(1, np.int64), of_positions(game, 1)
        ask(survey, to_slots_and_back, tier, positions, slots, again)
        expect_same("index() gives", slot, int(slots[0]))
        expect_same("unindex() gives", [game.unindex(tier, slot)], to_list(again))
    block = expander.expand(tier, positions, sizes=traits.has_images)
    (value,), (children,) = block.lists_by_position()
    expect_same("primitive() gives", survey.primitive(position), value)
    expect_same("moves lead to", canonical_children(survey, position), children)
    if traits.has_images:
        expect_same("the positions symmetric to it are", len(images_of(survey, position)), int(block.sizes[0]))
    if traits.has_parents:
        parents = to_list(expander.expand_parents(tier, positions).children[:, 0])
        expected = canonical_parents(survey, position, list_answers(game.parents(position)))
        expect_same("parents() gives", expected, [parent for parent in parents if not is_none(parent)])
    if has_hints(game) and value == UNDECIDED:
        check_hints_compiled(survey, position)


def check_hints_compiled(survey: Survey, position: int) -> None:
    """Raise a Fault if compiled and interpreted hints differ at an undecided position."""
    from retrograde.solver.search.depth.kernels import find_hints  # few games have any

    interpreted = hints_at(survey, position)
    survey.begin_check("compiled", position)
    moves = list_answers(survey.game.generate_moves(position))
    promises = np.zeros(len(moves), np.int64)
    estimate, quiet, plies, best = ask(survey, find_hints, position, np.array(moves, np.int64), promises)
    expect_same("estimate() gives", interpreted.get("estimate", 0), int(estimate))
    expect_same("quiet() gives", bool(interpreted.get("quiet", True)), bool(quiet))
    expect_same("least_plies() gives", interpreted.get("least_plies", 1), int(plies))
    if Traits.of(survey.game).has_at_best:
        expect_same("at_best() gives", survey.game.at_best(position), int(best))
    expect_same("promise() gives", interpreted.get("promise", [0] * len(moves)), promises.tolist())


def ask(survey: Survey, kernel: Any, *arguments: Any) -> Any:
    """Call a kernel with the compiled rules and *arguments*; return its result. Raise RuleError or NotCompilable."""
    game, trouble = survey.game.family, trouble_array(survey.game)
    with compiling(game, trouble):
        if survey.position is not None:
            note(trouble, survey.position)  # for the message of an error
        return kernel(expander_of(game).rules, *arguments)


def expect_same(what: str, interpreted: object, compiled: object) -> None:
    """Raise a Fault unless both answers are equal. *what* begins its message, as in "index() gives"."""
    if interpreted != compiled:
        raise Fault(f"{what} {interpreted} interpreted, and {compiled} compiled; do ints exceed 64 bits on the way?")
