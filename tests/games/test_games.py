"""The rule modules against published numbers, against the contract, and each of their methods against its inverse."""

from collections import Counter
from functools import cache
from itertools import combinations

import pytest

from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN, Game, MoveError, VariantError
from retrograde.games.catalog import load_game
from retrograde.games.catalog import variant as text_of
from retrograde.games.connect4 import Connect4
from retrograde.games.contract.game import defines
from retrograde.games.dodgem import Dodgem
from retrograde.games.hareandhounds import HareAndHounds
from retrograde.games.lgame import LGame
from retrograde.games.mnk import MNK
from retrograde.games.mutorere import MuTorere
from retrograde.games.orderandchaos import OrderAndChaos
from retrograde.games.tentozero import TenToZero
from retrograde.games.tictactoe import TicTacToe
from tests.helpers import published
from tests.helpers.marks import thorough, thorough_but
from tests.helpers.reference import counts, counts_of_classes, solve

GAMES: dict[str, Game] = {
    "tictactoe": TicTacToe(),
    "tictactoe:misere": TicTacToe(misere=True),
    "connect4:3,3,3": Connect4(3, 3, 3),
    "connect4:3,4,4": Connect4(3, 4, 4),
    "connect4:4,3,3": Connect4(4, 3, 3),
    "tentozero": TenToZero(),
    "tentozero:20,2+5": TenToZero(20, (2, 5)),
    "mutorere": MuTorere(),
    "dodgem": Dodgem(),
    "hareandhounds": HareAndHounds(),
}

each_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
most_games = pytest.mark.parametrize(
    "game", [thorough(game) if name == "tictactoe:misere" else game for name, game in GAMES.items()], ids=GAMES
)


@cache
def solution(game, symmetric=False):
    return solve(game, symmetric)


# Published numbers


@pytest.mark.parametrize("variant", sorted(GAMES.keys() & published.COUNTS.keys()))
def test_counts_of_all_positions(variant):
    assert counts(solution(GAMES[variant])) == published.COUNTS[variant]


@pytest.mark.parametrize("variant", sorted(GAMES.keys() & published.COUNTS.keys()))
def test_counts_from_symmetric_classes(variant):
    game = GAMES[variant]
    assert counts_of_classes(game, solution(game, True)) == published.COUNTS[variant]


@pytest.mark.long
def test_counts_of_lgame_from_symmetric_classes():
    assert counts_of_classes(LGame(), solution(LGame(), True)) == published.COUNTS["lgame"]


@pytest.mark.slow
def test_counts_of_all_positions_of_lgame():
    assert counts(solution(LGame())) == published.COUNTS["lgame"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(4, 4, 3), (4, 4, 4)], ids=str)
def test_counts_of_larger_boards(size):
    assert counts(solve(Connect4(*size))) == published.COUNTS[f"connect4:{size[0]},{size[1]},{size[2]}"]


def test_tictactoe_has_the_totals_that_everyone_finds():
    values = Counter(value for value, _ in solution(TicTacToe()).values())
    assert values == {WIN: 2836, LOSE: 1574, TIE: 1068}
    assert sum(values.values()) == 5478
    assert len(solution(TicTacToe(), True)) == 765
    assert solution(TicTacToe())[TicTacToe().start] == (TIE, 9)


def test_gamesman_counts_tentozero_once_for_each_player():
    """A total is our one position; GamesmanClassic has two, unless only one of the players can be to move there.

    That is so at 0, where the first player is, and at 1, where the second is; the other nine are counted twice.
    """
    game = TenToZero()
    reached: set[tuple[int, int]] = set()
    found = [(game.start, 0)]
    while found:
        total, player = found.pop()
        if (total, player) not in reached:
            reached.add((total, player))
            if game.primitive(total) == UNDECIDED:
                found += [(game.do_move(total, step), 1 - player) for step in game.generate_moves(total)]
    assert len(reached) == 2 * 11 - 2
    assert Counter(solution(game)[total] for total, _ in reached) == published.TENTOZERO_BY_PLAYER


@pytest.mark.parametrize("hare", [5, 6, 7, 8])
@pytest.mark.parametrize("hare_first", [False, True])
@pytest.mark.long
def test_hounds_catch_the_hare_in_as_many_plies_as_published(hare, hare_first):
    game = HareAndHounds(hare, hare_first)
    variant = f"hareandhounds:{hare}" + ",yes" * hare_first
    assert solution(game)[game.start] == published.STARTS[variant]


def test_lgame_has_the_classes_of_wikipedia():
    values = solution(LGame(), True).values()
    lost = [remoteness for value, remoteness in values if value == LOSE]
    assert len(values) == published.LGAME_CLASSES
    assert lost.count(0) == published.LGAME_LOST
    assert len(lost) - lost.count(0) == published.LGAME_LOSING


def test_lgame_symmetry_is_free():
    game = LGame()
    assert {len(set(game.images(position))) for position in solution(game, True)} == {32}


def test_mutorere_has_the_classes_of_ascher():
    game = MuTorere()
    arrangements = {
        game.read("".join({"/": "/", empty: "."}.get(place, "OX"[place in xs]) for place in "12345678/c/") + "X")
        for empty in "12345678c"
        for xs in combinations(set("12345678c") - {empty}, 4)
    }
    assert len(arrangements) == 630
    assert len({game.canonical(position) for position in arrangements}) == published.MUTORERE_CLASSES


# The contract


@most_games
def test_moves_are_named_and_lead_on_to_tiers_never_lower(game):
    for position in solution(game):
        if game.primitive(position) == UNDECIDED:
            moves = list(game.generate_moves(position))
            names = [game.move_name(position, move) for move in moves]
            assert len(set(moves)) == len(moves) > 0
            assert [game.move(position, name) for name in names] == moves
            assert not any(" " in name for name in names)
            assert all(move >= 0 for move in moves)
            assert all(game.tier(game.do_move(position, move)) >= game.tier(position) for move in moves)


@pytest.mark.thorough
@each_game
@pytest.mark.long
def test_images_are_worth_the_same(game):
    values = solution(game)
    for position in values:
        images = {position, *game.images(position)}
        assert {values[image] for image in images} == {values[position]}
        canonical = {game.canonical(image) for image in images}
        assert len(canonical) == 1
        assert canonical <= images


def test_images_of_lgame_are_worth_the_same():
    game = LGame()
    for position in sorted(solution(game, True))[::20]:
        images = set(game.images(position))
        assert {game.canonical(image) for image in images} == {position}
        assert {frozenset(game.images(image)) for image in images} == {frozenset(images)}


@pytest.mark.slow
def test_all_positions_of_lgame_are_worth_what_their_classes_are():
    game = LGame()
    classes = solution(game, True)
    assert all(result == classes[game.canonical(position)] for position, result in solution(game).items())


@pytest.mark.parametrize("game", [Dodgem(), Dodgem(2)], ids=str)
def test_parents_undo_moves(game):
    assert defines(game, "parents")
    positions = solution(game)
    for position in positions:
        parents = list(game.parents(position))
        assert len(set(parents)) == len(parents)
        assert {game.tier(parent) for parent in parents} <= {game.tier(position)}
        for parent in parents:
            assert position in [game.do_move(parent, move) for move in game.generate_moves(parent)]
        if game.primitive(position) == UNDECIDED:
            for child in [game.do_move(position, move) for move in game.generate_moves(position)]:
                assert (position in game.parents(child)) == (game.tier(position) == game.tier(child))


# For people


@most_games
def test_read_undoes_write(game):
    positions = list(solution(game))[::7]
    assert [game.read(game.write(position)) for position in positions] == positions
    assert not any(set(" \n") & set(game.write(position)) for position in positions)


@pytest.mark.thorough
def test_read_undoes_write_in_the_lgame():
    game = LGame()
    for position in solution(game, True):
        for image in set(game.images(position)):
            assert game.read(game.write(image)) == image


@pytest.mark.parametrize("game", [*GAMES.values(), LGame()], ids=[*GAMES, "lgame"])
def test_show_has_every_sign_that_write_has(game):
    for position in list(solution(game, True))[:100]:
        signs = Counter(game.write(position).replace("/", "").replace(".", ""))
        assert signs <= Counter(game.show(position))


@pytest.mark.parametrize(
    ("game", "text"),
    [
        (TenToZero(), "11"),
        (TenToZero(), "-1"),
        (MuTorere(), "XXXXOOOO/."),
        (MuTorere(), "XXXXOOO./X/X"),
        (MuTorere(), "XXXXOOOO/./x"),
        (Dodgem(), "O../O../.XX"),
        (Dodgem(), "O../O../.XX/."),
        (Dodgem(), "O../O../OXX/O"),
        (Dodgem(), ".../.../.XX/O"),
        (Dodgem(4), "O../O../.XX/O"),
        (LGame(), "wXX./.OX./.OX./.OOg"),
        (LGame(), "wXX./.OX./.OX./.OO./X"),
        (LGame(), "wXX./OOX./.OX./..Og/X"),
        (LGame(), "wXX./XOX./.O../.OOg/X"),
        (HareAndHounds(), "D../D...H/D.."),
        (HareAndHounds(), "D../D...H/DD./D"),
        (HareAndHounds(), "D../D..../D../D"),
        *((game, text) for game in [*GAMES.values(), LGame()] for text in ("?", "/", "²", "a b")),
    ],
    ids=str,
)
def test_nonsense_is_no_position(game, text):
    with pytest.raises(ValueError, match=r"^[a-zDXO0-9]") as error:
        game.read(text)
    assert not str(error.value).endswith(".")


def test_an_unknown_move_is_answered_with_the_moves_there_are():
    game = Dodgem()
    with pytest.raises(MoveError, match=r"'a1-c1'.* a1-b1 "):
        game.move(game.start, "a1-c1")


def test_moves_have_the_names_of_what_they_do():
    dodgem, lgame, hunt = Dodgem(), LGame(), HareAndHounds()
    leave = dodgem.read("..O/O../.XX/O")
    assert dodgem.write(dodgem.do_move(leave, dodgem.move(leave, "c1-off"))) == ".../O../.XX/X"
    assert lgame.write(lgame.do_move(lgame.start, lgame.move(lgame.start, "b1c1d1d2+wa4"))) == ".XXX/.O.X/.O../wOOg/O"
    assert hunt.write(hunt.do_move(hunt.start, hunt.move(hunt.start, "4-5"))) == "D../.D..H/D../H"


# Rules worth a case of their own


def test_who_is_stuck_short_of_the_target_has_lost():
    game = TenToZero(10, (4, 5))
    assert [total for total in range(11) if game.primitive(total) == LOSE] == [7, 8, 9, 10]


def test_who_is_blocked_in_dodgem_has_won():
    game = Dodgem()
    assert game.primitive(game.read("OX./OX./.../X")) == UNDECIDED
    assert game.primitive(game.read("OX./X../.../O")) == WIN
    assert game.primitive(game.read(".../.../.XX/X")) == LOSE


def test_cells_into_the_centre_of_mutorere_lie_beside_the_other_colour():
    game = MuTorere()
    assert [game.move_name(game.start, move) for move in game.generate_moves(game.start)] == ["1", "4"]


def test_hounds_go_up_and_down_and_on_but_not_back():
    game = HareAndHounds()
    position = game.read("..D/.D.D./..H/D")
    names = {game.move_name(position, move) for move in game.generate_moves(position)}
    assert names == {"3-8", "5-1", "5-6", "5-9", "7-8"}


@pytest.mark.parametrize(
    ("game", "options"),
    [
        (TenToZero, {"target": 0}),
        (TenToZero, {"target": 1 << 62}),
        (TenToZero, {"steps": ()}),
        (TenToZero, {"steps": (1, 1)}),
        (TenToZero, {"steps": (0, 1)}),
        (Dodgem, {"size": 1}),
        (Dodgem, {"size": 6}),
        (HareAndHounds, {"hare": 4}),
        (HareAndHounds, {"hare": 9}),
        (MNK, {"k": 0}),
        (OrderAndChaos, {"k": 0}),
    ],
)
def test_options_out_of_range_are_refused(game, options):
    with pytest.raises(ValueError, match=f"{next(iter(options))[:4]}.* must be"):
        game(**options)


@pytest.mark.parametrize("text", ["tictactoe:-3", "joust:-2,-2", "toadsandfrogs:2,2,-1"])
def test_negative_options_are_refused(text):
    with pytest.raises(VariantError, match=r"\w+:\w+ must not be negative"):
        load_game(text)


def test_an_option_is_not_below_a_negative_default():
    with pytest.raises(VariantError, match="klotski:goal must be at least -1"):
        load_game("klotski:BB-BB-..,goal=-5")
    assert load_game("klotski:BB-BB-..,goal=-1") == load_game("klotski:BB-BB-..")


def test_options_that_mean_nothing_by_a_negative_number_keep_it():
    assert load_game("klotski:goal=-1") == load_game("klotski")


# The reference itself, on graphs that can be solved in one's head


def graph(ends, *edges):
    """Return a game on letters: `A` is the start, the values of ends are given, other letters move along the edges."""

    class Graph(Game):
        start = ord("A")

        def generate_moves(self, position):
            yield from (ord(b) for a, b in edges if a == chr(position))

        def do_move(self, position, move):
            return move

        def primitive(self, position):
            return ends.get(chr(position), UNDECIDED)

    return {chr(position): result for position, result in solve(Graph()).items()}


def test_the_winner_hurries_and_the_loser_delays():
    results = graph({"Z": LOSE}, "AB", "AC", "BY", "CD", "DE", "EY", "YZ")
    assert results["Y"] == (WIN, 1)
    assert (results["B"], results["E"]) == ((LOSE, 2), (LOSE, 2))
    assert (results["D"], results["C"], results["A"]) == ((WIN, 3), (LOSE, 4), (WIN, 3))
    delay = graph({"Z": LOSE}, "AY", "AD", "YZ", "DE", "EY")
    assert delay["A"] == (LOSE, 4)


def test_a_tie_is_better_than_a_draw_and_a_draw_than_a_loss():
    results = graph({"T": TIE, "W": WIN}, "AB", "AT", "BA", "BC", "BW", "CB", "CW")
    assert results["A"] == (TIE, 1)
    assert results["B"] == (TIE, 2)
    assert results["C"] == (TIE, 3)
    assert graph({"W": WIN}, "AB", "BA", "AW") == {"A": (DRAW, None), "B": (DRAW, None), "W": (WIN, 0)}
    assert graph({"W": WIN}, "AW")["A"] == (LOSE, 1)


WITH_AT_BEST = [Connect4(4, 3, 3), Connect4(3, 4, 3), MNK(3, 3), Connect4(5, 3, 3), Connect4(4, 4), MNK(4, 3, 3)]
"""Games whose rules say what the player to move gets at best."""


@pytest.mark.parametrize("game", thorough_but(WITH_AT_BEST, *WITH_AT_BEST[:3]), ids=text_of)
def test_no_player_gets_more_than_the_rules_say_it_gets_at_best(game):
    ranks, claims = {LOSE: 0, TIE: 1, WIN: 2}, Counter()
    for position, (value, remoteness) in solve(game).items():
        if remoteness:
            best = game.at_best(position)
            assert ranks[value] <= ranks[best], game.write(position)
            claims[best] += 1
    assert claims[TIE] and (claims[LOSE] or isinstance(game, MNK))


def test_the_estimate_of_connect_four_is_for_who_is_ahead():
    game = Connect4()
    ahead = game.read("4141")  # stones in the middle, where most rows are, against stones on the left edge
    behind = game.read("41414")
    assert game.estimate(ahead) > 0 > game.estimate(behind)
    assert game.estimate(game.start) == 0
