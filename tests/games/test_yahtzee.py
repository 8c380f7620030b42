"""Yahtzee's texts of positions. Its values are compared with published ones in `tests/solver/metrics/`."""

import pytest

from retrograde.games.yahtzee import Yahtzee


@pytest.mark.parametrize("text", ["1+12 u3* r2 -", "12 u0 r1 1136", "- u0 r0 66666"])
def test_a_position_is_read_as_it_is_written(text):
    game = Yahtzee()
    assert game.write(game.read(text)) == text


@pytest.mark.parametrize(
    ("options", "text", "message"),
    [
        ({}, "1+1 u0 r2 -", "a category is used once"),
        ({}, "1+9 u3* r2 -", "a star after the upper points needs"),
        ({"joker": False}, "12 u0* r2 -", "a star after the upper points needs"),
    ],
)
def test_a_text_that_no_position_has_is_refused(options, text, message):
    with pytest.raises(ValueError, match=message):
        Yahtzee(**options).read(text)
