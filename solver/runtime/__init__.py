"""Executors, memory budget, journal, spill files, progress and compiled code. It knows no game.

A method of solving gets one `Work` (`work.py`), which has all of this:

    work.executor   runs tasks on threads, processes or a cluster (`tasks.py`, `cluster/`, `arrays.py`)
    work.budget     the memory left (`memory.py`)
    work.journal    finished pieces, so that a killed solve resumes (`journal.py`)
    work.scratch    the folder of spilled data (`scratch.py`)
    work.phase()    progress reports (`progress.py`)
    work.sizes      thresholds (`sizes.py`)

`driver.py` is the main loop: solve a group, store it, log it. `concurrent.py` solves several tiers at once. `kernel.py`
compiles loops and caches their machine code by the digests of `sources.py`.
"""
