"""From what a run measured to the tables of its diagnosis: what is put in, and which tables come out (ATOM, 3.4 and H)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from dokimasia.domain.diagnosis import Asset, Grouping
from dokimasia.methods.tree.reading.view import Measured

if TYPE_CHECKING:
    from dokimasia.algorithms.taxonomy import Tree

LIMIT = 0.05
"""The expected share of false marks among all marks of a diagnosis."""

MIN_SUPPORT = 5
"""A leaf with fewer scored criteria of a model is shown, and never marked."""

Final = Literal["right", "wrong", "undecided", "no reference"]
"""What the rules say of an answer's final answer; undecided where a judge would have to say."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer of a model: its score (1 to 5; None where it failed, and how), its atoms' scores, and its final answer."""

    sample_id: str
    cluster: str
    model: str
    repeat: int
    score: float | None
    failure: str | None
    atoms: tuple[int, ...] = ()
    final: Final = "no reference"


@dataclass(frozen=True, slots=True)
class Material:
    """What a diagnosis is made from.

    Attributes:
        tree: the criteria under their leaves; where the run has no tree, under the data's categories.
        grouping: which of the two.
        measured: the scores, criterion by criterion, 0 to 100.
        models: whom to speak of, in the order of the tables; no arms without the image.
        answers: every answer of these models, in the run's order.
        repeats: how often each sample was answered.
        seed: of intervals and permutations.
    """

    tree: "Tree"
    grouping: Grouping
    measured: Measured
    models: tuple[str, ...]
    answers: Sequence[Answered] = field(default_factory=list[Answered])
    repeats: int = 1
    seed: int = 0

    @property
    def leaf(self) -> str:
        """What a group of criteria is called."""
        return "leaf" if self.grouping == "tree" else "category"

    @property
    def leaves(self) -> str:
        """What several groups of criteria are called."""
        return "leaves" if self.grouping == "tree" else "categories"

    def counted(self, count: int) -> str:
        """Return so many groups in words."""
        return f"{count} {self.leaf if count == 1 else self.leaves}"


def assets_of(material: Material) -> tuple[Asset, ...]:
    """Return all tables of a diagnosis, in the order in which they are read; equal material gives equal tables.

    Their ids: `models`, `pairs`, `ties`, `top-ties`, `ranks`, `stability`, `failures`, `reasons`; `categories`, `heatmap`
    and `contrasts` (category or leaf by model), `radar/GROUP` for each group of categories; and for each model
    `leaves/MODEL`, `nodes/MODEL`, `answers/MODEL`. What needs two models is left out with one.
    """
    from dokimasia.methods.diagnosis.leaves import categories, contrasts, heatmap, leaf_tables, radars, verdicts_of
    from dokimasia.methods.diagnosis.reasons import answer_tables, reasons
    from dokimasia.methods.diagnosis.samples import failures, overall, pairs, ranks, stability
    from dokimasia.methods.diagnosis.ties import ties, top_ties

    verdicts, grid = verdicts_of(material), heatmap(material)
    made: list[Asset | None] = [
        overall(material),
        pairs(material),
        ties(material),
        top_ties(material),
        ranks(material),
        categories(material),
        *radars(material, grid),
        grid,
        contrasts(material),
        *leaf_tables(material, verdicts),
        stability(material),
        failures(material),
        reasons(material),
        *answer_tables(material),
    ]
    return tuple(one for one in made if one is not None)


def slugs_of(models: Sequence[str]) -> Mapping[str, str]:
    """Return each model's part of an asset's id: its name without what an id cannot hold; all differ."""
    found: dict[str, str] = {}
    for model in models:
        base = "".join("-" if sign.isspace() or sign in ":[]/" else sign for sign in model) or "model"
        slug, number = base, 2
        while slug in found.values():
            slug, number = f"{base}-{number}", number + 1
        found[model] = slug
    return found


def several(count: int, thing: str) -> str:
    """Return so many things in words."""
    return f"{count} {thing}{'' if count == 1 else 's'}"
