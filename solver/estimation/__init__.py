"""Predicts positions, time, memory and disk of a solve.

The command `retrograde solve --estimate` prints the result, and `solve` refuses to start if the disk cannot hold even
the least of it. `estimate.estimate` counts positions (`numbered.py`, `sampling.py`) and multiplies their number by
measured ratios, such as bytes for each record (`amounts.py`). `ranges.py` adds what a cluster takes;
`estimate.RunningOutlook` estimates while a solve runs.
"""
