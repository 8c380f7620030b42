"""What a person or a program asks of a solved game: values, best moves, players, matches.

    Solution (`solution.py`)                        a database with its rules
    SearchingOracle, … (`oracles/`)                 searches and books, for games without a database
         |
         v  both are an `Oracle` (`oracle.py`)
    moves as `Choice`, best first (`choice.py`) --> players (`player.py`), matches (`match.py`), pictures (`picture.py`)
         |
         v  with the bounds of the position and of each child
    `Answer` (`answer.py`) --> the terminal, JSON, the server and its dialects

Separate from these are `listing.py`, which streams all positions, `analysis.py` with statistics, and `bulk.py` with its
`kernels.py`, which look up many positions at once.
"""
