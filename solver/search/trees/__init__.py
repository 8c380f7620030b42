"""Search trees of small games, as textbooks draw them.

`textbook.py` has the searches, slow and obvious; they return a tree of `Node`s. `tree.py` chooses which trees show most
of a position, and writes them as text. `solver/play/tree_picture.py` draws them.
"""
