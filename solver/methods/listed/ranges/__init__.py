"""Solves a tier in ranges of slots, so that several machines share the work and the memory.

A range has `2**shift` consecutive slots. Its scores, counters and predecessor lists are in files, and only the task at
work on it has them in memory. The solver itself keeps only the names of files:

    slots --expand--> blocks, and edges by range --invert--> ranges --propagate, ply by ply--> scores

1. Expand all slots (`tier.expand_all`). Tasks write initial scores and counters, and edges sorted by the child's
   range.
2. Assemble each range: its scores and counters, and the predecessor lists of its slots (`steps.assemble`).
3. Propagate, one remoteness at a time (`tier.RangePropagation`). A step of a range takes updates, decides slots, and
   returns updates for the ranges of their parents (`steps.run_step`).
4. Call undecided slots draws, and return the scores of each range (`steps.RangeState.with_draws`).

Files are never changed, only replaced, so that a task that runs twice or too late does no harm. From checkpoints
(`runtime/checkpoint.py`) a killed solve resumes.
"""
