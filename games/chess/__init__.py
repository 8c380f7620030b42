"""Chess endgames, and what the whole game of chess in `games/wide/` uses; see `rules`.

men, squares     codes of men, endings and tiers; squares, symmetries and attacks
board, moves     positions and moves as numbers
numbering        positions as slots of a tier
rules            the game `Chess`
fields, fen      positions as text
san, pgn         moves and games as text
anyboard         chess with any number of men, castling included
movetext         reads and annotates PGN
sets, words      sets of endings, and their names in words
bitboards        the whole game: sets of squares, and attacks
evaluation       the whole game: how good a position looks
"""

from retrograde.games.chess.rules import Chess

__all__ = ["Chess"]
