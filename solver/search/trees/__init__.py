"""Search trees of small games, as textbooks draw them.

`tree.py` builds the trees of one position by several searches (`depth/textbook.py`); `text.py` prints them.
"""
