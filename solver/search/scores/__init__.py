"""Proves by search how many points the player to move can win by.

`searcher.py` asks "is the score at least n?" for ever closer n, and `kernels.py` answers, with the transposition table
and the threads of the search for values (`search/searcher.py`).
"""
