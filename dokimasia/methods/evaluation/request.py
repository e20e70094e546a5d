"""What an evaluation is asked, and what is checked of the criteria and the tree that it names."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from dokimasia.domain.criterion import MAX_CRITERIA, MIN_CRITERIA, PUBLISHED_COUNT
from dokimasia.domain.options import LOOKS, TOLERANCE, Protocol
from dokimasia.errors import InputError, NotFound
from dokimasia.methods.evaluation.plan import Ask
from dokimasia.methods.passports import BLIND_BELOW, HELP, Passports
from dokimasia.report.figures import several
from dokimasia.runs.requests import MOST_REPEATS, SHARED_HELP, DataRequest, Invocation, Models, Option
from dokimasia.runs.responses import ResponsesFiles
from dokimasia.storage.criteria import load_collection
from dokimasia.storage.home import Home
from dokimasia.storage.runs import RunSample
from dokimasia.storage.trees.versions import mappings, resolve_tree

MAX_LOOKS = 100
"""The most looks an ask that can be asked for."""


def read_count(given: str) -> tuple[int, int]:
    """Return a number of criteria as the least and the greatest: `3-5`, or `4` for exactly so many.

    Raises:
        InputError: it is no such number, or none that a sample can have.
    """
    least, dash, most = given.partition("-")
    try:
        count = (int(least), int(most if dash else least))
    except ValueError:
        count = (0, 0)
    if not MIN_CRITERIA <= count[0] <= count[1] <= MAX_CRITERIA:
        raise InputError(
            f"--criteria-count {given}: write a number from {MIN_CRITERIA} to {MAX_CRITERIA}, or two such as 3-5"
        )
    return count


class EvaluationRequest(DataRequest):
    """Evaluate models on DATA: JSON lines, a VLMEvalKit TSV, Parquet, or a folder of images (with --prompt).

    Where the data have reference answers, whether an answer is right is decided by rules, and by the judge where no rule
    can say. Without --judge there are rules alone, and what they cannot decide is a failure.

    The judge replays the reasoning once a sample and draws atomic criteria from it; every candidate answers; the judge
    scores all criteria of an answer in one call. The same command continues an interrupted run, or prints its results.
    """

    VERB: ClassVar[str] = "evaluate"

    judge: Annotated[str | None, Option(models=True)] = Field(
        default=None, description=f"{SHARED_HELP['judge']} Without one, rules alone decide whether answers are right."
    )
    models: Models = Field(default=(), description="The candidates, separated by commas.")
    repeats: int = Field(default=1, ge=1, le=MOST_REPEATS, description=SHARED_HELP["repeats"])
    ask: Ask | None = Field(
        default=None,
        description="How the question is put: show (say what the answer rests on, then the answer on a line of its own; "
        "the default) or plain (the bare question).",
    )
    protocol: Protocol = Field(
        default="ours",
        description="published: as in the paper, without this project's departures (see docs/departures.md).",
    )
    tolerance: float = Field(
        default=TOLERANCE,
        ge=0,
        le=1,
        description="How far a number may lie from the reference, relative to the larger.",
    )
    min_score: float | None = Field(
        default=None, ge=1, le=5, description=Invocation.model_fields["min_score"].description
    )
    criteria_count: Annotated[str | None, Option(metavar="N[-M]")] = Field(
        default=None,
        description=f"Criteria a sample, as in 3-5; by default {MIN_CRITERIA}-{MAX_CRITERIA}, as many as the question "
        f"needs (as published: {PUBLISHED_COUNT[0]}-{PUBLISHED_COUNT[1]}).",
    )
    no_image: bool = Field(default=False, description="Also ask every candidate without the image (arm NAME#blind).")
    show_image: bool = Field(default=False, description="Show the judge the image when it scores answers, too.")
    tools: tuple[str, ...] = Field(
        default=(),
        description="Tools for the judge to look closer with: crop,zoom,... or all. Shows it the image.",
    )
    looks: int = Field(default=LOOKS, ge=1, le=MAX_LOOKS, description="With --tools: looks an ask at most.")
    criteria: str | None = Field(
        default=None, description="Score by an imported collection of criteria (see: dokimasia criteria)."
    )
    tree: Annotated[str | None, Option(metavar="TREE")] = Field(
        default=None, description="Show the judge each criterion's path in this capability tree (or version of one)."
    )
    responses: ResponsesFiles = Field(default=(), description=f"Score {SHARED_HELP['responses']}")
    passports: Passports = Field(default=(), description=HELP["passports"])
    blind_below: float = Field(default=BLIND_BELOW, ge=0, le=1, description=HELP["blind_below"])
    choose_judge: Models = Field(default=(), description=HELP["choose_judge"])


def check_collection(home: Home, collection: str, places: Sequence[RunSample]) -> None:
    """Check that a collection of criteria has a set for every sample.

    Raises:
        NotFound: there is no such collection.
        InputError: it has nothing for some samples.
    """
    known = {entry.sample_digest for entry in load_collection(home, collection)}
    if not known:
        raise NotFound(
            f"no criteria collection {collection!r} in {home.path}; import one: dokimasia criteria import FILE"
        )
    missing = [place.sample_id for place in places if place.sample_digest not in known]
    if missing:
        raise InputError(
            f"criteria {collection} have nothing for {len(missing)} of {several(len(places), 'sample')} ({_some(missing)}): "
            "their question, image, options or reference differ from those that the criteria were made for; leave --criteria out "
            "to have the judge make them"
        )


def mapped_tree(home: Home, tree: str) -> str:
    """Return the id of the version of a tree that a text means, whose criteria are mapped.

    Raises:
        NotFound: there is no such tree.
        InputError: no criterion is mapped in that version.
    """
    found = resolve_tree(home, tree)
    if not mappings(home, found.id, tree=found.tree):
        raise InputError(
            f"no criterion is mapped in {found.tree}@{found.position} ({found.phase}): name another version "
            f"(dokimasia tree list {found.tree}), or finish its growth with dokimasia resume {found.run_id}"
        )
    return found.id


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
