"""The engine for programs that speak UCI.

engine.py     reads a line, and answers it; `go` starts a thread with a `Clock` (`clock.py`)
thinking.py   chooses where the move comes from, the first of these that knows one in time:
lines.py          a database of the ending: best moves and their lines
searches.py       a search for a proof, if the position is an ending
deepening.py      a depth-limited search of the whole game
twoply.py         two plies, by material
"""
