"""Men that are dropped again, in games of a few lines: held against the rules written down with texts of the board, as
the player who begins sees it, and against the slow solver."""

import random
from typing import ClassVar

import pytest

from retrograde.databases import open_database
from retrograde.games import LOSE, UNDECIDED, WIN, RuleError
from retrograde.games.catalog import load_game
from retrograde.games.kinds.drops import AHEAD, AROUND, GOLD, SILVER, SLANTING, STRAIGHT, Drops
from retrograde.solver.conformance.check import check
from retrograde.solver.engine import solve
from tests.helpers import reference


class Generals(Drops):
    """A pawn becomes gold on the last row."""

    to_move = "Kk"
    steps: ClassVar = {"P": AHEAD, "S": SILVER, "K": AROUND, "G": GOLD}
    promotions: ClassVar = {"P": "G"}
    called: ClassVar = {"P": "pawn", "S": "silver", "K": "king"}
    setup = "skp/.../PKS"

    dropping: bool = True


class Hurried(Generals):
    """On a narrow board, where men of two kinds are promoted on two rows, one of them to a man that has no mirror."""

    steps: ClassVar = {"A": STRAIGHT, "G": GOLD, "L": ((-1, -1), (-1, 0)), "K": AROUND, "S": SLANTING}
    promotions: ClassVar = {"A": "L", "S": "G"}
    called: ClassVar = {}
    setup = "ks/a./.a/AA/SK"
    promoting = 2


class Wide(Generals):
    """Four columns, of which two are mirrored in two others."""

    setup = "ksp./.PSK"


class Fair(Generals):
    """No pawn is dropped where it cannot move."""

    setup = "k./p./.P/.K"

    def generate_moves(self, position):
        for move in super().generate_moves(position):
            source, target = self.parts_of(move)
            if source != self.cells or target >= self.columns:
                yield move


class Walled(Generals):
    """Walls stand still, so that there may be no move."""

    steps: ClassVar = {"W": (), "P": AHEAD, "K": AROUND}
    promotions: ClassVar = {}
    called: ClassVar = {"K": "king"}
    setup = "k../WW./KWP"


GAMES = [
    Generals(),
    Generals(dropping=False),
    Hurried(),
    Hurried(dropping=False),
    Wide(),
    Walled(),
    Walled(dropping=False),
]


# The same as rows of text

PICTURES = {
    (): "... .o. ...",
    AHEAD: ".x. .o. ...",
    STRAIGHT: ".x. xox .x.",
    SLANTING: "x.x .o. x.x",
    AROUND: "xxx xox xxx",
    GOLD: "xxx xox .x.",
    SILVER: "xxx .o. x.x",
    ((-1, -1), (-1, 0)): "x.. xo. ...",
}
"""Where men go, marked by x around an o."""


def goes(game, sign, right, down):
    """Tell whether a man goes so far, as the player sees it whose it is."""
    return PICTURES[game.steps[sign.upper()]].split()[1 + down][1 + right] == "x"


def parsed(text, game):
    """Return the men on the board by column and row, those in hand of the two players, and whose turn it is."""
    *rows, turn = text.split("/")
    north, south = (rows.pop(0), rows.pop()) if game.dropping else ("", "")
    board = {(x, y): sign for y, row in enumerate(rows) for x, sign in enumerate(row)}
    return board, {"S": south.replace(".", ""), "N": north.replace(".", "")}, "NS"[turn.isupper()]


def written(board, hands, turn, game):
    """Return the text of what `parsed` gives."""
    columns, rows = (1 + max(numbers) for numbers in zip(*board, strict=True))
    lines = ["".join(board[x, y] for x in range(columns)) for y in range(rows)]
    men = sum(sign not in "./" + game.to_move for sign in game.setup)
    north, south = ("".join(sorted(hands[player], key=in_order(game))).ljust(men, ".") for player in "NS")
    return "/".join([north] * game.dropping + lines + [south] * game.dropping + [game.to_move[turn == "N"]])


def in_order(game):
    return lambda sign: "".join(game.steps).index(sign.upper())


def mine(sign, player):
    return sign != "." and sign.isupper() == (player == "S")


def steps_in(board, player, game):
    """Yield whence and whither each man of a player may go."""
    up = 1 if player == "S" else -1
    for (x, y), sign in board.items():
        for right, down in AROUND:
            to = x + right * up, y + down * up
            if mine(sign, player) and to in board and goes(game, sign, right, down) and not mine(board[to], player):
                yield (x, y), to


def moves(text, game):
    """Return the texts to which moves lead, by their names."""
    board, hands, turn = parsed(text, game)
    name = {(x, y): f"{'abcd'[x]}{y + 1}" for x, y in board}
    other, rows, found = "NS"[turn == "N"], 1 + max(y for _, y in board), {}
    became = {promoted: sign for sign, promoted in game.promotions.items()}
    for source, to in steps_in(board, turn, game):
        sign, taken = board[source].upper(), board[to].upper()
        if (to[1] if turn == "S" else rows - 1 - to[1]) < game.promoting:
            sign = game.promotions.get(sign, sign)
        hand = hands[turn] + became.get(taken, taken).strip(".") * game.dropping
        after = board | {source: ".", to: sign if turn == "S" else sign.lower()}
        found[f"{name[source]}-{name[to]}"] = after, hands | {turn: hand if turn == "S" else hand.lower()}
    for sign in hands[turn]:
        for to in (cell for cell, man in board.items() if man == "."):
            found[f"{sign.upper()}*{name[to]}"] = board | {to: sign}, hands | {turn: hands[turn].replace(sign, "", 1)}
    return {name: written(*after, other, game) for name, after in found.items()}


def value(text, game):
    """Return what a position is worth where it is over."""
    board, _, turn = parsed(text, game)
    if any(board[to] in game.to_move for _, to in steps_in(board, turn, game)):
        return WIN
    return UNDECIDED if moves(text, game) else LOSE


def walked(game, count, seed=1):
    """Yield the positions of random games."""
    choice = random.Random(seed)
    while count > 0:
        position = game.start
        for _ in range(40):
            count -= 1
            yield position
            if game.primitive(position) != UNDECIDED:
                break
            position = game.do_move(position, choice.choice(list(game.generate_moves(position))))


@pytest.mark.parametrize("game", [*GAMES, load_game("dobutsu")], ids=repr)
def test_moves_are_those_of_the_rules_with_rows_of_text(game):
    for position in walked(game, 400):
        text = game.write(position)
        assert game.read(text) == position
        if game.primitive(position) == UNDECIDED:
            found = {game.move_name(position, move): move for move in game.generate_moves(position)}
            assert {name: game.write(game.do_move(position, move)) for name, move in found.items()} == moves(text, game)


@pytest.mark.parametrize("game", [Generals(), Hurried(dropping=False)], ids=repr)
def test_a_move_is_drawn_from_where_the_man_is_to_where_it_goes(game):
    for position in walked(game, 100):
        pieces, player = game.draw_pieces(position), "NS"[game.draw_turn(position).isupper()]
        for move in game.generate_moves(position) if game.primitive(position) == UNDECIDED else ():
            name, (left, entered) = game.move_name(position, move), game.draw_move(position, move)
            assert mine(pieces[left], player) and not mine(pieces[entered], player)
            assert mine(game.draw_pieces(game.do_move(position, move))[entered], player)
            source, target = name.replace("*", "-").split("-")
            assert target == game.board.names[entered]
            assert source in (game.board.names[left], pieces[left].upper())


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_who_can_take_the_king_wins_and_who_cannot_move_loses(game):
    found = {position: game.primitive(position) for position in walked(game, 400)}
    assert found == {position: value(game.write(position), game) for position in found}
    assert {*found.values()} == ({WIN, LOSE, UNDECIDED} if isinstance(game, Walled) else {WIN, UNDECIDED})


def test_only_a_generate_moves_of_its_own_forbids_more():
    """Such as the drop on the last row, though a cell is empty there."""
    position = Fair().read("p./k./../../.K/P./K")
    names = [Fair().move_name(position, move) for move in Fair().generate_moves(position)]
    assert [name for name in names if "*" in name] == ["P*a2", "P*b2", "P*a3", "P*b3", "P*a4"]


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_images_are_mirrored_and_seen_from_the_other_side(game):
    def text_of(position, mirror, swap):
        board, hands, turn = parsed(game.write(position), game)
        right, bottom = (max(numbers) for numbers in zip(*board, strict=True))
        if mirror:
            board = {(x, y): board[right - x, y] for x, y in board}
        if swap:
            board = {(x, y): board[right - x, bottom - y].swapcase() for x, y in board}
            hands, turn = {"S": hands["N"].swapcase(), "N": hands["S"].swapcase()}, "NS"[turn == "N"]
        return written(board, hands, turn, game)

    mirrors = (False,) if "L" in game.steps else (False, True)
    for position in walked(game, 100):
        expected = {text_of(position, mirror, swap) for mirror in mirrors for swap in (False, True)}
        assert {game.write(position), *map(game.write, game.images(position))} == expected


@pytest.mark.parametrize("way", ["interpreted", pytest.param("compiled", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("game", [Fair(), Fair(dropping=False), Walled()], ids=repr)
def test_they_are_solved_as_a_slow_solver_does(game, way, tmp_path):
    wanted = reference.solve(game, symmetric=True)
    with open_database(solve(game, tmp_path / "solved.h5", method=way), game=game) as database:
        assert database.file.stored == len(wanted)
        assert {position: database[position] for position in wanted} == wanted


@pytest.mark.thorough
@pytest.mark.parametrize("game", [*GAMES, Fair()], ids=repr)
def test_they_keep_the_contract(game):
    """Compiled as well where the table of mirrors is empty."""
    report = check(game, compiled=isinstance(game, Hurried))
    assert report.ok, report.findings


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        (
            {"setup": "sskpp/...../...../PPKSS"},
            "20 cells of 4 bits, two hands of 6 and a turn are more than the 62 bits",
        ),
        ({"setup": "skp/..../PKS"}, "setup is 'skp/..../PKS'; its rows, parted by slashes, must have one length"),
        (
            {"setup": "skp/.x./PKS"},
            "'x' in 'skp/.x./PKS' is no man; men are PSKG, and the other player's in small letters",
        ),
        ({"setup": "skp/.../PKK"}, "'skp/.../PKK' must have 9 cells, one K and one k"),
        ({"setup": ""}, "setup is ''; it must be text, the rows of the board parted by slashes, as 'k./../.K'"),
        ({"setup": "skp\n...\nPKS"}, r"setup is 'skp\\n...\\nPKS'; it must be text, the rows of the board"),
        ({"setup": ("skp", "...", "PKS")}, r"setup is \('skp', '...', 'PKS'\); it must be text"),
        ({"start": property(lambda game: game.laid("ssk/.s./KPP"))}, "'ssk/.s./KPP' has more S than 'skp/.../PKS'"),
        ({"start": property(lambda game: game.laid("skp/PKS"))}, "'skp/PKS' must have 9 cells, one K and one k"),
        ({"promotions": {"P": "T"}}, "P cannot become T; both must be men of PSKG, in no other promotion and no kings"),
        ({"promotions": {"P": "G", "S": "G"}}, "P cannot become G; both must be men"),
        ({"promotions": {"P": "S", "S": "G"}}, "P cannot become S; both must be men"),
        ({"promotions": {"P": "K"}}, "P cannot become K; both must be men"),
        ({"promotions": {"P": "P"}}, "P cannot become P; both must be men"),
        ({"promotions": {"P": ["G"]}}, r"P cannot become \['G'\]; both must be men"),
        (
            {"promotions": ["P", "G"]},
            r"promotions is \['P', 'G'\]; it must be a dict that has for a man, by its sign, the",
        ),
        ({"promoting": -1}, "promoting is -1; it must be a whole number from 0 to 3"),
        ({"promoting": 4}, "promoting is 4; it must be a whole number from 0 to 3"),
        ({"promoting": 1.5}, "promoting is 1.5; it must be a whole number"),
        ({"steps": [AHEAD, AROUND]}, r"steps is \[.*\]; it must be a dict that has for a man, by its sign, its steps"),
        ({"steps": {}}, "steps is {}; it must have one man at least, a king"),
        ({"steps": {1: AHEAD, "K": AROUND}}, "steps has a man 1; the sign of a man is a capital from A to Z"),
        ({"steps": {"pawn": AHEAD, "K": AROUND}}, "steps has a man 'pawn'; the sign of a man is a capital from A to Z"),
        ({"to_move": "KQ"}, "to_move is 'KQ'; it must be a king of PSKG, as a capital and as a small letter"),
        ({"to_move": ""}, "to_move is ''; it must be a king"),
        ({"to_move": None}, "to_move is None; it must be a king"),
        *(
            ({"steps": {"P": steps, "K": AROUND}, "promotions": {}}, "steps of P are .*; they must be a tuple of pairs")
            for steps in [(0, -1), None, "up", [(0, -1)], ((0, -1, 1),), ((0, -0.5),), ("up",), ((0, -1), (0, 0))]
        ),
    ],
)
def test_what_cannot_work_is_refused_in_one_line(members, complaint):
    game = type("Odd", (Generals,), members)()
    with pytest.raises(RuleError, match=complaint) as refused:
        _ = game.start
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("missing", ["setup", "steps", "to_move"])
def test_what_is_not_declared_is_asked_for_by_name(missing):
    members = {"setup": "k/./K", "steps": {"K": AROUND}, "to_move": "Kk"}
    assert type("Kings", (Drops,), members)().start
    del members[missing]
    with pytest.raises(RuleError, match=f"{missing} is None; it must be "):
        _ = type("Kings", (Drops,), members)().start


def test_dropping_is_yes_or_no():
    with pytest.raises(RuleError, match="dropping is 'no'; it must be True or False"):
        _ = Generals(dropping="no").start


@pytest.mark.parametrize("called", ["pawn", {"X": "pawn"}, {"P": 1}])
def test_a_board_is_refused_where_no_man_or_no_text_is_called_something(called):
    game = type("Odd", (Generals,), {"called": called})()
    assert game.start == Generals().start
    with pytest.raises(RuleError, match=r"called (is 'pawn'; it must be a dict|has .* for .*; it must have text)"):
        _ = game.board


@pytest.mark.parametrize(("promoting", "became"), [(0, "P"), (1, "G")])
def test_a_man_is_promoted_on_as_many_rows_as_promote(promoting, became):
    game = type("Pawns", (Generals,), {"promoting": promoting})()
    position = game.read("p.../k.s/P../.SK/..../K")
    after = game.do_move(position, game.move(position, "a2-a1"))
    assert game.write(after) == f"p.../{became}.s/.../.SK/..../k"


@pytest.mark.parametrize(
    ("dropping", "text", "complaint"),
    [
        (True, "..../skp/.../PK./..../K", "there must be two S, of both players and in hand together; not 1"),
        (True, "..../skp/.../.KS/G.../K", "a position is lines|only pawns and silvers of one's own are in hand"),
        (True, "..../s.p/.../PKS/..../K", r"there must be one king of each player \(K and k\) on the board"),
        (False, "skp/.p./PKS/K", "there must be no more than two P, of both players; not 3"),
    ],
)
def test_what_is_no_position_is_one_line(dropping, text, complaint):
    with pytest.raises(ValueError, match=complaint):
        Generals(dropping=dropping).read(text)


def test_hands_are_shown_an_empty_line_away_from_the_board():
    position = Generals().read("p.../sk./..G/.K./S.../k")
    assert Generals().show(position) == "p . . .\n\ns k .\n. . G\n. K .\n\nS . . .\nk to move"
    alone = Generals(dropping=False)
    assert alone.show(alone.start) == "s k p\n. . .\nP K S\nK to move"


def test_men_that_are_gone_need_not_be_there():
    game = Generals(dropping=False)
    assert game.write(game.read("sk./.../.K./k")) == "sk./.../.K./k"


def test_an_end_is_told():
    game = Walled(dropping=False)
    assert game.ending(game.read("k.P/WW./KW./K")) == "no man can move"
    assert game.ending(game.read("k.P/KW./.W./K")) == "the king can be taken"
