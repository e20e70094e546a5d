"""What a perturbing came to: the items that it made with what checks say of them, its rows for an export, and samples."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dokimasia.agents.perturbation import error_dimensions
from dokimasia.algorithms.text.word_difference import word_difference
from dokimasia.domain.blindspots import NEUTRAL, Perturbed
from dokimasia.domain.identity import value_id
from dokimasia.domain.perturbation import ChangeCheck, EditRecord, GoldAnswer, NotApplicable
from dokimasia.methods.checks import checked_texts
from dokimasia.methods.perturb.request import PerturbPlan
from dokimasia.runs.figures import rows_shown
from dokimasia.runs.method import ColumnType
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import ResultRow
from dokimasia.storage.reviews import made_values
from dokimasia.storage.runs import Run

GOLD = "gold/"
"""What the items of gold answers that are written are called after; every other item is one of a dimension."""

COLUMNS: dict[str, ColumnType] = {
    "task": "text",
    "dimension": "text",
    "group": "text",
    "gold": "text",
    "perturbed": "text",
    "gold_image": "text",
    "perturbed_image": "text",
    "description": "text",
    "instruction": "text",
    "not_applicable": "text",
    "checked_as": "text",
    "doubts": "text",
    "label": "text",
}
"""What an export says of a row: the item with both answers, why there is none, what the checker says, and the label of people."""


class PerturbedItem(NamedTuple):
    """An item that was made: its id in the run, the perturbation, what a checker says of it, and what shares an image.

    `hint` says in words what the checker has against it, empty where it has nothing against it or nobody was asked.
    """

    id: str
    item: Perturbed
    check: ChangeCheck | None
    record: EditRecord | None
    cluster: str

    @property
    def doubts(self) -> tuple[str, ...]:
        """What the checker has against it."""
        if self.record is not None and self.record.check is not None:
            return () if self.record.check.alone else ("also",)
        return () if self.check is None else self.check.doubts(self.item.dimension, neutral=self.item.neutral)

    @property
    def checked(self) -> bool:
        """Whether a checker said anything."""
        return self.check is not None or (self.record is not None and self.record.check is not None)

    @property
    def hint(self) -> str:
        """What a checker has against it, in words."""
        if self.check is None or not self.doubts:
            return "" if not self.doubts or self.record is None or self.record.check is None else self.record.check.seen
        said = {
            "kind": f"takes it for {self.check.kind or 'no change of these kinds'}",
            "also": f"finds it worse in {', '.join(self.check.also)} beside",
            "worse": "finds the changed answer worse"
            if self.item.neutral
            else "does not find the changed answer worse",
        }
        return f"The checker {'; '.join(said[one] for one in self.doubts)}: {self.check.why}"


class ItemValues(NamedTuple):
    """All values that a run's rows name, by the id of the row's item."""

    made: Mapping[str, PerturbedItem]
    none: Mapping[str, NotApplicable]
    golds: Mapping[str, tuple[str, GoldAnswer]]


def item_of(sample_id: str, dimension: str) -> str:
    """Return the name of a sample's item in a dimension."""
    return f"perturb/{sample_id}/{dimension}"


def kept_of(home: Home, run: Run) -> ItemValues:
    """Return what a run made, in the order of its samples."""
    checks = {check.of: check for _, check in made_values(home, run.id, ChangeCheck)}
    records = {record.perturbed: record for _, record in made_values(home, run.id, EditRecord)}
    made = {
        (name := item_of(item.sample_id, item.dimension)): PerturbedItem(
            name, item, checks.get(where.id), records.get(where.id), where.cluster
        )
        for where, item in made_values(home, run.id, Perturbed)
    }
    none = {item_of(where.sample_id, one.dimension): one for where, one in made_values(home, run.id, NotApplicable)}
    golds = {where.sample_id: (where.id, gold) for where, gold in made_values(home, run.id, GoldAnswer)}
    return ItemValues(made, none, golds)


def perturbed_items(home: Home, run: Run) -> list[PerturbedItem]:
    """Return the items that a run made, in the order of its samples."""
    return list(kept_of(home, run).made.values())


def golds_of(home: Home, run: Run, plan: PerturbPlan) -> dict[str, str]:
    """Return the ids of the gold answers that are perturbed by sample: those given, and those written and not found wrong."""
    written = made_values(home, run.id, GoldAnswer)
    return {**plan.golds, **{where.sample_id: where.id for where, gold in written if gold.right}}


def brought_items(home: Home, run: Run) -> dict[str, Perturbed]:
    """Return the items that a file brought, by id."""
    ids: Any = run.options["brought"]
    return find_values(home, Perturbed, list(ids))


def items(home: Home, run: Run, sample: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield each item, or why there is none, ready for JSON; with `sample`, only those of that one."""
    rows = rows_shown(home, run, sample)
    for row, told in zip(rows, _told(home, run, rows), strict=True):
        pieces = word_difference(told["gold"], told["perturbed"]) if told["gold"] and told["perturbed"] else ()
        yield {
            "sample": row.sample_id,
            **told,
            "difference": [list(piece) for piece in pieces],
            "failure": row.failure,
            "reason": row.reason,
            "calls": list(row.calls),
        }


async def cells(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """Return what an export says of each row beside what it says of every row."""
    return [{name: one[name] for name in COLUMNS} for one in _told(home, run, rows)]


def _told(home: Home, run: Run, rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    plan = PerturbPlan.model_validate(run.options["plan"])
    kept, dimensions = kept_of(home, run), error_dimensions(plan.task)
    labels = checked_texts(home, run.id)
    found: list[dict[str, Any]] = []
    for row in rows:
        told: dict[str, Any] = dict.fromkeys(COLUMNS) | {"task": plan.task, "hint": None, "gold_wrong": None}
        if row.item.startswith(GOLD):
            _, gold = kept.golds.get(row.sample_id, ("", None))
            if gold is not None:
                told |= {"gold": gold.text, "gold_wrong": None if gold.right else f"{gold.words}: {gold.why}"}
            found.append(told)
            continue
        name = row.item.rpartition("/")[2]
        told |= {"dimension": name, "group": dimensions[name].group or NEUTRAL}
        made, none = kept.made.get(row.item), kept.none.get(row.item)
        if none is not None:
            told["not_applicable"] = none.why
        if made is not None:
            fields = ("gold", "perturbed", "description", "instruction")
            told |= {field: getattr(made.item, field) or None for field in fields}
            images = {"gold_image": made.item.gold_image, "perturbed_image": made.item.perturbed_image}
            told |= {field: image and image.sha256 for field, image in images.items()}
            told |= {
                "checked_as": made.check and (made.check.kind or "none"),
                "doubts": ",".join(made.doubts) or None,
                "hint": made.hint or None,
                "label": (stands := labels.get(value_id(made.item))) and stands.settled_by and stands.state,
            }
        found.append(told)
    return found
