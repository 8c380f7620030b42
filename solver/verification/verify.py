"""Verification: every stored outcome derived anew from the outcomes stored for the children.

Nothing of the solver takes part but what is named below: the methods and the loops here are others, and children are
looked up in what the database holds, nowhere else. There is one audit (`audit.py`) and one compiled loop (`kernels.py`)
for databases of all kinds, records, slots and steps, which differ in how a child is looked up. Verified is

1. that the start, or each of several, is stored, all children of stored positions are, and nothing is that play does
   not reach;
2. that each position is canonical and stored in its tier;
3. that each outcome follows from the children's by definition (for the player to move):

       where the rules say so     WIN, LOSE or TIE in 0, or DRAW
       a child is LOSE            WIN in 1 + the least remoteness of such children
       else, a child is TIE       TIE in 1 + the least remoteness of such children
       else, a child is DRAW      DRAW
       else, all are WIN          LOSE in 1 + the greatest remoteness of the children

   (where the same player moves again after a move, LOSE and WIN of the child change places: its value is his own)

4. that the same outcome follows, by 3, at one image of each position that is stored for several, by that image's own
   moves; that the image is canonical to the position, and over as it is; and that every child met, at positions and at
   images, is an image of what is stored for it;
5. that the legend counts what there is.

Why 3, which looks at one move at a time, proves the whole. What is stored as WIN or LOSE in n rests, by 3, on children
stored with less than n, and they on theirs, down to ends of the game; by induction on n each of these claims can be
played out, in n plies at most. Conversely, a position that is truly WIN or LOSE in n is stored so: by induction its
children of n - 1 plies and less are stored as what they are, and then 3 leaves no other outcome, nor less than n. So
exactly the true WIN and LOSE are stored as such, with their true remoteness. Among the other positions the same two
inductions hold for TIE. Only DRAW rests on nothing, and could lean on itself in a circle; but all positions that are
not a DRAW have turned out to be stored as what they are, so those stored as DRAW are the rest, as by definition. In one
sentence: only the true solution satisfies 3 everywhere.

Distances to zeroing (the metric dtz) and to conversion (dtc) are verified alike: after a move that zeroes, the plies of
a child count as 0, or as 100 where there are more; and for dtc as 0 after a move to another tier. Then a claim rests on
others with less plies, or beyond a move that can never be taken back; there are only so many of these, and the proof by
induction goes over them first.

What this rests on, and what it leaves open:

- **The rules** are those given, and do the same whenever they are asked. Whether they are the rules of the game that
  their name promises no check can tell.
- **Symmetry.** 3 must hold at every position that play reaches, and only canonical ones are stored. Where no position
  has more than one image beside itself, as in Connect Four, 4 tries them all: every position that play reaches is a
  stored one or the image of one, by 4, so that the proof is complete. Where there are more, one of each, chosen by the
  position, stands for the others: images that are no symmetry of the game show at nearly every record, but what is
  wrong at single images of single positions may be missed, unless all are tried, with *all_images*. Where the rules
  tell by `multiplicity` how many images there are, that is held against their number at every position.
- **The compiler.** Small databases are verified interpreted. Larger ones run compiled, on threads, with 11 to 12 bytes
  of memory for each record, and some of their records are verified interpreted as well. That numba compiles rules to
  what they say is trusted, but for that sample.
- **Slots.** Where the rules number the positions densely, 1 and 2 become: every slot that stands for a position has one
  that is canonical and has that slot, and all children have slots that stand for positions; whether play leads there is
  no matter. That a child's slot is for the child itself, or for an image of it, is tried at one child of each position
  and of each image (interpreted: at all children).
- **Steps.** Where the database holds steps and no positions, the lists of all positions are made once more by the
  solver's forward pass, in a stream, and then not taken at their word: each position of a list must be the child of one
  in the lists before, and each child be in a list or a position where the game is over. By induction from the start the
  lists hold what play reaches, no more and no less (see `steps.py`; `lists.py` has all that is used of the solver). One
  thing is left to the solver's code: how many positions there are where the game is over, row by row of the legend,
  which that forward pass alone has counted. By which bits positions are squeezed to ranks is told by code that the
  reader and the writer share (`databases/encoding.py`).
- **The file** is read by the reader that everybody uses, and what is verified is what it gives.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass

from retrograde.databases import Database
from retrograde.databases.bounds.read import BoundsReader
from retrograde.databases.slots.database import SlotsDatabase
from retrograde.databases.steps.read import StepsReader
from retrograde.games.contract.game import RetrogradeError, defines
from retrograde.games.contract.zeroing import TO_PROGRESS
from retrograde.solver.metrics.models.model import Model
from retrograde.solver.metrics.models.names import model_of, refuse_another
from retrograde.solver.runtime.progress import Course, Listener, Phase, announce
from retrograde.solver.verification.audit import EQUAL, INTERPRETED_SECONDS, MOST_PROBLEMS, Audit, Problem
from retrograde.solver.verification.records import RecordAudit
from retrograde.solver.verification.slots import SlotAudit
from retrograde.solver.verification.steps import StepAudit

SMALL = 20_000
"""Databases of more records are compiled at once."""


class OneImage(RetrogradeError, ValueError):
    """A database of which images are not verified."""


@dataclass(frozen=True)
class Verification:
    """What came out: how many records and positions there are, the first problems, and how many there are in all.

    `proven` says in a sentence what holds if nothing is wrong, `rests_on` what that takes for granted.
    """

    variant: str
    stored: int
    positions: int
    wrong: int
    problems: list[Problem]
    proven: str = ""
    rests_on: str = ""

    @property
    def ok(self) -> bool:
        """Tell whether nothing is wrong."""
        return not self.wrong


def audit_of(database: Database) -> Audit:
    """Return the audit that fits a database."""
    contents = database.file.contents
    if isinstance(contents, StepsReader):
        return StepAudit(database)
    return SlotAudit(database) if isinstance(database, SlotsDatabase) else RecordAudit(database)


def verify_measures(database: Database, listener: Listener | None, model: Model | None) -> Verification:
    """Derive every stored measure anew, of a database of another metric than remoteness."""
    from retrograde.solver.verification.measures.recheck import (  # numba is not for small databases
        PROVEN,
        PROVEN_BY_SLOT,
        RESTS_ON,
        recheck,
    )

    announce(listener, "compiling the rules")
    file = database.file
    against = str(file.details.get("against", ""))
    with (model or model_of(database)) if against else nullcontext() as opponent:
        if opponent:
            refuse_another(database, opponent)
        wrong, findings = recheck(database, MOST_PROBLEMS, opponent)
    names = [database.game.write(place) if place is not None else "" for place, _ in findings]
    problems = [Problem(place, name, what) for (place, what), name in zip(findings, names, strict=True)]
    sentence = PROVEN_BY_SLOT if isinstance(file.contents, BoundsReader) else PROVEN
    proven = sentence.format(
        metric=f"{database.metric} against {against}" if against else database.metric,
        equal=EQUAL if defines(database.game, "images") else "",
    )
    rests_on = f"{RESTS_ON}; that {against} moves as it says" if against else RESTS_ON
    return Verification(file.variant, file.stored, file.positions, wrong, problems, proven, rests_on)


def verify(
    database: Database,
    workers: int | None = None,
    listener: Listener | None = None,
    *,
    interpreted: bool | None = None,
    model: Model | None = None,
    all_images: bool = False,
) -> Verification:
    """Derive every stored outcome anew from those of the children, and say what is wrong.

    *workers* is the number of threads (one a core if None); *listener* is called with Progress; *interpreted* forces
    the rules to be run so or, if False, to be compiled. Where a database is of a best response, *model* is what that is
    to; it is found by its name if None, unless that is a function in a file. With *all_images*, what is stored is
    derived at every image of each position, and not at one. Raises DamagedDatabase where the file
    cannot be read, NoModel where the model is not at hand, or another one by now.
    """
    if database.file.measures and database.metric not in TO_PROGRESS:
        if all_images:
            raise OneImage(f"by {database.metric} no images are looked at; leave out --all-images")
        return verify_measures(database, listener, model)
    audit = audit_of(database)
    audit.every_image = all_images
    course = Course(positions_a_record=database.file.positions / max(len(audit), 1), exact=True)
    course.plan(**audit.phases)
    phase = Phase("verifying", listener, len(audit), course)
    phase.tell()
    done = False
    if interpreted or (interpreted is None and len(audit) < SMALL):
        done = audit.verify_interpreted(phase, float("inf") if interpreted else INTERPRETED_SECONDS)
    if not done and not audit.can_compile():
        done = audit.verify_interpreted(phase, float("inf"))
    if not done:
        announce(listener, "compiling the rules")
        with ThreadPoolExecutor(workers or os.cpu_count() or 1) as executor:
            try:
                audit.verify_compiled(executor, phase)
            finally:
                executor.shutdown(cancel_futures=True)
    audit.verify_whole()
    phase.end()
    file, basis = database.file, audit.basis(compiled=not done)
    return Verification(file.variant, file.stored, file.positions, audit.wrong, audit.problems, audit.proven(), basis)
