"""Compiled loops over matrices of located children (see rules/kernels.py). They call no rules."""

import numpy as np

from retrograde.games.contract.game import UNDECIDED
from retrograde.solver.methods.listed.predecessors.kernels import append_edge, mark_at, number_of
from retrograde.solver.runtime.kernel import ZERO, kernel
from retrograde.solver.values.score import DRAW_CLASS, PRIMITIVE
from retrograde.solver.values.score_kernels import pass_on, pass_up, primitive_score, too_far


@kernel
def sweep(block, bits, scores, result):
    """Write to *result* the scores of a LocatedBlock whose children are all solved. *scores* are those of all
    positions. Return 1 if a remoteness does not fit in *bits* bits."""
    columns, indices, matrix, _ = block
    # Step 1: score the positions where the game is over. Others get a value that step 3 replaces.
    for i in range(len(result)):
        result[i] = primitive_score(matrix.primitives[i], bits)
    # Step 2: for each column, an undecided position, the best score that a child passes up. Rows are the outer loop,
    # because children in a row often ascend, so that scores are read along memory.
    best = np.zeros(columns, np.int64)
    for row in range(indices.shape[0]):
        for column in range(columns):
            index = indices[row, column]
            if index >= 0:
                best[column] = max(best[column], pass_up(np.int64(scores[index]), bits))
            elif index < -1:  # the same player moves again: -2 - index of the child
                best[column] = max(best[column], pass_on(np.int64(scores[-2 - index]), bits))
    # Step 3: `origins` says which position a column stands for.
    for column in range(columns):
        result[matrix.origins[column]] = best[column]
    return too_far(result, bits)


@kernel
def split_children(block, tier, bits, scores, seeds):
    """Split the children of a block of a tier into solved ones and ones within the tier; return the number of the
    latter.

    *tier* has the first index of the tier's positions among all, and the one after its last. Writes the initial scores
    and counters of each position to *seeds*. Writes to the block's buffer the distinct children within the tier,
    position by position: their numbers in the tier, or the complements (`~`) if the same player moves again. A block's
    index of such a child is -2 minus the index among all; -1 stands for no child.
    """
    columns, indices, matrix, children = block
    low, high = tier
    # Step 1: positions where the game is over are decided; they have no column.
    for i in range(len(seeds.scores)):
        value = matrix.primitives[i]
        seeds.scores[i] = 0 if value == UNDECIDED else primitive_score(value, bits)
        seeds.children_left[i] = 0 if value == UNDECIDED else PRIMITIVE
        seeds.counts[i] = 0
    # Step 2: visit the children of each undecided position.
    count = ZERO
    for column in range(columns):
        begin = count
        later_score = 0
        for row in range(indices.shape[0]):
            index = indices[row, column]
            moves_again = index < -1
            if moves_again:
                index = -2 - index
            # Case: the child is within the tier, still unsolved. Duplicates are dropped, as the counter counts distinct
            # children.
            if low <= index < high:
                count = append_edge(children, begin, count, ~(index - low) if moves_again else index - low)
            elif index >= 0:
                # Case: the child is in a later tier, already solved.
                score = np.int64(scores[index])
                later_score = max(later_score, pass_on(score, bits) if moves_again else pass_up(score, bits))
        # Step 3: a draw or better from a later tier saves the position from losing. It counts as one more child, which
        # no step ever takes from the counter.
        i = matrix.origins[column]
        seeds.scores[i] = later_score
        seeds.counts[i] = count - begin
        seeds.children_left[i] = min(count - begin + (later_score >= DRAW_CLASS << bits), PRIMITIVE - 1)
    return count


@kernel
def children_in_frontier(block, tier, frontier, counts):
    """Write the distinct children of a block that are in a *frontier* to its buffer, as `split_children` does; return
    how many. *counts*, which comes in as zeros, gets their number by position."""
    columns, indices, matrix, children = block
    first_index, end_index = tier
    count = ZERO
    for column in range(columns):
        begin = count
        for row in range(indices.shape[0]):
            index = indices[row, column]
            moves_again = index < -1
            child = (-2 - index if moves_again else index) - first_index
            if 0 <= child < end_index - first_index and mark_at(frontier, child):
                count = append_edge(children, begin, count, ~child if moves_again else child)
        counts[matrix.origins[column]] = count - begin
    return count


@kernel
def reverse(children, ends, parents, begins):
    """Invert edges: turn lists of children into lists of parents. Complements stay complements.

    The children of position i are `children[ends[i - 1]:ends[i]]`. Its parents become `parents[begins[i]:begins[i +
    1]]`. *begins* comes in as zeros and has two more entries than there are positions. The children [1, 1, 0] of two
    positions that end at [2, 3] become the parents [1, 0, 0] with *begins* [0, 1, 3, 3].
    """
    # Step 1: count the parents of child c in `begins[c + 2]`, two entries ahead of its final use.
    for child in children:
        begins[number_of(child) + 2] += 1
    # Step 2: prefix sums. `begins[c + 1]` is now where the parents of c begin.
    for i in range(2, len(begins)):
        begins[i] += begins[i - 1]
    # Step 3: write each parent and advance `begins[c + 1]`, which ends where the parents of c + 1 begin.
    begin = 0
    for i in range(len(ends)):
        for edge in range(begin, ends[i]):
            child = number_of(children[edge])
            parents[begins[child + 1]] = i if children[edge] >= 0 else ~i
            begins[child + 1] += 1
        begin = ends[i]
