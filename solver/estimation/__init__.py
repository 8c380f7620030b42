"""Predicts positions, time, memory and disk of a solve.

The command `retrograde solve --estimate` prints the result, and `solve` refuses to start if the disk cannot hold even
the least of it. The steps of `estimate.estimate`:

1. Count positions: exactly if the game numbers them (`numbered.py`); otherwise by exploring the first waves and
   sampling the later ones (`sampling.py`).
2. Multiply by measured ratios: seconds, and bytes of memory, scratch files and database for each record (`amounts.py`).
3. Report each amount as a range from the least to the most that was measured (`amounts.py`).

`ranges.py` adds what a cluster takes; `estimate.RunningOutlook` estimates while a solve runs.
"""
