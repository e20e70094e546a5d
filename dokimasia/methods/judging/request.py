"""What a comparison of judging methods is asked, and what decides its results."""

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from dokimasia.domain.call import ModelSpec
from dokimasia.domain.options import GraphOptions, Protocol
from dokimasia.errors import ConfigError
from dokimasia.runs.plans import AnyOrder, DataPlan
from dokimasia.runs.requests import MOST_REPEATS, DataRequest, Models, Option
from dokimasia.runs.responses import ResponsesFiles

METHODS = (
    "pointwise",
    "batch",
    "scan",
    "atom",
    "atom-no-chain",
    "atom-no-decomposition",
    "atom-no-weights",
)
"""In the order of the paper's tables: the baselines, atomic criteria, and these without one of their parts."""

ASKED = tuple(method for method in METHODS if method != "atom-no-weights")
"""Methods that ask a judge; equal weights are put to the scores that atomic criteria got."""


class JudgingRequest(DataRequest):
    """Find which way of judging ranks the responses to DATA as people do: pairwise accuracy, by judge and method.

    Nothing is asked of the models whose responses are judged. The calls of `atom` are those of an evaluation of the same
    responses, so that what was paid for there is not asked again.
    """

    VERB: ClassVar[str] = "compare-judging"

    responses: ResponsesFiles = Field(
        min_length=1, description="The responses that are judged: JSON lines of id, model, response, or predictions."
    )
    rankings: Annotated[Path, Option(exists=True, file=True)] = Field(
        description="How people rank them: JSON lines of id, annotator, and ranking or scores (see docs/data.md)."
    )
    judges: Models = Field(description="The judges, separated by commas.")
    methods: tuple[str, ...] = Field(
        default=(), description=f"{', '.join(METHODS)}; by default all (scan only with --auxiliary)."
    )
    auxiliary: Annotated[Path | None, Option(exists=True, file=True)] = Field(
        default=None, description="Responses of models that are never judged, from which scan draws its criteria."
    )
    orders: int = Field(default=2, ge=1, le=24, description="Orders in which batch is shown the responses of a sample.")
    repeats: int = Field(
        default=1, ge=1, le=MOST_REPEATS, description="Judgements of a response by every method but batch."
    )
    protocol: Protocol = Field(
        default="ours", description="Of atom: published is as in the paper (see docs/departures.md)."
    )
    show_image: bool = Field(
        default=False, description="Show the judge the image, too, where atom's methods score a response."
    )


class JudgingPlan(DataPlan):
    """A comparison by its content.

    `responses` and `auxiliary` hash the files of responses, `rankings` is the id of what people said, which lies in the
    home.
    """

    judges: Annotated[tuple[ModelSpec, ...], AnyOrder]
    methods: tuple[str, ...]
    responses: str
    auxiliary: str | None = None
    rankings: str
    orders: int
    repeats: int
    protocol: Protocol
    show_image: bool

    @property
    def judge_name(self) -> str:
        """The judge's shown name, where there is one alone."""
        return self.judges[0].ref.name if len(self.judges) == 1 else ""

    def options_of(self, judge: str) -> GraphOptions:
        """The plan as the graphs need it when a judge of this name is asked."""
        return GraphOptions(
            judge=judge, models=self.models, published=self.protocol == "published", show_image=self.show_image
        )


def chosen_methods(request: JudgingRequest) -> tuple[str, ...]:
    """Return the methods that are compared, in the order of the tables.

    Raises:
        ConfigError: a method is not known or named twice, or scan is asked for without auxiliary responses.
    """
    named = request.methods or tuple(one for one in METHODS if one != "scan" or request.auxiliary is not None)
    for one in named:
        if one not in METHODS:
            raise ConfigError(f"--methods: there is no judging method {one!r}; there are {', '.join(METHODS)}")
        if named.count(one) > 1:
            raise ConfigError(f"--methods names {one} twice")
    if "scan" in named and request.auxiliary is None:
        raise ConfigError(
            "scan draws its criteria from responses of models that are not judged: name a file of them with --auxiliary "
            "(JSON lines of id, model, response), or leave scan out of --methods"
        )
    return tuple(one for one in METHODS if one in named)
