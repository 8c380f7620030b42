"""Compiles or interprets a game's rules, and checks every answer against the contract.

A game is a Python class with methods such as `primitive`, `generate_moves` and `do_move` (see
`games/contract/game.py`). The solver calls these methods in two forms:

 form         modules                                              used for
 interpreted  examine.py, images.py, consistency.py                small games, samples, messages about a fault
 compiled     compiled.py, kernels.py, positions.py, expansion.py  everything else, as machine code

The path of a block of positions through the compiled rules:

1. `expansion.Expander` takes a block of positions and the calling thread's buffers.
2. `kernels.expand` calls the compiled rules for each position and writes its children, column by column.
3. If an answer breaks the contract, the kernel stops. It reports a `Trouble` code and the position.
4. `examine` calls the interpreted rules at that position and raises a RuleError that describes the fault.

Other modules: `reason` explains why rules do not compile; `running_kernels` knows the position at which each kernel is;
`no_exit` stops rules from ending the process; `turns` answers who moves after a move; `plain` recognizes games with
very simple rules.
"""
