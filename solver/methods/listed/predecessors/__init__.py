"""Solves a tier with cycles, whether its positions are in lists or numbered: predecessors, propagation, checkpoints.

Retrograde analysis needs, for each decided position, its parents in the same tier. The rules need not give parents, so
the edges are stored when all children are expanded, and are inverted afterwards:

    expand                           pack                    invert
    children of a block  ---------->  packed edges  ------->  predecessor lists of each bucket
    (`pack_edges`, sorting.py)        by bucket of children   (`invert_edges`, sorting.py)

An entry of a list is the number of a child or parent within the tier. The entry is the complement (`~`) if the same
player moves in both.

- `tier.py`: the solver of a tier, and its checkpoints, so that a killed solve resumes.
- `sorting.py`: pack edges by bucket, and invert them bucket by bucket.
- `lists.py`: `PredecessorWriter` collects edges and logs them, `PredecessorLists` answers with parents.
- `in_memory.py`: the lists that may still be needed, once they fit in memory.
- `passes.py`: forward passes, when the lists fit neither in memory nor on disk.
"""
