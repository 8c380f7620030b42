"""Checks stored measures of the other metrics: one function for each metric returns which records are wrong.

It gets the records as *families*, with links to their children, and the *details* in the database's header.

Where play can go round, it is not obvious that looking one move ahead is enough. Why it is, by metric:

**Scores.** A score other than 0 comes with plies, and these prove it. The player who is ahead has a move that keeps the
score and is nearer to the end (or to where nothing more is paid and play goes round). The player who is behind has
moves that keep the score, all of them nearer, and moves that make it greater for the player ahead. So along stored
positions the score never falls for the player ahead, and while it stays the same the plies fall: play gets there, with
no less than was stored. The player behind can stick to moves that keep the score, so it is no more either. (Without
plies, two positions could each be stored as 3 because the other one is.) What is stored as 0 can be kept at 0 by either
player, with the same moves. Plies of level scores rest on lesser plies. Positions stored as endless have no move to a
level end, by definition.

**Nimbers** of games that can go round need more than one move: an infinite nimber depends on the answers to its
children. They are computed again, number by number, in passes over all positions, until nothing changes.

**Draw levels** need more than one move too. They are computed again, level by level and ply by ply.

**Utilities** depend on children only. That play ends is checked by removing, pass by pass, positions that have no
children left.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from retrograde.databases.layout import NOT_FOUND
from retrograde.games.contract.game import DRAW, LOSE, TIE, UNDECIDED, WIN
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.verification.families import Families

FAR, FARTHER = 1 << 40, 1 << 61
"""More than any plies or payoffs, and more than payoffs in fractions of a point."""
NONE, INFINITE = -1, -2


def wrong_scores(families: Families, details: dict[str, Any]) -> Array:
    """Return which records do not have the score, the plies or the value that follows from their children's."""
    scores, stored_plies = families.measures[0], families.plies
    # Step 1: what each move brings the player who makes it, and the best of that.
    brings = families.gains + np.where(families.turn_passes, -scores[families.children], scores[families.children])
    game_over = families.primitives != UNDECIDED
    best = np.where(game_over, payoff_of_mover(families), families.over_children(np.maximum, brings, -FAR))
    if (stored_plies == NOT_FOUND).all():  # scores by slot have no plies
        return np.asarray((scores != best) | (families.values != np.select([best > 0, best < 0], [WIN, LOSE], TIE)))
    # Step 2: plies, by the moves that keep the score. A child without plies at score 0 goes round: nothing more is
    # paid.
    keeps = brings == best[families.parents]
    child_plies = stored_plies[families.children]
    pays_last = (child_plies < 0) & (scores[families.children] == 0) & (brings != 0)
    plies = np.where(pays_last, 0, child_plies)
    fewest = families.over_children(np.minimum, np.where(keeps & (plies >= 0), plies, FAR), FAR)
    most = families.over_children(np.maximum, np.where(keeps, plies, -1), -1)
    # The player who is behind delays the end; otherwise the player hurries to it.
    derived_plies = np.where(best < 0, most + 1, np.where(fewest < FAR, fewest + 1, -1))
    derived_plies = np.where(game_over, 0, derived_plies)
    # Step 3: values, and scores other than 0 that no plies prove.
    endless = families.over_children(np.logical_or, keeps & (plies < 0), False)
    values = np.select([best > 0, best < 0, derived_plies >= 0], [WIN, LOSE, TIE], DRAW)
    unfounded = ((best < 0) & endless) | ((best != 0) & (derived_plies < 0))
    return np.asarray((scores != best) | (stored_plies != derived_plies) | (families.values != values) | unfounded)


def payoff_of_mover(families: Families) -> Array:
    """Return what each record would pay its mover as an end, less what it pays the other player."""
    if families.pays.shape[1] == 1:
        return np.asarray(families.pays[:, 0])
    mover = np.maximum(families.movers, 0)
    records = np.arange(len(mover))
    return np.asarray(families.pays[records, mover] - families.pays[records, 1 - mover])


def wrong_nimbers(families: Families, details: dict[str, Any]) -> Array:
    """Return which records do not have the right nimber, value or plies. Also those in which the game does not end in a
    loss for the player to move, or a move does not pass the turn: such games have no nimbers."""
    ends_otherwise = (families.primitives != LOSE) & (families.primitives != UNDECIDED)
    values, plies = derive_outcomes(families)
    moves_again = ~families.over_children(np.logical_and, families.turn_passes, True)
    cyclic = (families.measures[0] < 0).any() or has_cycle(families)
    nimbers = label_positions(families) if cyclic else least_excluded(families)
    differ = (families.measures[0] != nimbers) | (families.values != values) | (families.plies != plies)
    return np.asarray(differ | ends_otherwise | moves_again)


def least_excluded(families: Families) -> Array:
    """Return int64[records]: the least nimber that no child has (mex); infinite ones do not count."""
    pairs = np.stack([families.parents, families.measures[0][families.children]], 1)
    pairs = np.unique(pairs[pairs[:, 1] >= 0], axis=0)
    # In a record's sorted distinct numbers, those that equal their own index count up from 0 without a gap. Of 0, 1 and
    # 3 these are two, and the least number that is missing is 2.
    parents, numbers = pairs.T
    index_within_parent = np.arange(len(pairs)) - np.searchsorted(parents, parents)
    return np.bincount(parents[index_within_parent == numbers], minlength=len(families))


def has_cycle(families: Families) -> bool:
    """Return whether play can return to a position."""
    # Remove positions without remaining children, pass by pass. What is left then can go on forever.
    remaining = np.ones(len(families), np.bool_)
    while True:
        with_child = remaining & families.over_children(np.logical_or, remaining[families.children], False)
        if (with_child == remaining).all():
            return bool(remaining.any())
        remaining = with_child


def label_positions(families: Families) -> Array:
    """Return the nimbers of a game in which play can go round, coded as they are stored.

    Smith's labelling: a position gets *number* if no child has it, the children have all lesser numbers, and every
    other child has itself a child with that number, to which the opponent can go back. What is left is infinite.
    """
    labels = np.full(len(families), NONE, np.int64)
    number = 0
    while (labels == NONE).any():
        while True:
            has_number = families.over_children(np.logical_or, labels[families.children] == number, False)
            is_answered = (labels[families.children] >= 0) | has_number[families.children]
            new = (labels == NONE) & ~has_number & families.over_children(np.logical_and, is_answered, True)
            if not new.any():
                break
            labels[new] = number
        labels[(labels == NONE) & ~has_number] = INFINITE
        number += 1
    return np.where(labels >= 0, labels, code_infinite(families, labels))


def code_infinite(families: Families, numbers: Array) -> Array:
    """Return for each record the code of an infinite nimber: -1 less a bit for each finite one among its children's.
    Children with the nimbers 0 and 2 give -1 - 0b101. (Nimbers with a bit end at 61.)"""
    child_numbers = numbers[families.children]
    bits = np.where(child_numbers >= 0, np.int64(1) << np.clip(child_numbers, 0, 61), 0)
    return np.asarray(-1 - families.over_children(np.bitwise_or, bits, 0))


def derive_outcomes(families: Families) -> tuple[Array, Array]:
    """Return the values and plies that follow from the children's, in games in which players alternate."""
    child_values, child_plies = families.values[families.children], families.plies[families.children]
    soonest_lose, soonest_tie = (
        families.over_children(np.minimum, np.where(child_values == value, child_plies, FAR), FAR)
        for value in (LOSE, TIE)
    )
    has_draw = families.over_children(np.logical_or, child_values == DRAW, False)
    latest_win = families.over_children(np.maximum, child_plies, -1)  # used if all children are WIN
    cases = [families.primitives != UNDECIDED, soonest_lose < FAR, soonest_tie < FAR, has_draw]
    values = np.select(cases, [families.primitives, WIN, TIE, DRAW], LOSE)
    at_end = np.where(families.primitives == DRAW, -1, 0)
    return values, np.select(cases, [at_end, soonest_lose + 1, soonest_tie + 1, -1], latest_win + 1)


def wrong_draws(families: Families, details: dict[str, Any]) -> Array:
    """Return which records have the wrong draw level, value or plies."""
    values, plies = derive_outcomes(families)
    moves_again = ~families.over_children(np.logical_and, families.turn_passes, True)
    wrong_levels = (families.measures != derive_draws(families)).any(0)
    return np.asarray((families.values != values) | (families.plies != plies) | wrong_levels | moves_again)


def derive_draws(families: Families) -> Array:
    """Return the kinds, levels and plies of draws, int64[3, records], computed level by level."""
    draws, child_values = families.values == DRAW, families.values[families.children]
    child_is_draw = draws[families.children]
    kinds, levels, plies = np.zeros(len(draws), np.int64), *np.full((2, len(draws)), -1)
    # Level 0 begins with draws from which a move would lose. Their player has to be careful, so they count as LOSE
    # (see metrics/drawlevel.py).
    new, level = draws & families.over_children(np.logical_or, child_values == WIN, False), 0
    # Each level begins with its fringe: LOSE at 0 plies.
    while new.any():
        kinds[new], levels[new], plies[new] = LOSE, level, 0
        distance = 0
        # Then spread it ply by ply, as WIN and LOSE are in an ordinary game: a move to a LOSE wins, only moves to WINs
        # lose.
        while new.any():
            distance += 1
            child_kinds = kinds[families.children]
            wins = families.over_children(np.logical_or, child_is_draw & (child_kinds == LOSE), False)
            loses = families.over_children(np.logical_and, ~child_is_draw | (child_kinds == WIN), False)
            new = draws & (kinds == 0) & (wins | loses)
            kinds[new], levels[new], plies[new] = np.where(wins, WIN, LOSE)[new], level, distance
        # The fringe of the next level: draws with a move to a WIN of this level.
        won_children = (kinds[families.children] == WIN) & (levels[families.children] == level)
        new = draws & (kinds == 0) & families.over_children(np.logical_or, won_children, False)
        level += 1
    # Not pure (kind DRAW): draws without a level, a LOSE that is the child of a LOSE, and draws with a move to
    # one of these.
    spoilt = draws & (kinds == 0)
    spoilt[families.children[(kinds[families.parents] == LOSE) & (kinds[families.children] == LOSE)]] = True
    spreads = True
    while spreads:
        spoilt_before = spoilt
        spoilt = spoilt | (draws & families.over_children(np.logical_or, spoilt[families.children], False))
        spreads = bool((spoilt != spoilt_before).any())
    kinds[spoilt], levels[spoilt], plies[spoilt] = DRAW, -1, -1
    return np.stack([kinds, levels, plies])


def wrong_utilities(families: Families, details: dict[str, Any]) -> Array:
    """Return which records do not have the utilities, the plies or the value that follows from their children's."""
    scale, ties = details["scale"], details["ties"]
    # Averages are rounded: children count as equally good within this slack, in parts of a point as `scale` says.
    slack = 1 << 10 if ties == "average" else 0
    utilities, records = families.measures.T, np.arange(len(families))
    game_over = families.primitives != UNDECIDED
    child_utilities = utilities[families.children]
    mover = np.maximum(families.movers, 0)
    for_mover = child_utilities[np.arange(len(families.children)), mover[families.parents]]
    # Step 1: the best children for the player to move.
    best = families.over_children(np.maximum, for_mover, -FARTHER)
    equal = for_mover >= best[families.parents] - slack
    # Step 2: utilities and plies. Case "average": the rounded mean over the best children.
    if ties == "average":
        counts = np.maximum(families.over_children(np.add, equal.astype(np.int64), 0), 1)
        sums = [families.over_children(np.add, np.where(equal, column, 0), 0) for column in child_utilities.T]
        derived = np.stack([(2 * total + counts) // (2 * counts) for total in sums], 1)
        plies = families.over_children(np.maximum, np.where(equal, families.plies[families.children], -1), -1) + 1
    else:
        # Case of a single choice: the chosen child's utilities.
        chosen = choose_children(families, equal, child_utilities, ties)
        derived, plies = utilities[chosen], families.plies[chosen] + 1
        if ties == "paranoid":  # the mover gets the most, everyone else the least
            worst = np.stack([families.over_children(np.minimum, column, FARTHER) for column in child_utilities.T], 1)
            derived = np.where(np.arange(worst.shape[1]) == mover[:, None], best[:, None], worst)
    # Step 3: ends have their payoffs. The value compares the mover with the best of the others, or with 0 if alone.
    derived = np.where(game_over[:, None], scale * families.pays, derived)
    plies = np.where(game_over, 0, plies)
    mover_gets = derived[records, mover]
    best_other = np.where(np.arange(derived.shape[1]) == mover[:, None], -FARTHER, derived).max(1)
    best_other = best_other if derived.shape[1] > 1 else np.zeros_like(mover_gets)
    values = np.select([mover_gets > best_other, mover_gets < best_other], [WIN, LOSE], TIE)
    wrong = (utilities != derived).any(1) | (families.plies != plies) | (families.values != values)
    return np.asarray(wrong | has_cycle(families))


def choose_children(families: Families, equal: Array, child_utilities: Array, ties: str) -> Array:
    """Return the child that each record's player moves to; the record itself if the game is over. It is the first of
    the *equal* children; with *ties* "leader", the first after which the leading opponent gets least."""
    keys = np.zeros(len(families.children), np.int64)
    if ties == "leader" and child_utilities.shape[1] > 1:
        mover = np.maximum(families.movers, 0)[families.parents]
        keys = np.where(np.arange(child_utilities.shape[1]) == mover[:, None], -FAR, child_utilities).max(1)
    least = families.over_children(np.minimum, np.where(equal, keys, FAR), FAR)
    fits = equal & (keys == least[families.parents])
    chosen = np.arange(len(families))
    order = np.flatnonzero(fits)[::-1]  # reversed: the first of several is written last and stays
    chosen[families.parents[order]] = families.children[order]
    return chosen


CHECKS: dict[str, Callable[[Families, dict[str, Any]], Array]] = {
    "score": wrong_scores,
    "nimber": wrong_nimbers,
    "drawlevel": wrong_draws,
    "utilities": wrong_utilities,
}


# A sample, of which only the children are known


def nimbers_by_children(families: Families, details: dict[str, Any]) -> Array:
    """Return which records have a nimber that their children contradict."""
    own = families.measures[0]
    return np.asarray(own != np.where(own < 0, code_infinite(families, own), least_excluded(families)))


def draws_by_children(families: Families, details: dict[str, Any]) -> Array:
    """Return which records have a draw level, or none, that their children contradict.

    A won draw leads to the lost draw of the lowest level, then of the fewest plies. A lost draw leads to won draws
    only; its level begins there (0 plies), or it is one ply behind the latest of its children.
    """
    kinds, levels, plies = families.measures
    child_kinds, child_levels, child_plies = families.measures[:, families.children]
    parent_level, child_is_draw = levels[families.parents], child_kinds != UNDECIDED
    # Step 1: what must hold for a draw that is lost.
    from_level_before = child_is_draw & (child_levels == parent_level - 1)
    to_fringe = np.where(parent_level == 0, families.values[families.children] == WIN, from_level_before)
    is_fringe = families.over_children(np.logical_or, to_fringe, False)
    last = families.over_children(np.maximum, np.where(child_is_draw, child_plies, -1), -1)
    only_wins = families.over_children(np.logical_and, ~child_is_draw | (child_kinds == WIN), True)
    fits_lost = only_wins & np.where(plies == 0, is_fringe, last == plies - 1)
    # Step 2: for a draw that is won. Levels and plies are compared as one number, levels first.
    keys = np.where(child_kinds == LOSE, child_levels * FAR + child_plies, FARTHER)
    fits_won = families.over_children(np.minimum, keys, FARTHER) == levels * FAR + plies - 1
    # Step 3: for a draw without a level, and for other values.
    leads_to_draw = families.over_children(np.logical_or, child_is_draw, False) | (families.primitives == DRAW)
    no_level = (levels == -1) & (plies == -1)
    cases = [kinds == UNDECIDED, kinds == DRAW, kinds == WIN]
    return np.asarray(~np.select(cases, [no_level, no_level & leads_to_draw, fits_won], fits_lost))


CHECKS_BY_CHILDREN = {**CHECKS, "nimber": nimbers_by_children, "drawlevel": draws_by_children}
"""The checks for positions of which only the children are known, not their children's."""
