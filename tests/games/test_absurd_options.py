"""Absurd options of all games of the catalog: each is refused at once, before anything of its size is built."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

TRY_ALL = '''
import resource
from dataclasses import fields
from typing import get_type_hints

from retrograde.games import UNDECIDED, VariantError
from retrograde.games.catalog import BUILT_IN, game_class, load_game
from retrograde.games.contract.naming import variant_title

GIB = 1 << 30
resource.setrlimit(resource.RLIMIT_CPU, (120, 120))  # all takes two seconds; one hanging variant takes for ever
resource.setrlimit(resource.RLIMIT_AS, (2 * GIB, 2 * GIB))


def absurd(name):
    """Yield variants of a game with absurd whole numbers, each by itself and all together."""
    cls = game_class(name)
    kinds = get_type_hints(cls)
    numbers = [one.name for one in fields(cls) if kinds[one.name] is int]
    for value in (99_999, 10**9, 10**18):
        yield from (f"{name}:{number}={value}" for number in numbers)
        yield f"{name}:{','.join(f'{number}={value}' for number in numbers)}"


for text in [text for name in BUILT_IN for text in absurd(name)]:
    print(text, end=": ", flush=True)
    try:
        game = load_game(text)
    except VariantError as error:
        assert "\\n" not in f"{error}"
        print("refused")
        continue
    variant_title(game)
    game.write(game.start)
    game.draw_board()
    if game.primitive(game.start) == UNDECIDED:
        next(iter(game.generate_moves(game.start)))
    print("taken")
'''
"""A program that tries all games, with bounds of time and memory."""


@pytest.mark.skipif(sys.platform == "win32", reason="bounds of memory are those of Unix")
def test_absurd_options_are_refused_before_a_board_is_built():
    done = subprocess.run([sys.executable, "-c", TRY_ALL], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-500:]}\n{done.stderr[-2000:]}"
    tried = dict(line.split(": ") for line in done.stdout.splitlines())
    for board in ("tictactoe:size=99999", "mnk:m=99999,n=99999,k=99999", "joust:height=99999", "mnk:k=99999"):
        assert tried[board] == "refused"
    assert tried["breakthrough:width=99999,height=99999"] == tried["toadsandfrogs:toads=99999"] == "refused"
