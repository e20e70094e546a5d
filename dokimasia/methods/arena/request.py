"""What an arena is asked, and what decides its results."""

from collections.abc import Iterator
from math import ceil, log2
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dokimasia.algorithms.pairwise import most_rounds
from dokimasia.errors import ConfigError
from dokimasia.methods.duel import DuelPlan
from dokimasia.runs.plans import AnswerItem
from dokimasia.runs.requests import MOST_REPEATS, SHARED_HELP, DataRequest, Judge, Models, Option
from dokimasia.runs.responses import ResponsesFiles
from dokimasia.storage.results import ResultRow

Draw = Literal["all", "swiss"]
Pair = tuple[str, str]

FEWEST = 3


class ArenaRequest(DataRequest):
    """Have models meet each other on the cases of DATA, and rate them: a judge compares their answers in both orders.

    With `--draw swiss` models meet in rounds, each with one of like results. The cases are as for `duel`. The same
    command continues an interrupted arena, or prints its results.
    """

    VERB: ClassVar[str] = "arena"

    models: Models = Field(description="The models that meet, three or more, separated by commas.")
    judge: Judge = Field(description=SHARED_HELP["judge"])
    draw: Draw = Field(default="all", description="Who meets whom: all pairs, or rounds of a Swiss draw.")
    rounds: int | None = Field(
        default=None,
        ge=1,
        le=1_000,
        description="Rounds of a Swiss draw (default: one more than halvings of the models).",
    )
    judge_sees: Literal["image", "text"] = Field(default="image", description="Whether the judge is shown the images.")
    repeats: int = Field(default=1, ge=1, le=MOST_REPEATS, description=SHARED_HELP["repeats"])
    responses: ResponsesFiles = Field(default=(), description=f"Judge {SHARED_HELP['responses']}")
    scores: Annotated[Path | None, Option(exists=True, file=True)] = Field(
        default=None, description="Scores of the models elsewhere, to hold theirs against: model and rating a line."
    )


class ArenaPlan(DuelPlan):
    """An arena by its content: each of the `candidates` may stand on either side; `scores` are what they have elsewhere."""

    KIND: ClassVar[str] = "arena"

    draw: Draw = "all"
    rounds: int = 1
    scores: dict[str, float] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The models that meet, in alphabetical order."""
        return tuple(sorted(one.ref.name for one in self.candidates))

    @property
    def parts(self) -> int:
        """In how many parts of the cases it is drawn apart who meets whom."""
        return 1 if self.draw == "all" else 2

    @property
    def pairs_a_round(self) -> int:
        """How many pairs a case is judged for in a round that is not drawn yet, at most."""
        count = len(self.candidates)
        return count * (count - 1) // 2 if self.draw == "all" else count // 2

    @property
    def per_sample(self) -> int:
        """How many pairs of answers to a sample are judged at most."""
        return self.rounds * self.pairs_a_round * self.repeats

    def meeting(self, sample_id: str, pair: Pair) -> Iterator[AnswerItem]:
        """The items of a pair on a case: the answers of its first model, which are held against those of its second."""
        for repeat in range(self.repeats):
            yield AnswerItem(self._item(sample_id, pair, repeat), pair[0], "", repeat)

    def held_against(self, row: ResultRow) -> str:
        """Return the name of the model that the answer of a result was held against."""
        return next(name for name in self.names if self._item(row.sample_id, (row.model, name), row.repeat) == row.item)

    def _item(self, sample_id: str, pair: Pair, repeat: int) -> str:
        return f"{self.KIND}/{sample_id}/{pair[0]}/{pair[1]}/{repeat}"


def rounds_of(request: ArenaRequest) -> int:
    """Return how many rounds an arena has.

    Raises:
        ConfigError: it cannot be held so, naming a way out.
    """
    models = len(set(request.models))
    if models < len(request.models):
        twice = sorted({name for name in request.models if request.models.count(name) > 1})
        raise ConfigError(f"--models names {', '.join(twice)} more than once; a model does not meet itself")
    if models < FEWEST:
        raise ConfigError(
            f"an arena is of {FEWEST} models or more, and --models names {models}: for two there is `duel`"
        )
    if request.draw == "all":
        if request.rounds is not None:
            raise ConfigError("--rounds is for --draw swiss; with --draw all every pair meets once")
        return 1
    most = most_rounds(models)
    if request.rounds is not None and request.rounds > most:
        raise ConfigError(
            f"{models} models can meet in {most} rounds without meeting twice; --rounds is {most} or fewer"
        )
    return request.rounds or min(most, ceil(log2(models)) + 1)
