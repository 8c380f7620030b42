"""Recomputes every stored value from the rules, with loops of its own.

It shares no loop with the solver, so that a bug of the solver cannot hide here. `verify.py` states what is checked and
why that is a proof.

- `verify.py`: the entry point `verify`, the proof, and what the proof rests on
- `verifier.py`: the driver, which goes through all items of a file, interpreted or compiled, and reports problems
- `outcomes.py`, `judge.py`: what value and remoteness a position must have, and what is wrong, in words
- `records.py`, `slots.py`, `steps.py`: how positions are listed and outcomes looked up
- `kernels.py`, `storages.py`: the compiled loops, and how they look up children
- `measures.py`, `families.py`: databases of records of another metric: all records with their children
- `metrics.py`, `expectation.py`: what the measures of a position must be, by metric
- `bounds.py`, `scores.py`: expectations and scores stored by slot
- `certificates.py`: a strategy that proves the value of one position
- `sample.py`: verifies a sample of a new database before the file gets its name
"""
