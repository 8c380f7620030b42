"""The digest of a game's rules: the same as long as the rules are, another one whenever they are not."""

import ast
import subprocess
import sys
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from retrograde.games import Game, VariantError, load
from retrograde.games.catalog import game_class
from retrograde.games.contract.game import CLOCK, FOR_PEOPLE, HINTS, KEEPING
from retrograde.games.identity.digest import is_digest_of, numbering_digest, rules_digest
from retrograde.games.identity.outline import is_source_below
from retrograde.solver.runtime.sources import ROOT

pytestmark = pytest.mark.long

GAME = '''"""A heap."""

from functools import cached_property

from retrograde.games import LOSE, UNDECIDED, Game
from helpers import MOST, least, table
import shapes

UNUSED = 3
SIZES = [1, 2]
SIZES.append(3)


class Heap(Game):
    """Take some."""

    size: int = 10
    fast: bool = False
    ends = 0

    def __post_init__(self):
        if self.size > 1000:
            raise ValueError("too many")

    @property
    def start(self):
        return self.size

    @cached_property
    def takes(self):
        return table()

    def generate_moves(self, heap):
        """Yield."""
        for taken in self.takes:
            if least(taken, heap) == taken and taken <= MOST:
                yield taken

    def do_move(self, heap, taken):
        left: int = heap - taken
        return left

    def primitive(self, heap):
        return LOSE if heap == self.ends else UNDECIDED

    def tier(self, heap):
        return len(SIZES) * shapes.rise(self.size - heap)

    # For people

    def show(self, heap):
        return self.bar(heap) + shapes.bar(heap)

    def bar(self, heap):
        return "|" * heap


def unused(x):
    return x
'''
HELPERS = '''"""Help."""

MOST = 3
OTHER = 9


def least(first, second):
    """Return the lesser."""
    return first if first < second else second  # or the first


def table():
    return tuple(entries())


def entries():
    return range(1, 1 + 3)


def unused():
    return OTHER
'''
SHAPES = """from helpers import OTHER


def rise(number):
    from deeper.steps import step

    return step * number


def bar(number):
    return "-" * number
"""
STEPS = "step = 1\n"
FILES = {"heap.py": GAME, "helpers.py": HELPERS, "shapes.py": SHAPES, "deeper/steps.py": STEPS}


@pytest.fixture
def digest_of(tmp_path):
    """A function that returns the digest of the rules with some edits: a file, what is in it, and what shall be."""
    numbers = count()

    def digest(*edits, contract=False):
        folder = tmp_path / str(next(numbers))
        files = dict(FILES)
        for name, old, new in edits:
            assert old in files[name], (name, old)
            files[name] = files[name].replace(old, new)
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        return rules_digest(game_class(str(folder / "heap.py")), contract)

    return digest


def heap(old, new):
    return ("heap.py", old, new)


IMPORT = "from helpers import MOST, least, table\n"
DO_MOVE = GAME[GAME.index("    def do_move") : GAME.index("    def primitive")]
THROUGH_MODULE = [heap("least(", "helpers.least("), heap("MOST", "helpers.MOST"), heap(" table()", " helpers.table()")]
SAME = {
    "a comment": [heap("# For people", "# For whom it may concern")],
    "docstrings": [heap('"""Take some."""', '"""Take more."""'), heap('        """Yield."""\n', "")],
    "layout": [heap("left: int = heap - taken", "left: int = (\n  heap - taken)")],
    "the annotation of a local": [heap("left: int =", "left =")],
    "annotations of arguments": [heap("do_move(self, heap, taken)", "do_move(self, heap: int, taken: int) -> int")],
    "an unused import": [heap("import shapes\n", "import shapes\nimport json\nfrom helpers import OTHER\n")],
    "an unused function": [heap("    return x\n", "    return x + 1\n")],
    "an unused function of a neighbour": [("helpers.py", "return OTHER", "return OTHER + 1")],
    "an unused constant": [heap("UNUSED = 3", "UNUSED = 4"), ("helpers.py", "OTHER = 9", "OTHER = 10")],
    "a method for people": [heap("self.bar(heap) + shapes.bar(heap)", '"heap"')],
    "a method that only those use": [heap('"|" * heap', '"/" * heap')],
    "a neighbour's function that only those use": [("shapes.py", '"-" * number', '"=" * number')],
    "a new method for people": [heap("    def bar(", '    def write(self, heap):\n        return "x"\n\n    def bar(')],
    "an example": [heap("    ends = 0", '    ends = 0\n    example = "size=3"')],
    "the order of methods": [
        heap(DO_MOVE, ""),
        heap("    # For people", DO_MOVE + "    # For people"),
    ],
    "the order of functions": [
        ("helpers.py", "def entries():\n    return range(1, 1 + 3)\n", ""),
        ("helpers.py", "MOST = 3", "def entries():\n    return range(1, 1 + 3)\n\nMOST = 3"),
    ],
    "a constant that is spelled otherwise": [("helpers.py", "MOST = 3", "MOST = 1 + 2")],
    "functions through their module": [heap(IMPORT, "import helpers\n"), *THROUGH_MODULE],
    "functions through their module by another name": [
        heap(IMPORT, "import helpers as h\n"),
        *((name, old, new.replace("helpers", "h")) for name, old, new in THROUGH_MODULE),
    ],
    "functions by other names": [
        heap(IMPORT, "from helpers import MOST as M, least as lesser, table as entries\n"),
        *(heap("least(", "lesser("), heap("<= MOST", "<= M"), heap(" table()", " entries()")),
    ],
    "functions by way of another module": [heap(IMPORT, "from shapes import *\n"), ("shapes.py", "OTHER", "*")],
    "imports where they are used": [
        heap(IMPORT, ""),
        heap("        for taken in", "        from helpers import MOST, least\n        for taken in"),
        heap("return table()", "from helpers import table\n        return table()"),
    ],
    "modules where they are used": [
        *(heap(IMPORT, ""), heap("        for taken in", "        import helpers\n        for taken in")),
        *(heap("return table()", "import helpers\n        return helpers.table()"), *THROUGH_MODULE[:1]),
        heap("taken <= MOST", "taken <= helpers.MOST"),
    ],
    "an import at the top": [
        ("shapes.py", "from helpers import OTHER\n", "from deeper.steps import step\n"),
        ("shapes.py", "    from deeper.steps import step\n", ""),
    ],
    "a decorator through its module": [
        heap("from functools import cached_property", "import functools"),
        heap("@cached_property", "@functools.cached_property"),
    ],
    "the contract by its own module": [
        heap("from retrograde.games import", "from retrograde.games.contract.game import")
    ],
    "the contract through its module": [
        heap("from retrograde.games import LOSE, UNDECIDED, Game", "from retrograde.games import game"),
        *(heap("(Game)", "(game.Game)"), heap("LOSE if", "game.LOSE if")),
        heap("else UNDECIDED", "else game.UNDECIDED"),
    ],
    "what is done when it is run as a program": [heap("UNUSED = 3", 'if __name__ == "__main__":\n    print(SIZES)')],
}
OTHERS = {
    "a rule": [heap("left: int = heap - taken", "left: int = heap - taken - 0")],
    "a table": [heap("return table()", "return table()[1:]")],
    "the check of options": [heap("> 1000", "> 1001")],
    "a default": [heap("size: int = 10", "size: int = 11")],
    "the type of an option": [heap("fast: bool = False", "fast: int = False")],
    "the name of an option": [heap("fast: bool", "quick: bool")],
    "the order of options": [heap("    size: int = 10\n", ""), heap("False\n", "False\n    size: int = 10\n")],
    "a constant of the class": [heap("ends = 0", "ends = 1")],
    "a constant of a neighbour": [("helpers.py", "MOST = 3", "MOST = 2")],
    "a constant at the end of a chain": [("deeper/steps.py", "step = 1", "step = 2")],
    "an argument's default": [("helpers.py", "least(first, second)", "least(first, second=0)")],
    "a function": [("helpers.py", "first < second", "first <= second")],
    "what a function uses": [("helpers.py", "1 + 3", "1 + 4")],
    "a list": [heap("SIZES = [1, 2]", "SIZES = [1, 2, 3]")],
    "what is done to a list": [heap("SIZES.append(3)", "SIZES.extend((3, 4))")],
    "a new rule": [heap("    # For", "    def images(self, heap):\n        yield heap\n\n    # For")],
    "a method for people that a rule calls": [
        heap("left: int = heap - taken", "left: int = heap - taken + len(self.show(0))"),
    ],
    "another function of that name": [heap(IMPORT, IMPORT + "\n\ndef least(first, second):\n    return first\n")],
    "a rule that is exchanged later": [heap("def unused(x):", "Heap.ends = 2\n\n\ndef unused(x):")],
    "a list that is changed later": [heap("def unused(x):", "print(Heap.__name__)\n\n\ndef unused(x):")],
    "a function that is wrapped later": [heap("UNUSED = 3", "least = max")],
    "a value by another function": [heap("heap == self.ends", "heap != self.ends")],
}


@pytest.mark.parametrize("edits", SAME.values(), ids=SAME)
@pytest.mark.parametrize("contract", [False, True], ids=["rules", "with contract"])
def test_the_digest_stays(digest_of, edits, contract):
    assert digest_of(*edits, contract=contract) == digest_of(contract=contract)


@pytest.mark.parametrize("edits", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("contract", [False, True], ids=["rules", "with contract"])
def test_the_digest_changes(digest_of, edits, contract):
    assert digest_of(*edits, contract=contract) != digest_of(contract=contract)


HINT = "    def estimate(self, heap):\n        return self.distance_to(4)\n\n    # For"
HELPER = "    def distance_to(self, other):\n        return 3 - other\n\n"


def test_a_hint_makes_no_other_rules_and_other_machine_code(digest_of):
    """What a game estimates decides nothing that is kept, but it is compiled."""
    hinted = [heap("    # For", HELPER + HINT)]
    assert digest_of(*hinted) == digest_of()
    assert digest_of(*hinted, contract=True) != digest_of(contract=True)
    other = [*hinted, heap("return 3 - other", "return 5 - other")]
    assert digest_of(*other) == digest_of()
    assert digest_of(*other, contract=True) != digest_of(*hinted, contract=True)


SHOWN = [heap("left: int = heap - taken", "left: int = heap - taken + len(self.show(0))")]


def test_what_rules_use_of_what_is_for_people_counts(digest_of):
    assert digest_of(*SHOWN, heap('"|" * heap', '"/" * heap')) != digest_of(*SHOWN)
    assert digest_of(*SHOWN, ("shapes.py", '"-" * number', '"=" * number')) != digest_of(*SHOWN)


HANDED_ON = [("helpers.py", "def table():", "def table(game):"), heap("return table()", "return table(self)")]


def test_what_a_function_asks_of_the_game_counts(digest_of):
    asks = [*HANDED_ON, ("helpers.py", "tuple(entries())", "tuple(entries()) + (len(game.bar(2)),)")]
    assert digest_of(*asks) != digest_of(*HANDED_ON)
    assert digest_of(*asks, heap('"|" * heap', '"/" * heap')) != digest_of(*asks)
    assert digest_of(*HANDED_ON, heap('"|" * heap', '"/" * heap')) == digest_of(*HANDED_ON)


DYNAMIC = [heap("return table()", 'return table() + (len(getattr(self, "ba" + "r")(1)),)')]


def test_where_names_are_looked_up_as_rules_run_all_counts(digest_of):
    assert digest_of(*DYNAMIC, ("deeper/steps.py", "step = 1", "step = 2")) != digest_of(*DYNAMIC)
    assert digest_of(*DYNAMIC, heap('"|" * heap', '"/" * heap')) != digest_of(*DYNAMIC)
    assert digest_of(*DYNAMIC, heap("# For people", "# For you")) == digest_of(*DYNAMIC)


def test_an_error_of_the_contract_is_the_same_by_whatever_way(digest_of):
    raising = [heap("raise ValueError", "raise VariantError")]
    one = [*raising, heap("from retrograde.games import LOSE", "from retrograde.games import VariantError, LOSE")]
    other = [
        *raising,
        heap("import shapes\n", "import shapes\nfrom retrograde.games.contract.game import VariantError\n"),
    ]
    for contract in (False, True):
        assert digest_of(*one, contract=contract) == digest_of(*other, contract=contract)


@pytest.mark.parametrize("contract", [False, True])
def test_a_decorator_of_the_class_counts(digest_of, contract):
    decorated = [
        heap("class Heap", "@changed\nclass Heap"),
        heap("UNUSED = 3", "def changed(cls):\n    cls.ends = 3\n    return cls"),
    ]
    assert digest_of(*decorated, contract=contract) != digest_of(contract=contract)
    assert digest_of(*decorated, heap("cls.ends = 3", "cls.ends = 4")) != digest_of(*decorated)


DERIVED = '''

class Base(Game):
    """Rules."""

    def tier(self, heap):
        return self.rise(heap)

    def rise(self, heap):
        return -heap

    def fall(self, heap):
        return heap
'''


def test_rules_of_classes_that_a_game_is_derived_from_count(digest_of):
    derived = [
        ("helpers.py", "MOST = 3", "from retrograde.games import Game\n\nMOST = 3\n" + DERIVED),
        heap("(Game)", "(Base)"),
        heap(IMPORT, IMPORT + "from helpers import Base\n"),
        heap("return len(SIZES) *", "return super().tier(heap) + len(SIZES) *"),
    ]
    assert digest_of(*derived, ("helpers.py", "return -heap", "return 1 - heap")) != digest_of(*derived)
    assert digest_of(*derived, ("helpers.py", "self.rise(heap)", "self.fall(heap)")) != digest_of(*derived)
    without = [*derived, heap("super().tier(heap) + ", "")]
    assert digest_of(*without, ("helpers.py", "self.rise(heap)", "self.fall(heap)")) == digest_of(*without)


def test_all_that_the_contract_has_for_people_is_named_there():
    """A method that is added to the contract is a rule, or it is in that list."""
    rules = {"start", "generate_moves", "do_move", "primitive", "images", "tier", "parents", "canonical"}
    rules |= {"index", "unindex", "parts", "family", "multiplicity"}
    rules |= {"players", "turn", "odds", "payoff", "reward", "metric", "starts"}
    members = {name for name in {*vars(Game), *Game.__annotations__} if not name.startswith("__")}
    others = HINTS | KEEPING | CLOCK
    assert members - rules <= FOR_PEOPLE | others
    assert not rules & (FOR_PEOPLE | others) and not FOR_PEOPLE & others
    assert members >= others
    assert FOR_PEOPLE - members == {"pgn"}


# Games that are built in

RULES = {
    "awari": "4ead050c0314a4bae47925d443a2dec1",
    "baghchal": "54d8d86e30fef81ca5b72809030de24a",
    "bearoff": "f49bb2c0a4320557d12753c4bd09daec",
    "cantstop": "93d463a8a732eb2b5bae4d761c7cf66b",
    "chess": "5b9fb73ee85ad506c3c656f9102e8ce3",
    "chutes": "90466135801693fb2ea7fb19f82f757e",
    "connect4": "000d34f0c8c19cc1204955309fcaffa2",
    "cram": "dd226c41643751c25441c643bd76f837",
    "dobutsu": "bfc37265c25f2176b69b31fdfc2e5690",
    "dodgem": "4a0540fc60f672e2e6b3c1bfee8809a9",
    "domineering": "2fd9382ac1187fef496f9cf5fa2e6094",
    "dotsandboxes": "020fb21f347647f3ba8f0c1e8655f13d",
    "draughts": "857edf9b070200855b599bdb3abc8fa3",
    "eightpuzzle": "6cd2e64ab62a804ea00690278f548829",
    "fanorona": "896fd6f71152199b7cc876de5781846b",
    "foxandhounds": "3c88833614e559616dcd8849952571cb",
    "game2048": "42fb5fbc61993234b012ca608a61f609",
    "grundy": "16b0bdaffbc95b9772488fdf6d70751d",
    "hanoi": "486a94df1254620561343229092ba680",
    "hareandhounds": "7b7d24abf40cda73969cd1697e816f3a",
    "hexapawn": "4e9c019c464a164e17431df286939197",
    "kalah": "423c83b05cd69af14b0d55d9f37ef54d",
    "klotski": "c85b0095d64e7c5658c0ed107c7fb436",
    "lasker": "44fae3bb898b4ed2444193ef544d97c8",
    "lgame": "1d41f28bb87db6e567cd0e2ef1971e47",
    "lightsout": "472008e609167d6f057bf7061cff956d",
    "morris": "896a3cc4677d0654ebd3525a3e731995",
    "mutorere": "b42892da2880104270cae475405f828c",
    "nim": "4b5cde62e2cef2563dae26feb165155b",
    "nim3": "de7f98b07940dcc03d0379d3f372d45a",
    "octal": "6dbdfbef25d30a4e7f1d729ad027af37",
    "othello": "78012325a44e9bf3e68dbb77464de5e3",
    "pegsolitaire": "077fe3cfc7d8d904d3190ddc50558a52",
    "pig": "6ef31df6dcb13441e2424932dd0f622c",
    "piglet": "72d74db3a83831c941dec5b92eeec8c6",
    "pocketcube": "965c8e2b71cab7ef31d4791f713e1d76",
    "quixo": "10d4e98a4014ffade43ece332f025b0e",
    "sim": "a17a2e4f35db6a4f85a7aa1169a93425",
    "teeko": "76fa0ef7d53449ef74405fe30a7f5676",
    "tentozero": "9a91df923ce0ba6d77b9623c34070c84",
    "tictactoe": "b9686f2c7f91a140a63e01130552e9de",
    "tictactoe3": "9a222aa91e58389ba19bda1147b9c999",
    "ur": "f7312f3dc15f70841e168988e1d968cf",
    "yahtzee": "da4b4ff340fd54b2d63c88806d0e07ae",
}


@pytest.mark.parametrize("name", RULES)
def test_databases_of_today_are_known_by_the_digest_they_have(name):
    """In every version of Python: a change of how the digest is taken makes all databases useless."""
    assert rules_digest(game_class(name)) == RULES[name]


RULES_BEFORE = {
    "ur": ["284ced0aa01f78c021dff487e39d6d9b"],
    "octal": ["a11a006073957839d23ab4e4425a1184"],
    "grundy": ["8ca48b18a32d1ff8c39194d20a1487a7"],
    "game2048": ["e1e69e4a309a13ca0c606fc925eba6c5"],
    "draughts": [
        "dd2edb7c687ccb53f9288bb6ea92210a",
        "076c463438368c8926fe3bf172ef2a23",
        "c114ff8d54ae57d2ffbbed4be4091e25",
    ],
    "cram": ["44366a82596352119082cec422795beb"],
    "awari": ["9728032e1426b4001f47e9b09406a2e1"],
    "baghchal": ["e28f01fd790a16baf25f354f1541897c"],
    "dobutsu": ["1d020cadee7fa46247ade64a65199333", "197ab1bb214dc4d782966c3cd932b5a9"],
    "dodgem": ["c1414467230caf26659fd2f12f167503", "6f20849d8b2354151595d7c53ead52cd"],
    "hexapawn": ["45f538de117644a3e443f7e6c899834d"],
    "lasker": ["12347d5ee412b7122ea3a061a76157d1"],
    "morris": ["edc00231df2e6b3ad320decff15202f5"],
    "othello": [
        "178fdb317b8f972c61e9beb67833da3f",
        "a32af0f11d5c504c8d25b7eaca0ee0aa",
        "a9f3b867dd5764475f3db8e3d40d350e",
    ],
    "quixo": ["d072f343672e1d663cf4921c03d53cb9"],
    "teeko": ["a59d3f8aff521bd73f298f160f774280"],
    "tictactoe": ["a6aeea55cdd381bc64ae56ace66818d3", "5e7ff4cdf150ec59299618c233f13644"],
}
"""What that digest was of games before base classes and fields had what is alike."""


@pytest.mark.parametrize("name", RULES_BEFORE)
def test_databases_of_games_with_base_classes_are_known_by_the_digests_they_had(name):
    digest = rules_digest(game_class(name))
    assert all(is_digest_of(known, digest) for known in [*RULES_BEFORE[name], RULES[name]])
    others = [known for other in RULES_BEFORE if other != name for known in RULES_BEFORE[other]]
    assert not any(is_digest_of(known, digest) for known in others)


NUMBERINGS_BEFORE = {
    "ur:4": "4cd7fad8054725aaa9b915813ce150e0",
    "draughts:4": "07190082e92cbafc074dbf6491b64b2f",
    "draughts": "7a2f1c8d3242e508b8f350fe113595b2",
}
"""What the digest of numbering and hints was, before both became faster."""


@pytest.mark.parametrize("variant", NUMBERINGS_BEFORE)
def test_databases_and_weights_are_known_by_the_numbering_that_they_had(variant):
    digest = numbering_digest(load(variant))
    known = [other for other, before in NUMBERINGS_BEFORE.items() if is_digest_of(before, digest)]
    assert known == [variant]


def test_books_of_draughts_are_known_by_the_rules_that_they_had():
    assert is_digest_of("16085a4e681a9993002105fce08c9a57", rules_digest(load("draughts")))


def test_what_is_for_people_is_not_even_imported():
    program = """if True:
        import sys
        from retrograde.games.catalog import game_class, rules_digest
        rules_digest(game_class("chess"))
        rules_digest(game_class("connect4"))
        print(sorted(name for name in sys.modules if name.rpartition(".")[2] in ("fen", "san", "pgn", "drawing")))
    """
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


def test_an_environment_in_the_folder_of_a_rule_file_is_none_of_its_rules():
    """Where a folder is above Python's own, as a home often is."""
    assert is_source_below(str(Path(ast.__file__).resolve()), Path(ast.__file__).resolve().parent)
    assert not is_source_below(str(Path(ast.__file__).resolve()), Path(ast.__file__).resolve().parents[1])
    assert not is_source_below(np.__file__, Path(sys.prefix).resolve().parent)
    assert is_source_below(str(ROOT / "games" / "chess" / "men.py"), ROOT / "games")


# Sources as they were when they were imported


def written(folder, **files):
    """Write the rules of the heap to a folder, some files otherwise, and return the path of the game."""
    for name, text in (FILES | {f"{name}.py": text for name, text in files.items()}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder / "heap.py"


@pytest.mark.parametrize("change", ["write_text('nonsense')", "unlink()", "rename(Path(__file__).with_suffix('.old'))"])
@pytest.mark.parametrize("file", ["heap", "helpers"])
def test_a_module_that_changes_its_file_is_digested_as_what_runs(tmp_path, digest_of, change, file):
    text = FILES[f"{file}.py"] + f"\nfrom pathlib import Path\nPath(__file__).{change}\n"
    path = written(tmp_path / "changing", **{file: text})
    cls = game_class(str(path))
    now = path.with_name(f"{file}.py")
    assert not now.exists() or now.read_text() == "nonsense"
    assert rules_digest(cls) == digest_of()
    assert list(cls().generate_moves(10)) == [1, 2, 3]


def test_a_file_that_is_edited_while_its_rules_run_does_not_change_their_digest(tmp_path, digest_of):
    path = written(tmp_path / "edited")
    cls = game_class(str(path))
    for name in ("heap", "helpers", "shapes"):
        path.with_name(f"{name}.py").write_text("nonsense(")
    assert rules_digest(cls) == digest_of()


def test_neighbours_of_one_name_in_two_folders_are_told_apart(tmp_path, digest_of):
    """Both in one process: neither the rules nor the digest of one are taken for those of the other."""
    one = game_class(str(written(tmp_path / "one")))
    other = game_class(str(written(tmp_path / "other", helpers=HELPERS.replace("MOST = 3", "MOST = 2"))))
    assert list(one().generate_moves(10)) == [1, 2, 3]
    assert list(other().generate_moves(10)) == [1, 2]
    assert rules_digest(one) == digest_of()
    assert rules_digest(other) == digest_of(("helpers.py", "MOST = 3", "MOST = 2"))


@pytest.mark.parametrize("heap_text", [GAME, GAME + "# edited\n"], ids=["the neighbour alone", "both"])
def test_a_neighbour_that_was_edited_is_read_anew(tmp_path, digest_of, heap_text):
    path = written(tmp_path / "first")
    before = game_class(str(path))
    assert game_class(str(path)) is before
    written(tmp_path / "first", helpers=HELPERS.replace("MOST = 3", "MOST = 2"), heap=heap_text)
    after = game_class(str(path))
    assert rules_digest(after) == digest_of(("helpers.py", "MOST = 3", "MOST = 2"))
    assert list(after().generate_moves(10)) == [1, 2]
    assert rules_digest(before, True) == digest_of(contract=True)
    assert list(before().generate_moves(10)) == [1, 2, 3]


@pytest.mark.parametrize("end", ["raise SystemExit(3)", "exit()", "1 / 0", "import no_such_module", "yield 3"])
def test_a_module_that_does_not_come_to_its_end_is_named(tmp_path, end):
    path = written(tmp_path / "broken", heap=GAME + end + "\n")
    for _ in range(2):
        with pytest.raises(VariantError, match=rf"heap\.py, line {len((GAME + end).splitlines())}: "):
            game_class(str(path))


LONG = [pytest.param(name, marks=pytest.mark.slow) for name in ("dodgem", "hareandhounds")]


@pytest.mark.parametrize("name", ["connect4", *LONG])
@pytest.mark.long
def test_every_number_in_every_rule_counts_and_none_in_what_is_for_people(tmp_path, name):
    """Rules with one number changed are other rules, unless it is in a method that none of them reaches."""
    lines = (ROOT / "games" / f"{name}.py").read_bytes().splitlines(keepends=True)

    def digest(number, text):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / f"{name}.py").write_bytes(text)
        return rules_digest(game_class(str(folder / f"{name}.py")))

    original = digest(0, b"".join(lines))
    assert original == RULES[name]
    for number, (owner, node) in enumerate(numbers_in(ast.parse(b"".join(lines))), 1):
        line = lines[node.lineno - 1]
        changed = line[: node.col_offset] + str(node.value + 1).encode() + line[node.end_col_offset :]
        text = b"".join([*lines[: node.lineno - 1], changed, *lines[node.lineno :]])
        # `board` is a number in these games, and rules use it. Only a hint uses `even_rows` and `in_a_row`.
        for_hints = {"even_rows", "in_a_row"}
        decides_nothing = owner in (FOR_PEOPLE | HINTS | CLOCK | for_hints) - {"board"}
        try:
            is_same = digest(number, text) == original
        except VariantError:  # the changed file cannot be imported
            is_same = False
        assert is_same == decides_nothing, (owner, changed)


def numbers_in(tree):
    """Yield all numbers in a syntax tree, with the name of the member of a class that each is in, if it is in one."""
    for statement in tree.body:
        for member in statement.body if isinstance(statement, ast.ClassDef) else [statement]:
            for node in ast.walk(member):
                if isinstance(node, ast.Constant) and type(node.value) is int:
                    yield getattr(member, "name", None), node


def test_sources_are_parsed_for_one_thread_at_a_time():
    """Two at once may end in an error of CPython."""
    for package in ("games", "databases", "solver", "cli"):
        for file in (ROOT / package).rglob("*.py"):
            lines = [
                line for line in file.read_text("utf-8").splitlines() if "ast.parse(" in line and ">>>" not in line
            ]
            assert not lines or file.name == "syntax.py", file
