"""Compares rules that must agree: each with its inverse, or with itself in another form.

Options and their text, positions and their text, moves and their names, positions and their images, children and
parents, positions and slots, interpreted and compiled rules. Each check concerns one position of a survey and raises a
Fault at the first thing that is wrong.
"""

import re
import time
from collections.abc import Callable
from dataclasses import asdict
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from retrograde.games import catalog
from retrograde.games.contract.game import MOST_IMAGES, UNDECIDED, Game, Traits, Value, VariantError, is_none, mover
from retrograde.games.kinds.placed import Placed
from retrograde.solver.conformance.survey import Survey, expect_again, limited
from retrograde.solver.rules.examine import Fault, checked_position, key_of
from retrograde.solver.rules.running_kernels import trouble_array

if TYPE_CHECKING:
    from retrograde.solver.rules.expansion import Expander

SAMPLE = 8
"""Images of a position that are checked, at most."""
ALL_SLOTS = 4000
"""In a numbering with at most this many slots, all are checked."""
NONSENSE = "?!"
IN_NO_FILE = re.compile(r"[/\\:*?\"<>|@\x00-\x1f\x7f]")
"""Characters that file names cannot have on every system, or that separate a variant's name from options and metric."""
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
    """Check that a game's name can be a file name on every system, and cannot be confused with a variant's."""
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
    survey.at("write", position)
    text = game.write(position)
    if not isinstance(text, str) or text != text.strip() or len(text.splitlines()) != 1:
        raise Fault(f"gives {text!r}; it must give one line of text")
    survey.at("read", position)
    try:
        again = game.read(text)
    except Exception as error:
        raise Fault(f"raises {type(error).__name__} for what write() gives, {text!r}: {error}") from error
    if again != position:
        raise Fault(f"gives {again} for {text!r}, which write() gives for {position}; each must undo the other")
    if survey.checks["read"] == 1:
        expect_refusal(lambda: game.read(NONSENSE))
    survey.at("show", position)
    if not isinstance(picture := game.show(position), str):
        raise Fault(f"gives {picture!r}; it must give lines of text")


def check_moves(survey: Survey, position: int) -> None:
    """Check that move() is the inverse of move_name(), and that it refuses nonsense."""
    game = survey.game
    names: dict[str, int] = {}
    for move in survey.answers[position].moves:
        survey.at("move_name", position)
        name = game.move_name(position, move)
        if not isinstance(name, str) or name.split() != [name]:
            raise Fault(f"gives {name!r} for the move {move}; it must give one word")
        if name in names:
            raise Fault(f"gives {name!r} for the moves {names[name]} and {move}; names must differ")
        names[name] = move
    first = not survey.checks["move"]
    for name, move in names.items():
        survey.at("move", position)
        try:
            again = game.move(position, name)
        except Exception as error:
            raise Fault(f"raises {type(error).__name__} for what move_name() gives, {name!r}: {error}") from error
        if again != move:
            raise Fault(f"gives {again} for {name!r}, which move_name() gives for {move}; each must undo the other")
    if first and names:
        expect_refusal(lambda: game.move(position, NONSENSE))


def expect_refusal(read: Callable[[], Any]) -> None:
    """Raise a Fault unless *read* raises a ValueError for nonsense."""
    try:
        got = read()
    except ValueError:
        return
    except Exception as error:
        raise Fault(f"raises {type(error).__name__} for {NONSENSE!r}; let it raise ValueError") from error
    raise Fault(f"gives {got!r} for {NONSENSE!r}; let it raise ValueError")


# Symmetry


def check_images(survey: Survey, position: int) -> None:
    """Check that the rules say the same about a position and its images."""
    survey.at("images", position)
    images = images_of(survey, position)
    expect_again(images, images_of(survey, position))
    answers, canonical = survey.answers[position], survey.canonical(position)
    children = set(canonical_children(survey, position))
    # The position seeds the choice of images, so that a fault can be reproduced.
    for image in Random(key_of(position)).sample(sorted(images), min(SAMPLE, len(images))):
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
    """Return a position and its images."""
    given = limited(survey.game.images(position))
    images = frozenset([position, *(checked_position(survey.game, image, "it") for image in given)])
    if len(images) > MOST_IMAGES:
        raise Fault(f"yields {len(images):,} positions; no more than {MOST_IMAGES:,} can be equal by symmetry")
    return images


def canonical_children(survey: Survey, position: int) -> list[int]:
    """Return the canonical children of any position."""
    if survey.primitive(position) != UNDECIDED:
        return []
    moves = limited(survey.game.generate_moves(position))
    return [
        survey.canonical(checked_position(survey.game, survey.game.do_move(position, move), "do_move"))
        for move in moves
    ]


# Children and parents


def check_parents(survey: Survey, position: int) -> None:
    """Check that parents() is the inverse of do_move(), between canonical positions of a tier, as the solver uses
    it."""
    position = survey.canonical(position)
    for child in canonical_children(survey, position):
        if survey.tier(child) == survey.tier(position):
            survey.at("parents", child)
            parents = canonical_parents(survey, child)
            expect_again(parents, canonical_parents(survey, child))
            if position not in parents:
                raise Fault(f"does not yield {text_of(survey.game, position)}, from which a move leads here")
            # No parent may be missing, and none may be too many.
            for parent in parents:
                is_visited = parent in survey.answers and survey.primitive(parent) == UNDECIDED
                if is_visited and child not in canonical_children(survey, parent):
                    raise Fault(f"yields {text_of(survey.game, parent)}, from which no move leads here")


def canonical_parents(survey: Survey, position: int) -> list[int]:
    """Return the distinct canonical parents of a position, from parents(), that lie in its tier."""
    given = limited(survey.game.parents(position))
    parents = dict.fromkeys(survey.canonical(checked_position(survey.game, parent, "it")) for parent in given)
    in_tier = [parent for parent in parents if survey.tier(parent) == survey.tier(position)]
    if Traits.of(survey.game).is_numbered:
        for parent in in_tier:
            slot = survey.game.index(parent)
            if survey.game.unindex(survey.tier(parent), slot) != parent:
                raise Fault(f"yields {text_of(survey.game, parent)}, which has no slot")
    return in_tier


# Numberings: positions and slots


def check_slots(survey: Survey, position: int) -> None:
    """Check that unindex() is the inverse of index(), for a position and its images, and that the family agrees."""
    game, numbering, tier = survey.game, survey.numbering, survey.tier(position)
    row, canonical = numbering.row(tier), survey.canonical(position)
    survey.at("tiers", position)
    if row < 0:
        raise Fault(f"do not have its tier, {tier}; list all tiers that play may lead to")
    survey.at("index", position)
    slot = game.index(position)
    check_slot(survey, position, canonical, slot)
    survey.at("index", position)
    images = sorted(images_of(survey, position))
    for image in Random(key_of(position)).sample(images, min(SAMPLE, len(images))):
        if survey.tier(image) == tier and (other := game.index(image)) != slot:
            raise Fault(f"gives {slot}, and {other} for {text_of(game, image)}, which is the same by symmetry")
    survey.at("multiplicity", position)
    if (given := game.multiplicity(position)) != (equal := len({position, *images})):
        raise Fault(f"gives {given}, and with its images there are {equal}")
    survey.at("family", position)
    family = game.family
    answers = family.tier(position), family.index(position), family.unindex(tier, slot), family.primitive(position)
    same = type(family) is type(game) and family.family == family
    if not same or answers != (tier, slot, canonical, survey.primitive(position)):
        raise Fault("is a game in which positions do not mean the same; leave it out, or mend it")


def check_slot(survey: Survey, position: int, canonical: int, slot: int) -> None:
    """Check that the slot of a position is below its tier's size, and that unindex() returns the canonical position."""
    tier = survey.tier(position)
    if not 0 <= slot < (size := survey.numbering.size(survey.numbering.row(tier))):
        raise Fault(f"gives {slot}, and size({tier}) is {size}")
    survey.at("unindex", position)
    if (again := survey.game.unindex(tier, slot)) != canonical:
        what = f"gives {again} for its slot, {slot} of tier {tier}"
        raise Fault(f"{what}; it must give the canonical position, {canonical}")


def check_elsewhere(survey: Survey) -> None:
    """Check that each tier said to be in another variant's database is there."""
    game, holders = survey.game, dict[str, set[int]]()
    survey.at("elsewhere", None)
    for tier in sorted(set(game.tiers)):  # type: ignore[attr-defined]  # a numbered game has tiers
        if apart := game.elsewhere(tier):
            if apart not in holders:
                holder = catalog.kin(game, apart)
                holders[apart] = set(catalog.own_tiers(holder)) if holder.family == game.family else set()
            if tier not in holders[apart]:
                raise Fault(f"gives {apart!r} for tier {tier}, which is not in the database of that variant either")


def check_numbering(survey: Survey, deadline: float) -> None:
    """Check all slots of a small numbering. For placements, check that slots and images cover all that is declared."""
    game, numbering = survey.game, survey.numbering
    if numbering.slots > ALL_SLOTS:
        return
    positions = 0
    for number in range(numbering.slots):
        survey.at("unindex", None)
        position = numbering.position_at(game, *numbering.locate(number))
        positions += len({position, *images_of(survey, position)}) if not is_none(position) else 0
        if time.monotonic() > deadline:
            return
    if isinstance(game, Placed):
        survey.at("placements", None)
        if positions != (declared := game.placements.count):
            raise Fault(f"are {declared:,}, and the positions of all slots and their images {positions:,}")


# Interpreted and compiled


def check_compiled(survey: Survey, expander: "Expander", tier: int, positions: list[int]) -> None:
    """Compare compiled and interpreted rules at canonical positions of a tier."""
    game = survey.game
    traits = Traits.of(game)
    survey.at("compiled", None)
    symmetric = traits.has_images
    if traits.is_numbered or traits.width:
        check_slots_compiled(survey, expander, tier, positions)
    if traits.width:
        check_tuples_compiled(survey, expander, tier, positions)
        return
    block = expander.expand(tier, np.array(positions, np.int64), sizes=symmetric)
    for i, (position, primitive, children) in enumerate(zip(positions, *block.by_position(), strict=True)):
        survey.at("compiled", position)
        expect_same("primitive() gives", survey.primitive(position), primitive)
        expect_same("moves lead to", canonical_children(survey, position), children)
        if symmetric:
            expect_same("the positions symmetric to it are", len(images_of(survey, position)), int(block.sizes[i]))
    if traits.has_parents:
        block = expander.expand_parents(tier, np.array(positions, np.int64))
        for i, position in enumerate(positions):
            survey.at("compiled", position)
            seen = block.children[:, i]
            expect_same("parents() gives", canonical_parents(survey, position), seen[seen >= 0].tolist())


def check_slots_compiled(survey: Survey, expander: "Expander", tier: int, positions: list[int]) -> None:
    """Compare compiled and interpreted index() and unindex()."""
    from retrograde.solver.methods.numbered.kernels import to_slots_and_back
    from retrograde.solver.rules.positions import of_positions

    numbered = [position for position in positions if survey.game.index(position) >= 0]
    if not numbered:  # in games with chance, positions may lack a slot
        return
    array, again = np.array(numbered, np.int64), of_positions(survey.game, len(numbered))
    slots = np.empty(len(numbered), np.int64)
    to_slots_and_back(expander.rules, tier, array, slots, again)
    for position, slot, back in zip(numbered, slots.tolist(), again.tolist(), strict=True):
        survey.at("compiled", position)
        expect_same("index() gives", survey.game.index(position), slot)
        back = tuple(back) if isinstance(position, tuple) else back
        expect_same("unindex() gives", survey.game.unindex(tier, slot), back)


def check_tuples_compiled(survey: Survey, expander: "Expander", tier: int, positions: list[Any]) -> None:
    """Compare compiled and interpreted rules of a game whose positions are tuples of ints."""
    from retrograde.solver.methods.numbered.kernels import children_of, parents_at
    from retrograde.solver.rules.expansion import compiling
    from retrograde.solver.rules.kernels import gather_images
    from retrograde.solver.rules.positions import of_positions

    game, rules = survey.game, expander.game
    for position in positions:
        survey.at("compiled", position)
        children = canonical_children(survey, position)
        found = of_positions(game, len(children))
        with compiling(game, trouble_array(game)):
            value, count = children_of(rules, position, found)
            expect_same("primitive() gives", survey.primitive(position), value)
            expect_same("moves lead to", children, tuples_in(found, count))
            if Traits.of(game).has_images:
                size = gather_images(rules, position, of_positions(game, MOST_IMAGES))
                expect_same("the positions symmetric to it are", len(images_of(survey, position)), size)
            if Traits.of(game).has_parents:
                parents = canonical_parents(survey, position)
                found = of_positions(game, len(parents))
                count = parents_at(rules, tier, position, found)
                expect_same("parents() gives", parents, tuples_in(found, count))


def tuples_in(rows: "np.ndarray[Any, Any]", count: int) -> list[tuple[int, ...]]:
    """Return rows as tuples. If their number is not *count*, return something that equals no list of tuples."""
    return [*map(tuple, rows.tolist())] if count == len(rows) else [()] * count


def expect_same(what: str, interpreted: object, compiled: object) -> None:
    """Raise a Fault unless rules answer the same interpreted and compiled."""
    if interpreted != compiled:
        raise Fault(f"{what} {interpreted} interpreted, and {compiled} compiled; do ints exceed 64 bits on the way?")
