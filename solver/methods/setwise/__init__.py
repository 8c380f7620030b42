"""Solves 64 positions at a time where rules are provably plain.

The idea: in games such as Connect Four, all positions of a tier have the same moves, and a move writes the same bits
into each of them. So one machine instruction can make a move in 64 positions, or compare the values of 64 positions.
The method proves this for every tier (see `solver/rules/plain/`) and raises NotApplicable if it does not hold.

Terms:

- A *wave* is the set of tiers that play reaches after the same number of plies.
- A tier has a `base`, the bits that all its positions share, and a `mask`, the bits that may differ.
- The *rank* of a position is its bits under the mask, packed together. A tier with n bits in its mask has ranks
  below 2**n.
- A *word* is a set of positions with 64 consecutive ranks, one bit each. A *group* is 64 words, so 4,096 ranks.
- A *link* is one move that leads from a parent tier to a child tier. It writes the same bits into all positions. If a
  written bit varies in the child tier, because other links write the other value, it is inserted into all ranks.
- A *plane* holds one bit of the value of every position (bit slicing). Six planes give values below 64.

An example, a tier with the mask 0110 and the base 1000. Its set has three of the four possible positions::

    position   1000   1010   1100   1110
    rank         00     01     10     11
    word          1      1      0      1      bit r of the word is the position with rank r
    plane 0       0      1      0      1   values 2, 1 and 3;
    plane 1       1      0      0      1   bits outside the set are 0

The steps of a solve:

1. `tiers.py`: follow a few tiers of each wave and stop if the rules are not plain there.
2. Forward (`forward.py`, `forward_kernels.py`): from the start, wave by wave, find the tiers and fill their sets.
   Positions in which the game is over are counted and left out.
3. Backward (`backward.py`, `backward_kernels.py`): from the last wave back, compute the planes of each wave from those
   of the next. `step_kernels.py` writes them as steps for the database, as the streamed method does (see
   `streamed/steps.py`).

`method.py` runs these steps. `words.py` describes sets, `storage.py` stores them in memory or in scratch files,
`batches.py` says which tiers are in memory when, and `mirror.py` halves the work in games with a mirror symmetry.
"""
