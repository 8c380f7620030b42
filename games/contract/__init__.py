"""What a game is: the contract, its boards, texts and pictures, and games that travel to other processes.

Begin with the docstring of `game.py`: it lists every method that a rule module must or may define.

    game.py                      `Game`, the base class of all rules; `Value`; `Traits` (which methods a game defines)
    drawing.py, declared.py      the board that a game declares, and the texts and move names that follow from it
    fields/                      declared fields: the program decides which bits of a position hold what
    picture.py, marks.py         positions as SVG, with moves coloured by value; `choice.py` is one such move
    naming.py, text.py           names for people, and texts that are safe to print
    raised.py, faults.py         messages about rules and declarations that are wrong
    snapshot.py, travel.py       the source of rules as it was imported; games in a pickle
    live.py                      rules typed at a prompt or in a notebook
    zeroing.py, unfolded.py      distances to progress (dtz, dtc); a game without its symmetry
"""
