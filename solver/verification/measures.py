"""Verifies a database of records of another metric than remoteness: scores, nimbers and so on."""

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from contextlib import nullcontext

import numpy as np

from retrograde.databases import Database
from retrograde.databases.legend import table_of
from retrograde.games.contract.game import Traits, defines
from retrograde.solver.metrics.models.model import Model
from retrograde.solver.metrics.models.names import model_of, refuse_another
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.verification.expectation import wrong_expectations
from retrograde.solver.verification.families import Families, families_of
from retrograde.solver.verification.metrics import CHECKS
from retrograde.solver.verification.records import RecordTable
from retrograde.solver.verification.verifier import EQUAL, TALLY, TaskResult

RESTS_ON = "the rules as given, and compiled to what they say; that positions equal by symmetry are worth the same"


class MeasuresVerifier(RecordTable):
    """Verifies the measures of records, always by compiled rules. If the database holds a best response, *model* is the
    opponent's model; None finds it by name."""

    always_compiled = True

    def __init__(self, database: Database, model: Model | None = None) -> None:
        super().__init__(database)
        self.metric, self.model = database.metric, model
        self.against = str(self.file.details.get("against", ""))

    def begin(self) -> None:
        super().begin()
        self.faults: list[tuple[Array, str]] = []
        """Pairs (which records are wrong, the complaint about each of them)."""

    def verify_tasks(self, executor: Executor, phase: Phase) -> Iterator[TaskResult]:
        """Verify all records at once, as arrays; keep the faults for `check`."""
        families = families_of(self)
        self.faults = list(self.find_faults(families))
        wrong = np.logical_or.reduce([which for which, _ in self.faults])
        tally = np.zeros(self.legend_rows, TALLY)
        tally["stored"] = np.bincount(self.row_numbers, minlength=self.legend_rows)
        tally["positions"] = np.bincount(self.row_numbers, families.images, self.legend_rows)
        present, firsts = np.unique(self.row_numbers, return_index=True)
        tally["first"][present] = firsts
        self.tally[0] = tally
        yield TaskResult(np.flatnonzero(wrong), len(self))

    def find_faults(self, families: Families) -> Iterator[tuple[Array, str]]:
        """Yield pairs (which records are wrong, the complaint about each of them)."""
        misplaced, lacking = families.images == 0, np.zeros(len(families), np.bool_)
        lacking[families.parents[families.children < 0]] = True
        yield misplaced, "is stored, and is not canonical, or of another tier"
        yield lacking, "has a child that is not stored"
        # Measures can be checked only if all children are stored.
        if lacking.any() or misplaced.any():
            return
        yield self.check_measures(families)
        yield ~self.find_reached(families), "is stored, and play never reaches it"

    def check_measures(self, families: Families) -> tuple[Array, str]:
        """Return (which records have other measures than follow from their children, the complaint about them)."""
        complaint = f"is not worth what follows from its children ({self.metric})"
        if self.metric == "utilities" and Traits.of(self.game).alternates:
            return np.ones(len(families), np.bool_), "has utilities, which need turn(position); delete this database"
        if self.metric != "expectation":
            return CHECKS[self.metric](families, dict(self.file.details)), complaint
        # A best response is verified against the model it responds to; refuse any other model.
        with (self.model or model_of(self.database)) if self.against else nullcontext() as opponent:
            if opponent:
                refuse_another(self.database, opponent)
            return wrong_expectations(families, self.game, int(self.file.details["scale"]), opponent), complaint

    def find_reached(self, families: Families) -> Array:
        """Return which records play reaches from the starts."""
        reached = np.zeros(len(families), np.bool_)
        frontier = np.unique(np.array(self.starts, np.int64))
        while len(frontier):
            reached[frontier] = True
            # The links of the frontier are ranges of all links: number the links of each range, from its first on.
            begins, ends = (families.parents.searchsorted(frontier, side) for side in ("left", "right"))
            counts = ends - begins
            links = np.arange(counts.sum()) + np.repeat(begins - np.cumsum(counts) + counts, counts)
            children = families.children[links]
            frontier = np.unique(children[~reached[children]])
        return reached

    def check(self, item: int) -> None:
        for which, complaint in self.faults:
            if which[item]:
                self.complain(self.position_at(item), complaint)

    def rows_to_verify(self) -> Iterable[int]:
        """Return the rows of the legend whose counts or example differ from those of the records."""
        tally, table = self.tally[0], table_of(self.legend, self.file.measures)
        differ = (tally["stored"] != table["stored"]) | (tally["positions"] != table["positions"])
        examples = tally["first"] if self.width else self.positions[tally["first"]]
        rows: list[int] = np.flatnonzero(differ | (examples != table["example"])).tolist()
        return rows

    def state_proof(self) -> str:
        metric = f"{self.metric} against {self.against}" if self.against else self.metric
        equal = EQUAL if defines(self.game, "images") else ""
        return (
            f"by {metric} every position is worth what follows by the rules from its children; the positions are those "
            f"that play reaches{equal}, no more and no less"
        )

    def state_basis(self, compiled: bool) -> str:
        return f"{RESTS_ON}; that {self.against} moves as it says" if self.against else RESTS_ON
