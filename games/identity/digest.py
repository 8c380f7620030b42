"""The digest of a game's rules. It stays equal as long as the rules do, whatever comments, layout and presentation do.

The digest covers what decides the game: the members of its class that are rules, and everything that these use, in the
class, in the modules beside it, and in its base classes. Each thing reached gets a number, in the order in which it is
found (`reach.py`). Its statements become nested tuples (`normal_form.py`), which refer to other things by their
numbers. So names of functions, their places and the way of importing them do not matter. Constants count by value.
Things from elsewhere (Python, numpy, the contract) count by name. The digest is a hash of all the tuples::

    members of the class --> [0] tuples of a member, [1] …     in these tuples:  ("Member", "tier", 1)
    what these mention   --> [7] tuples of a function, [8] …                     ("Global", 7)

If a rule looks up names at run time (`getattr`, `globals`), the source does not say what it reaches. Then the digest
covers whole modules.
"""

from functools import cache, partial
from hashlib import sha256
from types import ModuleType
from typing import Any
from uuid import uuid4

from retrograde.games.contract.game import Game
from retrograde.games.contract.snapshot import BESIDE, has_source, loaded_neighbours, source_of
from retrograde.games.identity.definitions import Dynamic
from retrograde.games.identity.digest_cache import cached_digest
from retrograde.games.identity.reach import CONTRACT, HandedOn, Trace
from retrograde.games.identity.whole_modules import rule_modules, tree_of, whole_modules

__all__ = ["is_digest_of", "numbering_digest", "record_rules", "rule_modules", "rules_digest"]

SAME_RULES = {
    "b9686f2c7f91a140a63e01130552e9de": {  # tic-tac-toe
        "a6aeea55cdd381bc64ae56ace66818d3",
        "5e7ff4cdf150ec59299618c233f13644",
    },
    "78012325a44e9bf3e68dbb77464de5e3": {  # Othello
        "178fdb317b8f972c61e9beb67833da3f",
        "a32af0f11d5c504c8d25b7eaca0ee0aa",
        "a9f3b867dd5764475f3db8e3d40d350e",
    },
    "4a0540fc60f672e2e6b3c1bfee8809a9": {  # dodgem
        "c1414467230caf26659fd2f12f167503",
        "6f20849d8b2354151595d7c53ead52cd",
    },
    "4e9c019c464a164e17431df286939197": {"45f538de117644a3e443f7e6c899834d"},  # hexapawn
    "a11749820308779f6878405cb45dc9bf": {"1bab868fbbd5e38a021e1c04559394e9"},  # Breakthrough
    "bfc37265c25f2176b69b31fdfc2e5690": {  # dōbutsu shōgi
        "1d020cadee7fa46247ade64a65199333",
        "197ab1bb214dc4d782966c3cd932b5a9",
    },
    "5b9fb73ee85ad506c3c656f9102e8ce3": {  # chess with five men
        "e9512ef49b1b837c1d296ed12a9d407c",
        "1580cc4020dbc1128c7a3e93b318353e",
    },
    "54d8d86e30fef81ca5b72809030de24a": {"e28f01fd790a16baf25f354f1541897c"},  # bagh-chal
    "44fae3bb898b4ed2444193ef544d97c8": {"12347d5ee412b7122ea3a061a76157d1"},  # Lasker morris
    "896a3cc4677d0654ebd3525a3e731995": {"edc00231df2e6b3ad320decff15202f5"},  # men's morris
    "10d4e98a4014ffade43ece332f025b0e": {"d072f343672e1d663cf4921c03d53cb9"},  # Quixo
    "76fa0ef7d53449ef74405fe30a7f5676": {"a59d3f8aff521bd73f298f160f774280"},  # Teeko
    "077fe3cfc7d8d904d3190ddc50558a52": {"4f52a3cfc333182035fd82b26ae196c2"},  # peg solitaire
    "4ead050c0314a4bae47925d443a2dec1": {"9728032e1426b4001f47e9b09406a2e1"},  # awari
    "dd226c41643751c25441c643bd76f837": {"44366a82596352119082cec422795beb"},  # cram
    "857edf9b070200855b599bdb3abc8fa3": {
        "c114ff8d54ae57d2ffbbed4be4091e25",
        "dd2edb7c687ccb53f9288bb6ea92210a",
        "076c463438368c8926fe3bf172ef2a23",
    },  # draughts endings
    "046bbe7dc7a5afba3fba4dce55768662": {
        "baa830d421205963bc7f041e60cad0de",
        "d9233d3c791ecaac589c079fae54a5fb",
    },  # mnk
    "22c643959e4cbba84b7072994b4070fd": {
        "8b34bfd702f8afd46359d8fb977fa9fb",
        "df37421be29532e6ae99dce01ad41cc1",
    },  # Order and Chaos
    "ea4366a65a907091d24775fc27bda2e7": {"a5e2116c98136534bb8d62b0ac9b993a"},  # Qubic
    "42fb5fbc61993234b012ca608a61f609": {"e1e69e4a309a13ca0c606fc925eba6c5"},  # 2048
    "6dbdfbef25d30a4e7f1d729ad027af37": {"a11a006073957839d23ab4e4425a1184"},  # octal games
    "16b0bdaffbc95b9772488fdf6d70751d": {"8ca48b18a32d1ff8c39194d20a1487a7"},  # Grundy's game
    "5b54774d9e992bc6db1bc71bdb2d881e": {"16085a4e681a9993002105fce08c9a57"},  # draughts from the start
    "458dbbd966a79b2eea125ddd179f8224": {"7a2f1c8d3242e508b8f350fe113595b2"},  # its features
    "90f7044fdb29cdfc18db1a1b180a646c": {"07190082e92cbafc074dbf6491b64b2f"},  # the features of draughts endings
    "f7312f3dc15f70841e168988e1d968cf": {"284ced0aa01f78c021dff487e39d6d9b"},  # the Royal Game of Ur
    "640c3394bcd5958f4036d8fcac4b3163": {"4cd7fad8054725aaa9b915813ce150e0"},  # its numbering
    "000d34f0c8c19cc1204955309fcaffa2": {"a230433835d8dcd5b24dd897f633e3dd"},  # Connect Four
    "a6244f32ca35e10fe290783169533eb4": {
        "5fa0332f01b8af8e25cde0a9f91b2f17",
        "3cad13b87d535310b44f9a67261a1fe4",
    },  # Connect Four on large boards
    "a146230e0fa233c529c9acdabf55f74d": {"bb2bd2778f83fb47d69f84b24ca65b82"},  # Pop Out
    "8f33d3f818f0f16be72980076f8cc134": {"7cc47d40226f0e9cbc2f760ec6d09cfc"},  # Sokoban
    "f3d9f1196ca320568275bb8809cc71ca": {"7f25f7ec27604091ec1cc2d0699b3360"},  # Rush Hour
    "fdd82eb15520f5083ec231bd5ecbf3a0": {"be05e6dc187391e1bf9cc6a919f67655"},  # Guarini's puzzle
    "ff9160eec0fb37b51c1702da2dec81bc": {"7fb3c2834b323df89908dd32cb67a762"},  # Dudeney's bishops
    "f7f502169e71d141290796214021056c": {"013d95526d34a70f7bde28b8279a478c"},  # game trees
}
"""For the current digest of some of our rules, the digests of earlier versions with the same positions and values.
The same for digests of numberings and features, if slots stand for the same positions and estimates are equal.

Databases made with the earlier versions stay in use.
"""


def rules_digest(game: Game | type[Game], contract: bool = False) -> str:
    """Return a hex digest of the rules; with *contract*, also of the contract's module and of the hints."""
    cls: Any = game if isinstance(game, type) else type(game)  # Any: mypy thinks that classes cannot be hashed
    return class_digest(cls, contract)


def numbering_digest(game: Game) -> str:
    """Return a hex digest of the numbering of a game with chance, and of its hints."""
    return digest_of(what_is_reached(type(game), hints=True))


def digest_of(found: Any) -> str:
    """Return a hex digest of nested tuples, 32 digits long."""
    return sha256(repr(found).encode()).hexdigest()[:32]


def is_digest_of(stored: str, digest: str) -> bool:
    """Return whether a digest *stored* in a database is that of rules with this *digest*, or of an earlier version.

    The digest may also be that of a numbering.
    """
    return stored == digest or stored in SAME_RULES.get(digest, ())


@cache
def class_digest(cls: type[Game], contract: bool) -> str:
    """Return the digest of a class: of its rules, or with *contract* also of the contract's module and the hints. It is
    cached: imported rules do not change with their file."""
    if not has_source(cls):
        return uuid4().hex  # no other process can have the same rules
    if contract:
        return cached_digest(cls, "with contract", partial(digest_with_contract, cls))
    return cached_digest(cls, "rules", lambda: digest_of(what_is_reached(cls)))


def digest_with_contract(cls: type[Game]) -> str:
    """Return the digest of a class with the contract's module and the hints."""
    return digest_of((rules_digest(cls), tree_of(source_of(CONTRACT)), what_is_reached(cls, hints=True)))


def what_is_reached(cls: type[Game], hints: bool = False) -> Any:
    """Return all that the rules of a class (with *hints*, its hints) reach, as nested tuples, or whole modules."""
    try:
        try:
            return Trace(cls, False, hints).run()
        except HandedOn:
            return Trace(cls, True, hints).run()
    except Dynamic:
        return whole_modules(cls)


def record_rules(module: ModuleType) -> None:
    """Compute the digests of the rules of a module just imported, which imports every module that they use. Then record
    the modules beside it as they are now: later edits of their files do not change these rules."""
    for value in list(vars(module).values()):
        if isinstance(value, type) and issubclass(value, Game) and value.__module__ == module.__name__:
            rules_digest(value)
    vars(module)[BESIDE] = loaded_neighbours()
