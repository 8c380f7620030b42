"""Compares rules that must agree: each with its inverse, or with itself in another form.

The text of a Fault follows the rule that `begin_check` recorded last, as in "images at 5: yields 7".
"""

import re
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from random import Random
from typing import Any

from retrograde.games import catalog
from retrograde.games.contract.game import MOST_IMAGES, UNDECIDED, Game, Traits, Value, VariantError, mover
from retrograde.solver.conformance.survey import Survey, expect_again, list_answers
from retrograde.solver.rules.examine import Fault, checked_position, key_of

SAMPLE = 8
"""The most images of a position that are checked."""
NONSENSE = "?!"
IN_NO_FILE = re.compile(r"[/\\:*?\"<>|@\x00-\x1f\x7f]")
"""Characters that some systems forbid in file names, or that separate a variant's name from options and metric."""
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Names of devices on Windows, whatever follows a dot."""


def text_of(game: Game, position: int) -> str:
    """Return a position's text on one line, or its number if the rules cannot write it."""
    try:
        return " ".join(str(game.write(position)).split())
    except (Exception, SystemExit):  # `check_text` reports what is wrong with write()
        return str(position)


# Texts


def check_name(game: Game) -> None:
    """Check that a game's name can name a file on every system, and cannot be confused with a variant's."""
    if IN_NO_FILE.search(game.name) or re.search(r"[,=]|^[-.]|[. ]$", game.name) or RESERVED.fullmatch(game.name):
        raise Fault(f"is {game.name!r}, which files cannot be named after; rename the rules: letters, digits, - and _")


def check_options(game: Game) -> None:
    """Check that the text of a game's options, defaults included, gives the same game."""
    options = {name: catalog.option_text(getattr(game, name)) for name in asdict(game)}  # type: ignore[call-overload]
    text = ",".join(f"{name}={value}" for name, value in options.items())
    signs = 'text without spaces, commas and the signs / \\ : * ? " < > | @, which file names do not have everywhere'
    advice = f"options must be ints, tuples of ints, yes or no, or {signs}"
    if re.search(r"\s", text) or any(IN_NO_FILE.search(value) for value in options.values()):
        raise Fault(f"have the text {text!r}; {advice}")
    try:
        again = catalog.make(type(game), text)
    except VariantError as error:
        raise Fault(f"have the text {text!r}, which cannot be read: {error}; {advice}") from error
    if again != game:
        raise Fault(f"have the text {text!r}, which is read as {again!r}; {advice}")


def check_text(survey: Survey, position: int) -> None:
    """Check that read() is the inverse of write(), and that it refuses nonsense."""
    game = survey.game
    survey.begin_check("write", position)
    text = game.write(position)
    if not isinstance(text, str) or text != text.strip() or len(text.splitlines()) != 1:
        raise Fault(f"gives {text!r}; it must give one line of text")
    survey.begin_check("read", position)
    expect_inverse(game.read, text, position, "write")
    if survey.checks["read"] == 1:
        expect_refusal(game.read)
    survey.begin_check("show", position)
    if not isinstance(picture := game.show(position), str):
        raise Fault(f"gives {picture!r}; it must give lines of text")


def check_moves(survey: Survey, position: int) -> None:
    """Check that move() is the inverse of move_name(), and that it refuses nonsense."""
    game = survey.game
    names: dict[str, int] = {}
    for move in survey.answers[position].moves:
        survey.begin_check("move_name", position)
        name = game.move_name(position, move)
        if not isinstance(name, str) or name.split() != [name]:
            raise Fault(f"gives {name!r} for the move {move}; it must give one word")
        if name in names:
            raise Fault(f"gives {name!r} for the moves {names[name]} and {move}; names must differ")
        names[name] = move
    is_first_call = not survey.checks["move"]
    for name, move in names.items():
        survey.begin_check("move", position)
        expect_inverse(partial(game.move, position), name, move, "move_name")
    if is_first_call and names:
        expect_refusal(partial(game.move, position))


def expect_inverse(read: Callable[[str], Any], text: str, number: int, writer: str) -> None:
    """Raise a Fault unless *read* returns *number* for *text*, which the rule *writer* gave for it."""
    try:
        again = read(text)
    except Exception as error:
        raise Fault(f"raises {type(error).__name__} for what {writer}() gives, {text!r}: {error}") from error
    if again != number:
        raise Fault(f"gives {again} for {text!r}, which {writer}() gives for {number}; each must undo the other")


def expect_refusal(read: Callable[[str], Any]) -> None:
    """Raise a Fault unless *read* raises a ValueError for nonsense."""
    try:
        got = read(NONSENSE)
    except ValueError:
        return
    except Exception as error:
        raise Fault(f"raises {type(error).__name__} for {NONSENSE!r}; let it raise ValueError") from error
    raise Fault(f"gives {got!r} for {NONSENSE!r}; let it raise ValueError")


# Symmetry


def check_images(survey: Survey, position: int) -> None:
    """Check that the rules say the same about a position and its images."""
    survey.begin_check("images", position)
    images = images_of(survey, position)
    expect_again(images, images_of(survey, position))
    answers, canonical = survey.answers[position], survey.canonical(position)
    children = set(canonical_children(survey, position))
    for image in some_images(survey, position):
        name = text_of(survey.game, image)
        if survey.canonical(image) != canonical or images_of(survey, image) != images:
            raise Fault(f"yields {name}, whose images are others; yield of each position all symmetric ones")
        if (value := Value(survey.primitive(image))) != answers.value:
            raise Fault(
                f"yields {name}, which is {value.name}, and this is {answers.value.name}; they must be the same"
            )
        if mover(survey.game, image) != mover(survey.game, position):
            raise Fault(f"yields {name}, where another player is to move; let symmetric positions have the same turn()")
        if set(canonical_children(survey, image)) != children:
            raise Fault(f"yields {name}, from which moves lead elsewhere; symmetric positions have symmetric moves")
    if any(survey.tier(child) < survey.tier(canonical) for child in children):
        raise Fault("leads back to a lower tier by a move and its symmetries; tier() must not fall that way either")


def images_of(survey: Survey, position: int) -> frozenset[int]:
    """Return a position and its images; raise a Fault if there are more than MOST_IMAGES."""
    given = list_answers(survey.game.images(position))
    images = frozenset([position, *(checked_position(survey.game, image, "it") for image in given)])
    if len(images) > MOST_IMAGES:
        raise Fault(f"yields {len(images):,} positions; no more than {MOST_IMAGES:,} can be equal by symmetry")
    return images


def some_images(survey: Survey, position: int) -> list[int]:
    """Return up to SAMPLE of a position and its images, the same at each call."""
    images = sorted(images_of(survey, position))
    return Random(key_of(position)).sample(images, min(SAMPLE, len(images)))  # the same ones each time


def canonical_children(survey: Survey, position: int) -> list[int]:
    """Return the canonical child of each move; raise a Fault if one is no position."""
    if survey.primitive(position) != UNDECIDED:
        return []
    moves = list_answers(survey.game.generate_moves(position))
    return [
        survey.canonical(checked_position(survey.game, survey.game.do_move(position, move), "do_move"))
        for move in moves
    ]


# Children and parents


def check_parents(survey: Survey, position: int) -> None:
    """Check that parents() is the inverse of do_move() between canonical positions of a tier."""
    position = survey.canonical(position)
    for child in canonical_children(survey, position):
        if survey.tier(child) == survey.tier(position):
            survey.begin_check("parents", child)
            given = list_answers(survey.game.parents(child))
            expect_again(given, list_answers(survey.game.parents(child)))
            parents = canonical_parents(survey, child, given)
            if position not in parents:
                raise Fault(f"does not yield {text_of(survey.game, position)}, from which a move leads here")
            # No parent may be missing, and none may be too many.
            for parent in parents:
                is_visited = parent in survey.answers and survey.primitive(parent) == UNDECIDED
                if is_visited and child not in canonical_children(survey, parent):
                    raise Fault(f"yields {text_of(survey.game, parent)}, from which no move leads here")


def canonical_parents(survey: Survey, position: int, given: list[int]) -> list[int]:
    """Return the distinct canonical parents of a position that lie in its tier; raise a Fault if one has no slot.

    *given* are the parents by the rules, which need not be canonical.
    """
    parents = dict.fromkeys(survey.canonical(checked_position(survey.game, parent, "it")) for parent in given)
    in_tier = [parent for parent in parents if survey.tier(parent) == survey.tier(position)]
    if Traits.of(survey.game).is_numbered:
        for parent in in_tier:
            if parent in survey.with_slot:
                continue
            slot = survey.game.index(parent)
            if survey.game.unindex(survey.tier(parent), slot) != parent:
                raise Fault(f"yields {text_of(survey.game, parent)}, which has no slot")
            survey.with_slot.add(parent)
    return in_tier
