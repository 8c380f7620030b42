"""Recomputes every stored value from the rules, with loops of its own.

It shares no loop with the solver, so that a bug of the solver cannot hide here. `verify.py` states what is checked and
why that is a proof.

 module                   what it holds  verify.py                the entry point `verify`, the proof, and what the
proof rests on  verifier.py              the driver: goes through all items of a file, interpreted or compiled, and
reports problems  outcomes.py, judge.py    what value and remoteness a position must have, and what is wrong, in words
records.py, slots.py,    how positions are listed and outcomes looked up: records (positions with outcomes), slots of a
steps.py                 numbering, steps (runs of equal outcomes, no positions)  kernels.py, storages.py  the compiled
loops, and how they look up children  measures.py, families.py databases of records of another metric: all records with
their children  metrics.py               … what the measures of a position must be, by metric; `expectation.py` for
expectations  bounds.py                expectations stored by slot (loops in `bound_kernels.py`)  certificates.py
a strategy that proves the value of one position (loops in `certificate_kernels.py`)  sample.py                verifies
a sample of a new database before the file gets its name
"""
