"""Sorted lists of positions in files: merged, and looked up for many positions at once.

Used when the positions of a game do not fit in memory. Lists are compressed, and read block by block from front to
back.

- `lists.py`: a sorted list on disk, and merging lists.
- `positions.py`: the known positions of an exploration, as a few sorted lists for each tier.
- `lookup.py`: the indices of children, located in passes over the lists.
"""
