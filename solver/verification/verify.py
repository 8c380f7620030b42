"""Verification: derives every stored outcome again from the outcomes stored for the children.

The methods and loops here are not those of the solver, except where this page says so. Children are looked up in the
database and nowhere else. One driver (`verifier.py`) and one compiled loop (`kernels.py`) serve databases of all kinds:
records, slots and steps. These differ only in how a child is looked up. For other metrics than remoteness, see
`metrics.py` and `expectation.py`; for certificates, `certificates.py`.

What is verified:

1. The start, or each of several starts, is stored. All children of stored positions are stored. Nothing is stored that
   play does not reach.
2. Each position is canonical and stored in its tier.
3. Each outcome follows from the children's outcomes by definition (for the player to move):

       the rules give a value     WIN, LOSE or TIE in 0, or DRAW
       a child is LOSE            WIN in 1 + the least remoteness of such children
       else, a child is TIE       TIE in 1 + the least remoteness of such children
       else, a child is DRAW      DRAW
       else, all are WIN          LOSE in 1 + the greatest remoteness of the children

   If the same player moves again after a move, the child's LOSE and WIN change places: its value is that player's own.

4. If a position is stored for several images, rule 3 gives the same outcome at one of these images, by the image's own
   moves. The position is the canonical position of that image, and the game is over at both or at neither. Every child
   reached, from positions and from images, is an image of what is stored for it.
5. The counts of the legend are right.

Why rule 3 proves the whole although it looks one move ahead. A position stored as WIN or LOSE in n rests, by rule 3, on
children stored with less than n, and these on their children, down to ends of the game. By induction on n, each of
these claims can be played out in at most n plies. Conversely, a position that is truly WIN or LOSE in n is stored as
such: by induction its children of n - 1 plies and less are stored correctly, and then rule 3 leaves no other outcome,
nor less than n. So exactly the true WIN and LOSE positions are stored as such, with their true remoteness. For the
other positions, the same two inductions prove TIE. Only DRAW rests on nothing and could support itself in a circle. But
all positions that are not a DRAW are stored correctly, so those stored as DRAW are the rest, as the definition says. In
one sentence: only the true solution satisfies rule 3 everywhere.

Distances to zeroing (metric dtz) and to conversion (dtc) are verified alike. After a move that zeroes, a child's plies
count as 0, or as 100 if there are more than 100. For dtc they count as 0 after a move to another tier. A claim then
rests on others with fewer plies, or on positions behind a move that can never be taken back. There are finitely many
such moves, and the induction goes over them first.

What this rests on, and what it leaves open:

- **The rules** are those given, and always answer the same. No check can find out whether they are the rules of the
  game that their name promises.
- **Symmetry.** Rule 3 must hold at every position that play reaches, and only canonical ones are stored. If no position
  has more than one image besides itself, as in Connect Four, point 4 checks them all: every position that play reaches
  is stored or is the image of a stored one, and the proof is complete. If there are more images, one of each position,
  chosen by the position, stands for the others. Images that are no symmetry of the game show at nearly every record. A
  fault at single images of single positions may be missed, unless *all_images* checks all of them. If the rules give
  the number of images by `multiplicity`, that number is checked at every position.
- **The compiler.** Small databases are verified interpreted. Larger ones are verified by compiled loops, on threads,
  with 11 to 12 bytes of memory for each record; a sample of their records is verified interpreted as well. Except for
  that sample, numba is trusted to compile the loops correctly, and the rules if they compile.
- **Slots.** If the rules number the positions densely, points 1 and 2 become: every slot that stands for a position
  stands for a canonical one that has this slot, and all children have slots that stand for positions. Whether play
  reaches them does not matter. That a child's slot belongs to the child, or to an image of it, is checked at one child
  of each position and of each image (interpreted: at all children).
- **Steps.** If the database holds steps and no positions, the solver's forward pass lists all positions again. These
  lists are not trusted: each position of a list must be the child of one in the lists before, and each child must be in
  a list or be a position where the game is over. By induction from the start, the lists hold exactly what play reaches
  (see `steps.py`). One thing is left to the solver's code: the forward pass alone counts the positions where the game
  is over, for each row of the legend. Reader and writer share the code that decides which bits of a position make its
  rank (`databases/encoding.py`).
- **The file** is read with the reader that everybody uses. What that reader returns is what is verified.
"""

from retrograde.databases import Database
from retrograde.databases.bounds.read import BoundsReader
from retrograde.databases.slots.database import SlotsDatabase
from retrograde.databases.steps.read import StepsReader
from retrograde.games.contract.game import RetrogradeError
from retrograde.games.contract.zeroing import PROGRESS_METRICS
from retrograde.solver.metrics.models.model import Model
from retrograde.solver.runtime.progress import Listener
from retrograde.solver.verification.records import RecordsVerifier
from retrograde.solver.verification.slots import SlotsVerifier
from retrograde.solver.verification.steps import StepsVerifier
from retrograde.solver.verification.verifier import Verification, Verifier


class NoImageCheck(RetrogradeError, ValueError):
    """The caller wants *all_images* of a database whose images are not verified."""


def verifier_of(database: Database, model: Model | None) -> Verifier:
    """Return the verifier for a kind of database."""
    contents = database.file.contents
    if isinstance(contents, BoundsReader):
        from retrograde.solver.verification.bounds import BoundsVerifier  # needs numba, which small databases do not

        return BoundsVerifier(database)
    if database.file.measures and database.metric not in PROGRESS_METRICS:
        if isinstance(database, SlotsDatabase):
            from retrograde.solver.verification.scores import ScoresVerifier

            return ScoresVerifier(database)
        from retrograde.solver.verification.measures import MeasuresVerifier

        return MeasuresVerifier(database, model)
    if isinstance(contents, StepsReader):
        return StepsVerifier(database)
    return SlotsVerifier(database) if isinstance(database, SlotsDatabase) else RecordsVerifier(database)


def verify(
    database: Database,
    workers: int | None = None,
    listener: Listener | None = None,
    *,
    interpreted: bool | None = None,
    model: Model | None = None,
    all_images: bool = False,
) -> Verification:
    """Derive every stored outcome again from those of the children, and report what is wrong.

    *workers* is the number of threads (None: one for each core). *listener* is called with Progress. *interpreted*
    forces the rules to run interpreted or, if False, compiled. If the database holds a best response, *model* is the
    opponent's model; None finds it by name, unless it is a function in a file. With *all_images*, outcomes are derived
    at every image of each position instead of one.

    Raises DamagedDatabase if the file cannot be read, and NoModel if the model is missing or has changed.
    """
    if all_images and database.file.measures and database.metric not in PROGRESS_METRICS:
        raise NoImageCheck(f"by {database.metric} no images are looked at; leave out --all-images")
    verifier = verifier_of(database, model)
    verifier.every_image = all_images
    return verifier.verify(workers, listener, interpreted)
