"""GamesCrafters' web API, which their page GamesmanUni uses: /, /<game>/, /<game>/<variant>/ and positions.

The fields are those of their Universal Web API. `winby`, `drawLevel` and `drawRemoteness` are there if a database knows
them. Games of chance and games for several players are not listed, because the API cannot describe them. The id of a
variant is its options, in characters that every link may have; `regular` if all are the defaults. `gui` is "v1" if
their page draws the board (autogui.py), else "v0": positions and moves are text. An infinite remoteness is -200, and so
is that of a puzzle that can no longer be solved.

If a turn takes several steps (autogui.py), the picked places may follow a position, as in `X.O/.X./...;1.4`. If a game
does not say whose turn it is, the player stands before its positions, as in `2_7`.
"""

import re
from random import Random
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

from pydantic import BaseModel

from retrograde.cli.commands.query import read_reachable
from retrograde.cli.web import autogui
from retrograde.cli.web.autogui import AutoguiStyle, Button, Places, autogui_style, buttons, touched_places
from retrograde.cli.web.library import Library
from retrograde.cli.web.shelf import DatabaseFacts, installed_games
from retrograde.cli.web.view import summary, title
from retrograde.games.catalog import named_game
from retrograde.games.contract import naming
from retrograde.games.contract.choice import Choice
from retrograde.games.contract.game import LOSE, Game, PositionError, RetrogradeError, Value
from retrograde.solver.play.answer import MoveAnswer, answer_of, name_of
from retrograde.solver.play.match import any_position
from retrograde.solver.play.solution import Solution

REGULAR = "regular"
INFINITE = -200
GUI, NO_GUI = "v1", "v0"
OTHER_BOARDS = "-boards"
"""The suffix of the id of a game whose name makes their page draw a board that is not ours."""
PICKED = re.compile(r";(\d+(?:\.\d+)*)$")
UNFIT = re.compile("[%#&+:]")
"""Characters of positions that must be escaped: their page puts positions into addresses without escaping."""

ValueName = Literal["win", "tie", "draw", "lose"]
Players = Literal["onePlayer", "twoPlayer"]


class GameEntry(BaseModel):
    """A game in the list of games."""

    id: str
    name: str
    type: Players = "twoPlayer"
    gui: str = NO_GUI


class VariantEntry(BaseModel):
    """A variant in the list of a game's variants."""

    id: str
    name: str
    gui: str = NO_GUI


class UniGame(BaseModel):
    """A game and its variants."""

    id: str
    name: str
    allowCustomVariantCreation: bool = False  # noqa: N815  # these names are the API's
    supportsWinBy: bool = False  # noqa: N815
    variants: list[VariantEntry]


class UniVariant(BaseModel):
    """A variant and its start; for a game without a start, an example."""

    id: str
    name: str
    gui: str = NO_GUI
    startPosition: str  # noqa: N815
    autoguiStartPosition: str  # noqa: N815
    imageAutoGUIData: dict[str, Any] | None = None  # noqa: N815


class UniMeasures(BaseModel):
    """What another metric says of a position; fields without a value are left out."""

    winby: int | None = None
    drawLevel: int | None = None  # noqa: N815
    drawRemoteness: int | None = None  # noqa: N815


class UniMove(UniMeasures):
    """A move, or a step of one, and where it leads."""

    move: str
    autoguiMove: str  # noqa: N815
    moveValue: ValueName  # noqa: N815
    deltaRemoteness: int  # noqa: N815
    position: str
    autoguiPosition: str  # noqa: N815
    positionValue: ValueName  # noqa: N815
    remoteness: int


class UniPosition(UniMeasures):
    """A position and its moves, best first."""

    position: str
    autoguiPosition: str  # noqa: N815
    positionValue: ValueName  # noqa: N815
    remoteness: int
    moves: list[UniMove]


class UniInstructions(BaseModel):
    """How a game is played, as Markdown."""

    instructions: str


class Shown(NamedTuple):
    """A solution, how their page draws its game, and the sign of the first player: what every position needs."""

    solution: Solution
    game: Game
    look: AutoguiStyle | None
    first: str

    @classmethod
    def of(cls, solution: Solution) -> "Shown":
        """Return these facts for a solution."""
        game = solution.game
        first = next(iter(game.words), "") if solution.start is None else game.draw_turn(solution.start)
        return cls(solution, game, autogui_style(game), first)

    def turn_at(self, position: int, otherwise: int) -> int:
        """Return whose turn it is, 1 for the player who moves first, or 2; *otherwise* if the game does not say."""
        sign = self.game.draw_turn(position)
        if not sign:
            return otherwise
        return 1 if sign == self.first else 2

    def strings(self, spot: "Spot") -> tuple[str, str]:
        """Return a position as escaped text, with turn and picked places if needed, and as their page draws it."""
        drawn = autogui.position_string(self.game, self.look, *spot)
        if self.look and self.look.by_heart:
            return drawn, drawn
        text = UNFIT.sub(lambda sign: f"%{ord(sign[0]):02X}", self.game.write(spot.position))
        if not self.game.draw_turn(spot.position):
            text = f"{spot.turn}_{text}"
        return text + (";" + ".".join(map(str, spot.picked)) if spot.picked else ""), drawn


class Spot(NamedTuple):
    """A position, whose turn it is (1 or 2), and the picked places of the board."""

    position: int
    turn: int
    picked: Places = ()


# Games and variants


def games(library: Library) -> list[GameEntry]:
    """Return the list of games."""
    found: dict[str, GameEntry] = {}
    for facts in filter(is_describable, library.all()):
        name, gui = game_id(library, facts), gui_of(library, facts)
        game = trusted_game(library, facts)
        players: Players = "onePlayer" if game and game.players == 1 else "twoPlayer"
        entry = found.setdefault(name, GameEntry(id=name, name=game_title(name), type=players, gui=gui))
        entry.gui = max(entry.gui, gui)  # GUI if any of its variants has a board: "v1" is greater than "v0"
    return [found[name] for name in sorted(found)]


def game(library: Library, name: str) -> UniGame | None:
    """Return the game with an id, and its variants; None if the server has none. *name* is the id: see `game_id`."""
    variants = [
        facts for facts in library.of_game(game_name(name)) if is_describable(facts) and game_id(library, facts) == name
    ]
    if not variants:
        return None
    entries = [
        VariantEntry(id=variant_id(facts.variant), name=variant_name(library, facts), gui=gui_of(library, facts))
        for facts in variants
    ]
    win_by = all(facts.metric == "score" for facts in variants)
    return UniGame(id=name, name=game_title(name), supportsWinBy=win_by, variants=entries)


def is_describable(facts: DatabaseFacts) -> bool:
    """Return whether their API can describe a variant: it cannot if there are chance or several players."""
    return facts.metric not in ("expectation", "utilities")


def variant(solution: Solution) -> UniVariant:
    """Return the facts about a variant."""
    name = solution.variant
    shown, position = Shown.of(solution), solution.start_or_example
    look, (start, drawn) = shown.look, shown.strings(Spot(position, shown.turn_at(position, 1)))
    return UniVariant(
        id=variant_id(name),
        name=short_title(solution.game),
        gui=GUI if look else NO_GUI,
        startPosition=start,
        autoguiStartPosition=drawn,
        imageAutoGUIData=look.data if look else None,
    )


def trusted_game(library: Library, facts: DatabaseFacts) -> Game | None:
    """Return the game of a variant if its rules are installed or were named on the command line, else None."""
    if facts.variant in library.games:
        return library.games[facts.variant]
    try:
        return named_game(facts.variant) if facts.game in installed_games() else None
    except RetrogradeError:  # the game has other options today than when the database was made
        return None


def gui_of(library: Library, facts: DatabaseFacts) -> str:
    """Return whether their page draws the board of a variant; "v0" if its rules are not read."""
    game = trusted_game(library, facts)
    return GUI if game and autogui_style(game) else NO_GUI


def game_id(library: Library, facts: DatabaseFacts) -> str:
    """Return the id of a game: its name, unless their page draws another board under that name."""
    if facts.game not in autogui.KNOWN_BY_NAME:
        return facts.game
    game = trusted_game(library, facts)
    look = autogui_style(game) if game else None
    return facts.game if look and look.by_heart else f"{facts.game}{OTHER_BOARDS}"


def game_name(name: str) -> str:
    """Return the name of the game that an id stands for."""
    short = name.removesuffix(OTHER_BOARDS)
    return short if short in autogui.KNOWN_BY_NAME else name


def game_title(name: str) -> str:
    """Return the name for people of the game with an id."""
    short = game_name(name)
    return title(short) if short == name else f"{title(short)}, other boards"


def variant_text(name: str, options: str) -> str:
    """Return the text of a variant from the ids of the game and of the variant (see `variant_id`). Options may also be
    written as in commands.

    >>> variant_text("connect4", "width-4_height-4"), variant_text("connect4", "width=4,height=4")
    ('connect4:width=4,height=4', 'connect4:width=4,height=4')
    """
    name = game_name(name)
    if options == REGULAR:
        return name
    if "=" not in options:
        options = options.replace("-", "=").replace("_", ",")
        # The greatest number that chr() takes is 0x10FFFF.
        options = re.sub("~([0-9a-f]+)~", lambda code: chr(min(int(code[1], 16), 0x10FFFF)), options)
    return f"{name}:{options}"


def variant_id(text: str) -> str:
    """Return the id of a variant within its game.

    >>> variant_id("connect4:width=4,height=4"), variant_id("mutorere"), variant_id("tentozero:steps=1+3")
    ('width-4_height-4', 'regular', 'steps-1~2b~3')
    """
    options = re.sub(r"[^A-Za-z0-9.=,]", lambda sign: f"~{ord(sign[0]):x}~", text.partition(":")[2])
    return options.replace("=", "-").replace(",", "_") or REGULAR


def variant_name(library: Library, facts: DatabaseFacts) -> str:
    """Return the name of a variant for people; its options if its rules are not read."""
    game = trusted_game(library, facts)
    return short_title(game) if game else facts.variant.partition(":")[2] or REGULAR.capitalize()


def short_title(game: Game) -> str:
    """Return the variant's name without the game's name, which their page adds: `4 × 4`."""
    rest = naming.variant_title(game).removeprefix(naming.title(type(game))).strip(" ,")
    return rest or REGULAR.capitalize()


def instructions(solution: Solution) -> UniInstructions:
    """Return the rules of a game."""
    return UniInstructions(instructions=f"# {title(solution.game.name)}\n\n{summary(solution.game)}\n")


# Positions as text


def read(solution: Solution, text: str) -> Spot:
    """Return the position that a text stands for, or a random one; raise PositionError or NotInDatabase if there is
    none."""
    shown = Shown.of(solution)
    if text == "random":
        position = any_position(solution, Random())
        return Spot(position, shown.turn_at(position, 1))
    if shown.look and shown.look.by_heart and autogui.BY_HEART.fullmatch(text):
        position = read_reachable(solution, autogui.text_by_heart(text))
        return Spot(position, shown.turn_at(position, 1))
    picked: Places = ()
    if steps := PICKED.search(text):
        picked = tuple(sorted({int(number[:6]) for number in steps[1].split(".")}))  # [:6]: no huge numbers
        text = text[: steps.start()]
    turn = 1  # where the text of a position does not say who is to move, 1_ or 2_ before it does
    if re.match("[12]_", text) and not shown.game.draw_turn(solution.start_or_example):
        turn, text = int(text[0]), text[2:]
    try:
        position = read_reachable(solution, text)
    except PositionError:
        if unquote(text) == text:
            raise
        position = read_reachable(solution, unquote(text))
    return Spot(position, shown.turn_at(position, turn), picked)


# Positions


def show_position(solution: Solution, spot: Spot) -> UniPosition:
    """Return a position and its moves; raise PositionError if no move touches the picked places."""
    shown, answer = Shown.of(solution), answer_of(solution, spot.position, with_line=False)
    look, choices = shown.look, answer.choices
    size = look.places if look else 0  # without a board, no move touches places
    found = buttons(touched_places(shown.game, spot.position, choices, size), spot.picked)
    ranks = {choice.move: rank for rank, choice in enumerate(choices)}
    found.sort(key=lambda button: ranks[button.choices[0].move])
    value, remoteness = answer.bounds.outcome
    if spot.picked:
        if not found:
            raise PositionError(f"no move touches the places {'.'.join(map(str, spot.picked))}")
        best = answer.moves[ranks[found[0].choices[0].move]]
        value, remoteness = best.choice.brings, best.plies
    # The best button of each value, from which the API counts the others' distances.
    bests: dict[Value, Choice] = {}
    for button in found:
        bests.setdefault(button.choices[0].brings, button.choices[0])
    text, drawn = shown.strings(spot)
    return UniPosition(
        position=text,
        autoguiPosition=drawn,
        positionValue=name_of(value),
        remoteness=api_remoteness(shown.game, value, remoteness),
        **({} if spot.picked else measures(solution.metric, answer.measures)),
        moves=[
            move(shown, spot, button, answer.moves[ranks[button.choices[0].move]], bests[button.choices[0].brings])
            for button in found
        ],
    )


def move(shown: Shown, spot: Spot, button: Button, first: MoveAnswer, best: Choice) -> UniMove:
    """Return what a *button* does: a whole move if it has one choice left, else a step, which picks places.

    *first* is the button's best move, *best* the best choice of all buttons with the same value. `deltaRemoteness` is
    the difference of their remotenesses. As in their API, the value of a step is for the same player, and its name
    begins with a tilde.
    """
    choice, look = first.choice, shown.look
    if len(button.choices) == 1:
        next_turn = spot.turn if choice.again else 3 - spot.turn  # the players are 1 and 2
        after = Spot(choice.position, shown.turn_at(choice.position, next_turn))
        name, value, remoteness = autogui.listed_name(choice.name), choice.value, choice.remoteness
    else:
        after = spot._replace(picked=button.picked)
        name = "~" + "-".join(look.names[place] for place in button.places) if look else ""
        value, remoteness = choice.brings, first.plies
    text, drawn = shown.strings(after)
    return UniMove(
        move=name,
        autoguiMove=autogui.move_string(look, button.places, name, spot.turn),
        moveValue=name_of(choice.brings),
        deltaRemoteness=abs((choice.remoteness or 0) - (best.remoteness or 0)),
        position=text,
        autoguiPosition=drawn,
        positionValue=name_of(value),
        remoteness=api_remoteness(shown.game, value, remoteness),
        **(measures(shown.solution.metric, first.measures) if len(button.choices) == 1 else {}),
    )


def measures(metric: str, worth: dict[str, Any]) -> dict[str, int | None]:
    """Return what a metric says of a position, as far as their API has fields for it."""
    if metric == "score":
        return {"winby": worth["score"]}
    if metric == "drawlevel":
        return {"drawLevel": worth["drawlevel"], "drawRemoteness": worth["drawremoteness"]}
    return {}


def api_remoteness(game: Game, value: Value, remoteness: int | None) -> int:
    """Return a remoteness in the form of their API."""
    return INFINITE if remoteness is None or (game.players == 1 and value == LOSE) else remoteness
