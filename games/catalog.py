"""The catalog turns the text of a variant into a game, and a game into its text.

A variant is a game's name and its options, where they are not the defaults: `connect4`, `connect4:width=5,height=4`, or
in the order of the options `connect4:5,4`. The name of a true-or-false option alone means yes: `tictactoe:misere`.
Several numbers are joined by `+`: `tentozero:steps=1+3`. The name is that of a built-in game, of a game that another
distribution offers under the entry point group `retrograde.games`, or the path of a rule module: `./mygame.py:size=4`.
"""

import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import MISSING, fields
from difflib import get_close_matches
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from shlex import quote
from types import ModuleType
from typing import Any, get_type_hints

from retrograde.games.contract.fields import fields_of
from retrograde.games.contract.game import Game, RuleError, VariantError, names_of_options
from retrograde.games.contract.live import with_source_if_known
from retrograde.games.contract.raised import error_text, line_in
from retrograde.games.contract.snapshot import (
    BESIDE,
    RULES,
    SourceLoader,
    has_source,
    is_outdated,
    module_of,
    neighbours,
    source_of,
)
from retrograde.games.identity.digest import is_digest_of, record_rules, rules_digest
from retrograde.games.identity.trusted import read_record, remember, trusted_files

NAMES = """
    allqueens amazons ataxx awari awariboards baghchal bearoff bishops breakthrough cantstop chess chomp chopsticks
    chungtoi chutes clobber col connect4 cram cube dao dobutsu dodgem domineering dotsandboxes draughts eightpuzzle
    euclid fairshares fanorona fibonaccinim foxandgeese foxandhounds game2048 gates gobblet grundy guarini hanoi
    hareandhounds hex hexapawn hypergammon isolation joust kalah kalahboards kaooa klotski konane kono lasker lgame
    lightsout linesofaction mnk morris mutorere neutron nim nim3 notakto nqueens octal onitama orderandchaos
    othello pegsolitaire pentago pig piglet pocketcube ponghauki popout quarto qubic quixo rivercrossing rushhour
    sim snake snort sokoban subtractsquare tactix tapatan teeko tentozero threemusketeers tictactoe tictactoe3
    tictactwo toadsandfrogs topspin tree ur winkers wythoff y yahtzee
"""
BUILT_IN = tuple(NAMES.split())
"""The games that come with the program: each is a module or a package of this folder."""
OURS = "retrograde.games."
"""The beginning of the names of the modules that come with the program."""
PACKAGES = (OURS, RULES)
"""The beginnings of the names of modules that are ours, or that come from rule files."""
ENTRY_POINTS = "retrograde.games"
ALWAYS_ASKED = (
    *("generate_moves", "do_move", "primitive", "tier", "canonical"),
    *("write", "read", "show", "move_name", "move"),
)
OPTIONS_FILE = "options_file"
"""The attribute of a game that has the path of the file from which its options were read."""
MOST_IN_SHORT = 60
CACHED_GAMES = 256
"""The size of the cache of games whose databases another database rests on."""

__all__ = [
    "BUILT_IN",
    "file_of_rules",
    "find_game",
    "game_class",
    "game_names",
    "games_named",
    "in_short",
    "is_digest_of",
    "is_own",
    "load_game",
    "named_game",
    "needs_no_path",
    "own_tiers",
    "record_key",
    "rests_on",
    "rules_digest",
    "source_file",
    "trust",
    "typed",
    "variant",
    "variant_of_same_rules",
    "variants_in",
]


def load_game(text: str) -> Game:
    """Return the game for the text of a variant; raise VariantError if there is none.

    >>> load_game("connect4:5,4")
    Connect4(width=5, height=4, connect=4)
    """
    cls, options = class_and_options(text.strip())
    if not (options.endswith(".txt") and cls.options_in):
        return make(cls, options)
    game = make(cls, options_in(cls, options))
    vars(game)[OPTIONS_FILE] = re.sub(r"^\w+=", "", options)
    return game


def options_in(cls: type[Game], path: str) -> str:
    """Return the options that a game takes from the text of a file; raise VariantError if it cannot."""
    path = re.sub(r"^\w+=", "", path)
    try:
        options = cls.options_in(Path(path).read_text("utf-8"))
        if any("=" not in part for part in options.split(",")[1:]):
            raise ValueError(f"an option has a comma, which separates options: {options!r:.60}")
        return options
    except (OSError, ValueError) as error:
        raise VariantError(f"cannot read {path!r}: {getattr(error, 'strerror', None) or error}") from error


def class_and_options(text: str) -> tuple[type[Game], str]:
    """Return the class of the game that the text of a variant names, and the text of its options.

    >>> class_and_options("connect4:4,4")
    (<class 'retrograde.games.connect4.Connect4'>, '4,4')
    """
    if text.partition(":")[0] not in BUILT_IN and (match := re.fullmatch(r"(.+?\.py)(?::(.*))?", text, re.DOTALL)):
        return game_class(match[1]), match[2] or ""
    name, _, options = text.partition(":")
    try:
        return installed_class(name), options
    except VariantError as error:
        for cls in classes_here(name):
            return cls, options
        for file, _ in trusted_files(name):
            own_rules = f"{file}:{options}" if options else f"{file}"
            raise VariantError(
                f"no game {name!r} is installed; for your rules of that name write {own_rules}"
            ) from error
        raise


def variants_in(text: str) -> list[str]:
    """Return the variants in a named set, in the order in which to solve them; [] if *text* names no set.

    >>> variants_in("chess:all=3")
    ['chess:KRK', 'chess:KQK', 'chess:KNK', 'chess:KBK', 'chess:KPK']
    """
    cls, options = class_and_options(text.strip())
    name = text.strip().removesuffix(options)
    return [name + one for one in members_of(cls, options)] if options else []


def members_of(cls: type[Game], options: str) -> list[str]:
    """Return the options of all variants in a named set; raise VariantError if the game refuses the text."""
    try:
        return cls.collection(options.strip())
    except ValueError as error:
        raise VariantError(f"{cls.name}: {without_long_words(str(error))}") from error


def named_game(text: str) -> Game:
    """Return the game of a variant by an installed game's name, never from a file. Raise VariantError for others."""
    name, _, options = text.partition(":")
    return make(installed_class(name), options)


def own_tiers(game: Any) -> list[int]:
    """Return the tiers in the game's own database, ascending; raise RuleError if one comes after a tier `elsewhere`."""
    tiers = sorted(set(game.tiers))
    own = [tier for tier in tiers if not game.elsewhere(tier)]
    if own != tiers[: len(own)]:
        raise RuleError(f"{variant(game)}: tier {own[-1]} is behind one that is elsewhere, and must be before")
    return own


def rests_on(game: Any) -> list[str]:
    """Return the variants whose databases hold tiers of this game, in the order in which to solve them.

    >>> rests_on(load_game("chess:KRBKR"))
    ['chess:KK', 'chess:KRK', 'chess:KBK', 'chess:KRKR', 'chess:KRKB', 'chess:KRBK']
    """
    return list(dict.fromkeys(filter(None, map(game.elsewhere, sorted(set(game.tiers), reverse=True)))))


def variant_of_same_rules(game: Game, text: str) -> Game:
    """Return the variant *text* of the game's rules. The name in *text* is ignored; only its options count.

    >>> variant_of_same_rules(load_game("chess:KRBKR"), "chess:KRK")
    Chess(material='KRK')
    """
    cls: Any = type(game)  # mypy thinks that classes cannot be hashed
    return cached_game(cls, text.partition(":")[2])


@lru_cache(CACHED_GAMES)
def cached_game(cls: Any, options: str) -> Game:
    """Return a game of a class with these options. It is cached, so that it keeps the tables it has made."""
    return make(cls, options)


def variant(game: Game) -> str:
    """Return the canonical text of a game: its name, and the options that are not the defaults.

    >>> variant(load_game("connect4:7,4"))
    'connect4:height=4'
    >>> variant(load_game("chess:knvkr"))  # an option without a default comes first, and without its name
    'chess:KRKN'
    """
    options = []
    for field in fields(game):  # type: ignore[arg-type]  # subclasses are dataclasses, the contract itself is none
        text = option_text(getattr(game, field.name))
        if field.default is MISSING:
            options.append(text)
        elif getattr(game, field.name) != field.default:
            options.append(f"{field.name}={text}")
    return ":".join([game.name, ",".join(options)] if options else [game.name])


def typed(game: Game) -> str:
    """Return a game's variant as people type it in a shell. If its rules or its options are from a file, name the file.

    >>> typed(load_game("connect4:7,4"))
    'connect4:height=4'
    """
    text, file = variant(game), Path(str(getattr(module_of(type(game)), "__file__", "")))
    if OPTIONS_FILE in vars(game):
        text = f"{game.name}:{vars(game)[OPTIONS_FILE]}"
    if not module_of(type(game)).__name__.startswith(RULES) or not file.is_file():
        return quote(text)
    is_here = file.resolve().parent == Path.cwd()
    return quote(f"{f'./{file.name}' if is_here else file.resolve()}{text.removeprefix(game.name)}")


def in_short(game: Game) -> str:
    """Return a game's variant for messages: with the path of the file that has its options, and no longer than a line.

    >>> in_short(load_game("connect4:7,4")), in_short(load_game(f"tree:max({'3+' * 99}3)"))
    ('connect4:height=4', 'tree:text=max(3+3+3+3+3+3+3+3+3+3+3+3+3+3+3+3+3+3+3+3+3+3+3…')
    """
    text = f"{game.name}:{vars(game)[OPTIONS_FILE]}" if OPTIONS_FILE in vars(game) else variant(game)
    return text if len(text) <= MOST_IN_SHORT else f"{text[: MOST_IN_SHORT - 1]}…"


def game_names() -> list[str]:
    """Return the names of all games that need no path."""
    from importlib.metadata import entry_points  # here because it takes 20 ms

    return sorted({*BUILT_IN, *(point.name for point in entry_points(group=ENTRY_POINTS))})


def needs_no_path(name: str) -> bool:
    """Return whether a game is built in, or offered by an installed distribution."""
    return name in BUILT_IN or name in game_names()  # in this order: the names of all others take 7 ms to find


def game_class(name: str) -> type[Game]:
    """Return the class of a game by its name or the path of its rule module."""
    return only_game(import_file(Path(name))) if name.endswith(".py") else installed_class(name)


def installed_class(name: str) -> type[Game]:
    """Return the class of a built-in game, or of one that another distribution offers."""
    if name in BUILT_IN:
        return only_game(importlib.import_module(f"retrograde.games.{name}"))
    from importlib.metadata import entry_points  # here because it takes 20 ms

    for point in entry_points(group=ENTRY_POINTS, name=name):
        cls = point.load()
        cls.name = name
        return cls
    similar = get_close_matches(name, game_names(), 1)
    advice = "list all games with: retrograde games, or give the path of a rule file, such as ./mygame.py"
    raise VariantError(f"no game {in_quotes(name)}; {f'did you mean {similar[0]}?' if similar else advice}")


def classes_here(name: str) -> Iterator[type[Game]]:
    """Yield the classes of a name that the running program defines.

    They are in its script or notebook, or else in a module `NAME.py` that it has imported.
    """
    main = sys.modules["__main__"]
    for value in list(vars(main).values()):
        if is_game_of(value, name) and value.__module__ == main.__name__:
            yield with_source_if_known(value)
            return
    values = list(vars(sys.modules.get(name, main)).values())
    yield from (value for value in values if is_game_of(value, name) and value.__module__ == name)


def is_game_of(value: Any, name: str) -> bool:
    """Return whether a value is the class of a game of this name."""
    return isinstance(value, type) and issubclass(value, Game) and value.__dict__.get("name") == name


def is_own(cls: type[Game]) -> bool:
    """Return whether a program of the user defines a class: it is neither installed nor in a rule file."""
    return not cls.__module__.startswith(PACKAGES) and not (needs_no_path(cls.name) and is_installed(cls))


def is_installed(cls: type[Game]) -> bool:
    """Return whether a class is the one of an installed game."""
    return installed_class(cls.name) is cls


def games_named(text: str) -> list[Game]:
    """Return the games that the text of a variant may mean: an installed one, and those that this program defines.

    Raise VariantError if there is none.
    """
    games: list[Game] = []
    problem: VariantError | None = None
    try:
        games.append(load_game(text))
    except VariantError as error:
        problem = error
    name, _, options = text.strip().partition(":")
    for cls in classes_here(name):
        try:
            games.append(make(cls, options))
        except VariantError as error:
            problem = problem or error
    if not games and problem:
        raise problem
    return games


def find_game(text: str, fits: Callable[[type[Game]], bool], rules: str = "") -> Game:
    """Return the game for the canonical variant that a database names; *fits* must accept a class from a rule file.

    Its rules are installed, or in a rule file with which the user has solved a game (see `trusted.py`), or the running
    program defines them. No other file is read, because anyone may have written the database. *rules* is the digest of
    the database's rules, by which the message names the program that made it.
    """
    name, _, options = text.partition(":")
    own_classes = filter(fits, classes_here(name))
    if needs_no_path(name):
        game = named_game(text)
        return game if fits(type(game)) or not (cls := next(own_classes, None)) else make(cls, options)
    for cls in own_classes:
        return make(cls, options)
    for file, known_files in trusted_files(name):
        cls = only_game(import_file(file, known_files))
        if fits(cls):
            return make(cls, options)
    for entry in reversed(read_record().get(record_key(name, in_program=True), [])):
        if rules in entry.get("rules", []):
            what = f"the rules of {text} are not at hand: a class of the program {entry['file']} has them"
            raise VariantError(
                f"{what}; open the database there, or move the class to a rule file {name}.py, and solve that"
            )
    example = f"./{name}.py --database FILE"
    raise VariantError(f"the rules of {text} are not at hand; name their file and the database, as in {example}")


def record_key(name: str, in_program: bool) -> str:
    """Return the key of a game in the record of rule files; *in_program*: its class is in a program."""
    return f"program:{name}" if in_program else name


def source_file(cls: type[Game]) -> str:
    """Return the path of the file that defines a class; "" if there is none. For a notebook it stands for no file."""
    return str(getattr(module_of(cls), "__file__", None) or "")


def file_of_rules(cls: type[Game]) -> Path | None:
    """Return the rule file or the program of the user that defines a class; None for installed games and notebooks."""
    file = Path(source_file(cls))
    return file.resolve() if (module_of(cls).__name__.startswith(RULES) or is_own(cls)) and file.is_file() else None


def trust(game: Game) -> None:
    """Record the rule file of a game that the user has named, so that its databases find it later. Record a program
    that defines the game, to name it in messages."""
    cls: Any = type(game)
    if file_of_rules(cls) is None or not has_source(cls):  # typed at a prompt
        return
    module = module_of(cls)
    is_program = not module.__name__.startswith(RULES)
    modules = [module, *vars(module).get(BESIDE, {}).values()]
    sources = {Path(str(used.__file__)): source_of(used) for used in modules}
    remember(record_key(game.name, is_program), sources, rules_digest(cls))


def only_game(module: ModuleType) -> type[Game]:
    """Return the one game that a module defines; raise VariantError if there is not exactly one."""
    games = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Game)
        and f"{value.__module__}.".startswith(f"{module.__name__}.")  # or in a module of the package
    ]
    if len(games) != 1:
        names = ", ".join(cls.__name__ for cls in games) or "none"
        raise VariantError(f"{module.__file__} must define one subclass of Game, and defines {names}")
    return games[0]


def import_file(path: Path, only_files: Set[Path] | None = None) -> ModuleType:
    """Import a rule module from its file, once for each state of it and of what it imports from its folder.

    With *only_files*, only these files are imported from there.
    """
    if not path.is_file():
        raise VariantError(f"no rule file {str(path)!r}; check the path")
    if "." in path.stem:
        raise VariantError(
            f"{path}: a game cannot be named {path.stem!r}; rename the file, with no dot but that of .py"
        )
    source = path.read_bytes()
    state = sha256(str(path.resolve()).encode() + source).hexdigest()[:16]
    package = f"{RULES}{state}"
    name = f"{package}.{path.stem}"  # the stem is the game's name
    if name in sys.modules and not is_outdated(sys.modules[name]):
        return sys.modules[name]
    sys.modules[package] = ModuleType(package)  # numba imports the module by name, and so the package first
    spec = importlib.util.spec_from_file_location(name, path, loader=SourceLoader(name, str(path), source))
    assert spec and spec.loader
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        with neighbours(path.parent.resolve(), only_files):  # a rule module may import them, as a script may
            spec.loader.exec_module(module)
            record_rules(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        line = getattr(error, "lineno", None) or line_in(error, path) or "?"
        problem = error.msg if isinstance(error, SyntaxError) else error  # the text of a SyntaxError has the line again
        if isinstance(error, ImportError) and f"{error.name}.".startswith(f"{package}."):
            problem = (
                "a rule file is in no package, so that it has no relative imports; write `from module import name`"
            )
        raise VariantError(f"{path}, line {line}: {type(error).__name__}: {problem}") from error
    except BaseException:
        del sys.modules[name]
        raise
    return module


def make(cls: type[Game], text: str) -> Game:
    """Return a game with the options in a text; raise VariantError if they are wrong."""
    declared = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]  # as in variant()
    named = {part.partition("=")[0].strip() for part in text.split(",") if "=" in part}
    if not named <= declared.keys() and (wider := wider_class(cls, named)):
        return make(wider, text)
    options = read_options(cls, text, list(declared))
    missing = [name for name, field in declared.items() if field.default is MISSING and name not in options]
    if missing and (wider := wider_class(cls, options.keys())):
        cls = wider
    elif missing:
        example = cls.example or f"{missing[0]}=…"
        raise VariantError(f"{cls.name} needs the option {missing[0]}, as in {cls.name}:{example}")
    expect_names(cls, declared)
    try:
        try:
            game = cls(**options)  # checks its options itself
        except ValueError:
            if not (wider := wider_class(cls, options.keys())):
                raise
            game = wider(**options)
        for name in fields_of(type(game)):
            getattr(game, name)  # lays it out, if the class's own __post_init__ has not
        players = game.players
    except ValueError as error:
        raise VariantError(f"{cls.name}: {without_long_words(str(error))}") from error
    except Exception as error:  # a fault of the rules, not of the options
        raise RuleError(f"{cls.name}: its options cannot be taken: {error_text(error, cls)}") from error
    if not isinstance(players, int) or players < 1:
        raise RuleError(f"{cls.name}: players is {players!r:.60}; it must be an int from 1 on")
    return game


def wider_class(cls: type[Game], options: Set[str]) -> type[Game] | None:
    """Return the class for larger variants of a built-in game, whose positions are tuples. Without one, return None."""
    module = f"retrograde.games.wide.{cls.name}"
    is_built_in = f"{cls.__module__}.".startswith(f"retrograde.games.{cls.name}.")
    if not is_built_in or not importlib.util.find_spec(module):
        return None
    wider = only_game(importlib.import_module(module))
    return wider if options <= {*names_of_options(wider)} else None


NO_OPTION = ""
"""The name for a value beyond the last option: no option has it, so the value is refused."""


def read_options(cls: type[Game], text: str, known: list[str]) -> dict[str, Any]:
    """Return the options in a text, by name; *known* are the names of the class's options, in their order."""
    types = get_type_hints(cls)
    options: dict[str, Any] = {}
    for index, part in enumerate(part.strip() for part in text.split(",") if text.strip()):
        name, equals, value = part.partition("=")
        if not equals and types.get(name) is bool:
            value = "yes"
        elif not equals and index < len(known):
            name, value = known[index], part
        elif not equals:
            name = NO_OPTION  # more values than options
        if name not in known:
            if members := members_of(cls, text):
                what = f"a set of {len(members)} variants, which only solve takes"
                raise VariantError(f"{cls.name}:{text.strip()} is {what}; name one, as in {cls.name}:{members[0]}")
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else no_option(cls, name) or options_help(cls)
            raise VariantError(f"{cls.name} has no option {in_quotes(part)}; {hint}")
        if name in options:
            raise VariantError(f"{cls.name}: the option {name} is given twice")
        options[name] = option_value(f"{cls.name}:{name}", types[name], value.strip())
        if cls.__module__.startswith(OURS):
            require_not_below(cls, name, options[name])
    return options


def require_not_below(cls: type[Game], name: str, value: object) -> None:
    """Raise VariantError if the value of an option is an int below 0, and below its default."""
    default = getattr(cls, name, 0)
    least = min(0, default) if isinstance(default, int) else 0
    if isinstance(value, int) and value < least:
        bound = f"be at least {least}" if least else "not be negative"
        raise VariantError(f"{cls.name}:{name} must {bound}")


def expect_names(cls: type[Game], options: Iterable[str]) -> None:
    """Raise RuleError if an option, or something that is not a function, has the name of a required method."""
    for name in ALWAYS_ASKED:
        member = getattr(cls, name)
        if name in options or not callable(member):
            what = "an option" if name in options else f"{member!r:.60}"
            raise RuleError(f"{cls.name}: {name} is {what}, and a method of the contract; call it something else")


def no_option(cls: type[Game], name: str) -> str:
    """Return how to turn a constant of a class into an option; "" if the class has no such constant."""
    value = vars(cls).get(name)
    kind = type(value).__name__
    return f"to make it one, annotate it: {name}: {kind} = {value!r}" if kind in ("int", "bool", "str") else ""


def options_help(cls: type[Game]) -> str:
    """Return one line with the names of a game's options and their defaults."""
    defaults = [
        field.name if field.default is MISSING else f"{field.name}={option_text(field.default)}"
        for field in fields(cls)  # type: ignore[arg-type]  # as in variant()
    ]
    return f"its options are {', '.join(defaults)}" if defaults else "it has no options"


def option_value(name: str, kind: Any, text: str) -> Any:
    """Return an option's value from its text; raise VariantError if it is not of the option's type.

    >>> option_value("heaps", tuple, "3+4"), option_value("misere", bool, "yes")
    ((3, 4), True)
    """
    if kind is float:
        raise VariantError(f"{name} is a float; options are whole numbers, several of them, yes or no, or text")
    try:
        if kind is bool:
            return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[text.lower()]
        if kind is int:
            return int(text)
        if kind is str:
            return text
        return tuple(int(number) for number in text.split("+"))
    except (KeyError, ValueError):
        longest = max((number.lstrip("-") for number in text.split("+")), key=len)
        if kind is not bool and longest.isdecimal() and len(longest) > MOST_IN_SHORT:  # Python has a limit
            raise VariantError(f"{name}: a number of {len(longest):,} digits is too long") from None
        expected = {bool: "yes or no", int: "a whole number"}.get(kind, "whole numbers joined by +")
        raise VariantError(f"{name} must be {expected}, not {in_quotes(text)}") from None


def in_quotes(text: str) -> str:
    """Return a text in quotes, cut to a length that fits in a message."""
    return repr(text) if len(text) <= MOST_IN_SHORT else f"{text[: MOST_IN_SHORT - 1]!r}…"


def without_long_words(message: str) -> str:
    """Return a message in which words and numbers of more than MOST_IN_SHORT characters are cut.

    >>> without_long_words(f"no ending '{'K' * 5000}'; name the men") == f"no ending '{'K' * 59}…'; name the men"
    True
    """
    if "set_int_max_str_digits" in message:  # Python's advice is for programmers
        return "a number is too long"
    return re.sub(rf"\w{{{MOST_IN_SHORT + 1},}}", lambda word: f"{word[0][: MOST_IN_SHORT - 1]}…", message)


def option_text(value: object) -> str:
    """Return the text of an option's value."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)
