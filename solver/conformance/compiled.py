"""Compares compiled rules with interpreted ones, position by position."""

from typing import Any

import numpy as np

from retrograde.games.contract.game import MOST_IMAGES, UNDECIDED, Traits
from retrograde.solver.conformance.hints import has_hints, hints_at
from retrograde.solver.conformance.kernels import children_of, parents_at, to_slots_and_back
from retrograde.solver.conformance.pairs import canonical_children, canonical_parents, images_of
from retrograde.solver.conformance.survey import Survey, limited
from retrograde.solver.rules.examine import Fault, listed
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.kernels import gather_images
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import note, of_positions
from retrograde.solver.rules.running_kernels import trouble_array

MORE = 8
"""Space for further positions that compiled rules may wrongly give, so that a Fault shows them."""


def check_compiled(survey: Survey, position: Any) -> None:
    """Raise a Fault if compiled and interpreted rules differ at a canonical position."""
    survey.at("compiled", position)
    game, traits, tier = survey.game, Traits.of(survey.game), survey.tier(position)
    if traits.has_numbering and (slot := game.index(position)) >= 0:  # with chance, it may have none
        slots, again = np.empty(1, np.int64), of_positions(game, 1)
        ask(survey, to_slots_and_back, tier, np.array([position], np.int64), slots, again)
        expect_same("index() gives", slot, int(slots[0]))
        expect_same("unindex() gives", [game.unindex(tier, slot)], listed(again))
    children = canonical_children(survey, position)
    found = of_positions(game, len(children) + MORE)
    value, count = ask(survey, children_of, position, found)
    expect_same("primitive() gives", survey.primitive(position), value)
    expect_same("moves lead to", children, listed(found[:count]))
    if traits.has_images:
        size = ask(survey, gather_images, position, of_positions(game, MOST_IMAGES))
        expect_same("the positions symmetric to it are", len(images_of(survey, position)), size)
    if traits.has_parents:
        parents = canonical_parents(survey, position)
        found = of_positions(game, len(parents) + MORE)
        count = ask(survey, parents_at, tier, position, found)
        expect_same("parents() gives", parents, listed(found[:count]))
    if has_hints(game) and value == UNDECIDED:
        check_hints_compiled(survey, position)


def check_hints_compiled(survey: Survey, position: int) -> None:
    """Raise a Fault if compiled and interpreted hints differ at an undecided position."""
    from retrograde.solver.search.depth.kernels import hints  # few games have any

    interpreted = hints_at(survey, position)
    survey.at("compiled", position)
    moves = limited(survey.game.generate_moves(position))
    promises = np.zeros(len(moves), np.int64)
    estimate, quiet, plies = ask(survey, hints, position, np.array(moves, np.int64), promises)
    expect_same("estimate() gives", interpreted.get("estimate", 0), int(estimate))
    expect_same("quiet() gives", bool(interpreted.get("quiet", True)), bool(quiet))
    expect_same("least_plies() gives", interpreted.get("least_plies", 1), int(plies))
    expect_same("promise() gives", interpreted.get("promise", [0] * len(moves)), promises.tolist())


def ask(survey: Survey, kernel: Any, *arguments: Any) -> Any:
    """Call a kernel with the compiled rules and *arguments*; return its result. Raise RuleError or NotCompilable."""
    game, trouble = survey.game.family, trouble_array(survey.game)
    with compiling(game, trouble):
        if survey.position is not None:
            note(trouble, survey.position)  # for the message of an error
        return kernel(rules_for(game, eager=True), *arguments)


def expect_same(what: str, interpreted: object, compiled: object) -> None:
    """Raise a Fault unless both answers are equal. *what* begins its message, as in "index() gives"."""
    if interpreted != compiled:
        raise Fault(f"{what} {interpreted} interpreted, and {compiled} compiled; do ints exceed 64 bits on the way?")
