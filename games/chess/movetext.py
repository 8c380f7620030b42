"""Reads PGN games from any starting position, and writes them again with annotations.

A game consists of tags and words. Words are moves and all else between them, which is kept as it is. The parser reads
comments in braces and to the end of a line, variations, numeric glyphs and the signs for them, results, null moves, and
moves in SAN or UCI, `0-0` included.

>>> game = next(read_games('[White "A"]\\n\\n1. e4 {best} e5 (1... c5 2. Nf3) 2. Nf3 $1 *'))
>>> [word.text for word in game.words if word.kind == MOVE], game.tags
(['e4', 'e5', 'Nf3'], {'White': 'A'})
"""

import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from retrograde.games.chess import fields
from retrograde.games.chess.anyboard import STARTING_POSITION, AnyBoard
from retrograde.games.chess.san import SAN, UCI
from retrograde.games.chess.squares import square_name, square_of
from retrograde.games.contract.game import MoveError, PositionError

MOVE, COMMENT, GLYPH, VARIATION, RESULT = "move", "comment", "glyph", "variation", "result"
WIDTH, UNBROKEN = 79, "\0"
CHESS = {"", "?", "standard", "normal", "from position"}
CHESS960 = {"chess960", "chess 960", "fischerandom", "fischer random"}
"""Values of the tag Variant, in lower case, for chess and for Chess960."""
BLUNDER = "$4"
GLYPHS = {
    "‼": "$3", "⁇": BLUNDER, "??": BLUNDER, "⁉": "$5", "⁈": "$6", "□": "$7", "=": "$10", "∞": "$13", "⩲": "$14",
    "+=": "$14", "+/=": "$14", "⩱": "$15", "=+": "$15", "=/+": "$15", "±": "$16", "+/-": "$16", "∓": "$17",
    "-/+": "$17", "+-": "$18", "-+": "$19", "⨀": "$22", "⊙": "$22", "⟳": "$32", "↑": "$36", "→": "$40", "=/∞": "$44",
    "⇆": "$132", "⊕": "$138", "∆": "$140", "Δ": "$140", "⌓": "$142", "RR": "$145", "N": "$146", "D": "$220",
}  # fmt: skip
"""The numeric glyphs of signs; other signs made of ! and ? are kept as they are."""
NULL_MOVES = ("--", "Z0", "0000", "@@@@")

NAME = r"\[\s*([A-Za-z0-9_+#=:-]+)\s*"
TAG = re.compile(NAME + r'"((?:[^"\\\n]|\\.)*)"\s*\]')
CARELESS_TAG = re.compile(NAME + r'"(.*)"\s*\]')
"""A tag with quotes in its value that are not escaped."""
SIGNS = "".join(sign for sign in GLYPHS if not sign.isascii() and len(sign) == 1)
END = r"(?=[\s{};()$!?\[]|$)"
WHOLE = "|".join(map(re.escape, sorted(GLYPHS, reverse=True)))
WORD = re.compile(
    r"(?P<skip>(?:^|(?<=\n))%[^\n]*|e\.p\.)|(?P<comment>\{[^}]*(?:\}|$)|;[^\n]*)"
    rf"|(?P<glyph>\$\d+|[!?]{{1,2}}(?![!?])|(?:{WHOLE}){END}|[{SIGNS}])"
    rf"|(?P<null>(?:{'|'.join(NULL_MOVES)}){END})"
    r"|(?P<open>\()|(?P<close>\))|(?P<result>1-0|0-1|1/2-1/2|\*)|(?P<number>\d+\.+|\.+|\d+(?=\s))"
    rf"|(?P<tag>\[)|(?P<move>[a-h1-8x]*[18]\([QRBN]\)[+#]*|[^\s{{}};()$!?\[{SIGNS}]+)|(?P<other>\S)"
)
CASTLING = re.compile(r"[O0]-[O0](-[O0])?[+#]?")


class Word(NamedTuple):
    """A word of a game, of one of the kinds above."""

    kind: str
    text: str


class GameRecord(NamedTuple):
    """A game as it is written."""

    tags: dict[str, str]
    words: list[Word]
    source: str = ""
    """The text it was read from."""

    @property
    def variant(self) -> str:
        """The tag Variant; empty for chess and Chess960."""
        value = self.tags.get("Variant", "").strip()
        return "" if value.lower() in CHESS | CHESS960 else value

    @property
    def chess960(self) -> bool:
        """Whether kings and rooks may start on other squares than in chess."""
        return self.tags.get("Variant", "").strip().lower() in CHESS960

    @property
    def start(self) -> str:
        """The starting position, as FEN."""
        return self.tags.get("FEN", STARTING_POSITION)

    @property
    def is_played(self) -> bool:
        """Whether there is more than comments, which may follow the last game of a file."""
        return bool(self.tags) or any(word.kind != COMMENT for word in self.words)

    @property
    def white_begins(self) -> bool:
        """Whether the first move is numbered `1.` and not `1...`; in PDN only the number shows it."""
        if ":" in self.start:
            number = re.search(r"(?:^|\s)\d+(\.+)", TAG.sub(" ", self.source))
            return number is None or number[1] == "."
        return self.start.split()[1:2] != ["b"]

    @property
    def first_number(self) -> int:
        """The number of the first move."""
        try:
            return fields.read(self.start).number
        except PositionError:
            return 1


def read_games(text: str) -> Iterator[GameRecord]:
    """Yield the games of a text."""
    game, offset, begin = GameRecord({}, []), 0, 0
    while match := WORD.search(text, offset):
        offset = match.end()
        if match["tag"]:
            tag = TAG.match(text, match.start()) or CARELESS_TAG.match(text, match.start())
            if game.words and game.is_played:
                yield game._replace(source=text[begin : match.start()])
                game, begin = GameRecord({}, []), match.start()
            if tag:
                game.tags[tag[1]] = re.sub(r"\\(.)", r"\1", tag[2])
                offset = tag.end()
        elif match["open"]:
            variation, offset = read_variation(text, match.start())
            game.words.append(Word(VARIATION, variation))
        elif match["result"]:
            game.words.append(Word(RESULT, match[0]))
            yield game._replace(source=text[begin:offset])
            game, begin = GameRecord({}, []), offset
        elif match["comment"]:
            game.words.append(Word(COMMENT, comment_in(match[0])))
        elif match["glyph"]:
            game.words.append(Word(GLYPH, GLYPHS.get(match[0], match[0])))
        elif match["move"] or match["null"]:
            game.words.append(Word(MOVE, match[0]))
    if game.tags or game.words:
        yield game._replace(source=text[begin:])


def comment_in(text: str) -> str:
    """Return the text of a comment, so that it can stand in braces."""
    return " ".join(text[1:].replace("}", " " if text[0] == "{" else ")").split())


def read_variation(text: str, begin: int) -> tuple[str, int]:
    """Return the variation that begins at an offset, nested ones included, and its end.

    >>> read_variation("(2. Nf3 $1 (2. d4)) 2... Nc6", 0)
    ('( 2. Nf3 $1 ( 2. d4 ) )', 19)
    """
    words, depth, offset = [], 0, begin
    while match := WORD.search(text, offset):
        offset = match.end()
        depth += bool(match["open"]) - bool(match["close"])
        words.append(f"{{ {comment_in(match[0])} }}" if match["comment"] else GLYPHS.get(match[0], match[0]))
        if not depth:
            break
    return " ".join(words) + " )" * depth, offset


def legal_move(board: AnyBoard, text: str) -> str:
    """Return the legal move of a text, in UCI notation; raise MoveError for none or several."""
    moves, castles = board.moves(), board.castles()
    if UCI.fullmatch(text):
        taken = [move for move, (king, rook, *_) in castles.items() if text == square_name(king) + square_name(rook)]
        found = [move for move in moves if move in (text, *taken)]
    elif match := CASTLING.fullmatch(text):
        file = 2 if match[1] else 6  # the king goes to file c for O-O-O, to file g for O-O
        found = [move for move, (_, _, king_goal, _) in castles.items() if king_goal % 8 == file and move in moves]
    elif match := SAN.fullmatch(text):
        found = [move for move in moves if fits(board, move, match)]
    else:
        found = []
    if len(found) == 1:
        return found[0]
    if found:
        raise MoveError(f"{text!r} may be any of {' '.join(found)}")
    raise MoveError(f"no move {text!r} in {board.fen()}")


def fits(board: AnyBoard, move: str, match: re.Match[str]) -> bool:
    """Return whether a UCI move has the man, origin, target and promotion of a SAN (*match*)."""
    letter, file, rank, target, promotion = match.groups()
    return (
        board.men[square_of(move[:2])].upper() == (letter or "P")
        and move[0].startswith(file)
        and move[1].endswith(rank)
        and move[2:4] == target
        and move[4:] == (promotion or "").lower()
    )


def san_on(board: AnyBoard, move: str) -> str:
    """Return a legal UCI move in standard algebraic notation."""
    child = board.after(move)
    suffix = "" if not child.in_check(child.white_to_move) else "+" if child.moves() else "#"
    if castle := board.castles().get(move):
        return ("O-O" if castle[2] % 8 == 6 else "O-O-O") + suffix
    man, target = board.men[square_of(move[:2])].upper(), move[2:4]
    takes = "x" * board.captures(move)
    if man == "P":
        return f"{move[0] * bool(takes)}{takes}{target}{'=' * bool(move[4:])}{move[4:].upper()}{suffix}"
    # The shortest origin that tells the move from those of like men: nothing, the file, the rank, or the square.
    alike = [one for one in board.moves() if one[2:4] == target and board.men[square_of(one[:2])].upper() == man]
    origin = next(
        part for part in ("", move[0], move[1], move[:2])
        if sum(one[:2].startswith(part) or one[:2].endswith(part) for one in alike) == 1
    )  # fmt: skip
    return f"{man}{origin}{takes}{target}{suffix}"


def game_text(game: GameRecord) -> str:
    """Return a game as PGN."""
    lines = []
    for name, value in game.tags.items():
        value = value.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'[{name} "{value}"]')
    head = "\n".join(lines)
    words = (word.replace(" ", UNBROKEN) if word[0] == "{" and len(word) <= WIDTH else word for word in words_of(game))
    body = textwrap.fill(" ".join(words), WIDTH, break_long_words=False, break_on_hyphens=False)
    body = body.replace(UNBROKEN, " ")
    return f"{head}\n\n{body}\n" if head else f"{body}\n"


def words_of(game: GameRecord) -> Iterator[str]:
    """Yield the words of a game with the numbers of moves: before White's, and before Black's that follow no move."""
    number, white, follows_move = game.first_number, game.white_begins, False
    for kind, text in game.words:
        if kind == MOVE:
            if white or not follows_move:
                yield f"{number}." if white else f"{number}..."
            yield text
            number, white, follows_move = number + (not white), not white, True
        else:
            yield f"{{ {text} }}" if kind == COMMENT else text
            follows_move = follows_move and kind == GLYPH
