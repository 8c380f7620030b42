"""Recomputes every stored measure of the other metrics, with loops of its own.

`recheck.py` is the entry point. `families.py` calls the rules for all records (loop in `kernels.py`); `metrics.py` and
`expectation.py` then check the stored measures with numpy. Databases of expectations by slot have their own loops:
`slots.py` and `slot_kernels.py`. `sampled.py` checks a sample of a new database, interpreted.
"""
