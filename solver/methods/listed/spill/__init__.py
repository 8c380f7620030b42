"""Sorted lists of positions in files: merged, and looked up for many positions at once.

Used when the positions of a game do not fit in memory. Lists are compressed, and read block by block from front to
back.

- `kernels.py`: loops over sorted lists, in memory too, of positions of one word or of several.
- `row_kernels.py`: loops for several words alone: sorting, and packing into ints.
- `packing.py`: sorts positions; those of several words as ints, where they fit.
- `lists.py`: sorted lists on disk, merging them, and the known positions of an exploration: a few lists for each tier.
- `lookup.py`: the indices of children, located in passes over the lists.
"""
