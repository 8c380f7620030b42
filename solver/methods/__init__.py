"""The methods that solve a game, each in a package of its own.

- `listed`: sorted lists of positions, in memory or on disk. Works for every game, cycles included.
- `numbered`: every slot of every tier, for games that number their positions.
- `streamed`: sorted lists on disk, for large games in which every move leads to the next wave of tiers.
- `setwise`: 64 positions at a time, for large games whose rules are plain.
- `chess`: kernels that `numbered` uses for chess endings, where a word is a set of 64 squares.

`solver/engine.py` selects the method. Each module `way.py` has a class with a `solve` method, which returns the
solved game, or raises NotApplicable if the method does not apply.
"""
