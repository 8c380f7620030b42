"""Writes positions as source text of CGSuite 2, which computes canonical forms of larger boards.

Signs of the boards are those of `CharMap` in CGSuite's rulesets, `game/grid` and `game/strip` of
https://github.com/aaron-siegel/cgsuite. Left and Right are the same players there as in `sum`.
"""

from retrograde.cli.failure import Failure
from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game

RULESETS = {
    "amazons": ("game.grid.Amazons", {"X": "x", "O": "o", "B": "#"}),
    "clobber": ("game.grid.Clobber", {"X": "x", "O": "o"}),
    "domineering": ("game.grid.Domineering", {"#": "#"}),
    "toadsandfrogs": ("game.strip.ToadsAndFrogs", {"T": "t", "F": "f"}),
}
"""For each game, CGSuite's ruleset, and its sign for each of ours. An empty cell is a dot in both."""


def cgsuite_text(game: Game, position: int) -> str:
    """Return an expression whose value in CGSuite is a position's canonical form; raise Failure if it has no such
    ruleset.

    >>> from retrograde.games.catalog import load_game
    >>> cgsuite_text(load_game("clobber:2,2"), load_game("clobber:2,2").start)
    'game.grid.Clobber("xo|ox").CanonicalForm'
    """
    board = game.draw_board()
    if game.name not in RULESETS or board is None:
        games = ", ".join(RULESETS)
        raise Failure(f"error: CGSuite has no ruleset for {variant(game)}; --cgsuite takes positions of {games}")
    ruleset, signs = RULESETS[game.name]
    rows = board.in_rows(game.draw_pieces(position))
    text = "|".join("".join(signs.get(sign, sign) for sign in row) for row in rows)
    return f'{ruleset}("{text}").CanonicalForm'
