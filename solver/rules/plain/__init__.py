"""Runs rules once on symbolic bits, to show that a tier can be solved 64 positions at a time.

The rules of a game are plain Python functions of a position, an int. Here they get a `Symbol` instead: an int of 64
bits, each of which is a Boolean expression of the bits of the position. This is symbolic execution (King, 1976). The
expressions form a circuit of AND and XOR gates (an and-inverter graph with XOR). If a rule branches on a symbol, it is
run again for the other answer, so that a tree of decisions results. For example, `position | 5` gives::

    bit       63    …    2      1       0
    literal   x63   …    TRUE   x1      TRUE      x1: bit 1 of the position

The steps:

1. `screening.py`: check a few positions near the start. Most games are refused here, in milliseconds.
2. `symbols.py`: run the rules on symbols; get a circuit and trees of decisions.
3. `rules.py`: convert them to arrays (`Program`): moves, ends of the game, images, and a mirror if there is one.
4. `tier_kernels.py`: evaluate the programs for each tier. The bits that all its positions share are put in, so that
   most of the circuit becomes constant. Then it is known which moves all positions have, which bits each move writes,
   which positions are over, and which come before their images.

Nothing is guessed: if a result is not the same for all positions of a tier, the kernels return UNCLEAR, and the solver
uses another method. The set-wise method (`solver/methods/setwise/`) is the user of this package.
"""
