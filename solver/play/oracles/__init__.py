"""Answers without a whole database: searches within a time limit, and opening books.

`open.py` chooses the oracle of a game: `searching.py` for values, `certified.py` if there is a certificate,
`scoring.py` for games about points. `fifty_moves.py` adds the fifty-move rule to a solution. `book.py` makes opening
books, and `audit.py` verifies them.
"""
