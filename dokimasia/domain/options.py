"""Options of graphs: frozen, and part of a run's identity."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from dokimasia.domain.call import ModelRef, ModelSpec
from dokimasia.domain.criterion import MAX_CRITERIA, MIN_CRITERIA
from dokimasia.domain.identity import Value
from dokimasia.errors import ConfigError

TOLERANCE = 1e-6
"""The default relative difference, to the larger number, up to which two numbers are the same answer."""


@dataclass(frozen=True)
class FormerNames:
    """Marks a field whose values had other names, which are still used to hash plans and to read stored ones.

    Attributes:
        names: the former name of each renamed value.
    """

    names: Mapping[str, str]

    def present(self, value: object) -> object:
        """Return the present name of a value."""
        return next((name for name, former in self.names.items() if value == former), value)

    def former(self, value: object) -> object:
        """Return the former name of a value."""
        if isinstance(value, str):
            return self.names.get(value, value)
        return value


_PROTOCOLS = FormerNames({"default": "ours"})

Protocol = Annotated[Literal["default", "published"], BeforeValidator(_PROTOCOLS.present), _PROTOCOLS]
"""The protocol of a method where it departs from its paper: this project's default, or as published."""


def prompt_of_protocol(name: str, *, published: bool) -> str:
    """Return the name of a prompt, or of its counterpart that follows the paper."""
    if published:
        return f"{name}_published"
    return name


def scoring_prompt(name: str = "checkpoints", *, published: bool, reasons: bool) -> str:
    """Return the name of the prompt by which a judge scores the criteria of a response or, with `name`, decides its
    rubrics.

    Raises:
        ValueError: reasons are requested with the published prompt, which does not ask for any.
    """
    if published and reasons:
        raise ValueError("as published a judge gives no reasons for its scores")
    if reasons:
        return f"{name}_reasons"
    return prompt_of_protocol(name, published=published)


LOOKS = 6
"""The default number of times a judge may use its tools in one ask."""


class GraphOptions(Value):
    """Options of the evaluation graphs.

    `models` maps a shown name to how that model is reached and sampled; `judge` is one of those names. `judges` names,
    by node, those that another judge than `judge` serves, as in a run that was forked from another.
    `tools` are offered to the judge to look closer with where it sees an image: when it writes a chain, and when it
    scores, where it is then shown the image; `looks` is how often it may use them in one ask.
    `plain` puts the data set's bare question to the candidates, in place of asking them to show what their answer rests
    on and to state it on a line of its own. `published` asks as the papers do wherever this project asks otherwise.
    `tolerance` is how far a number may lie from the reference answer, relative to the larger of them. `criteria_count` is
    the least and the greatest number of criteria that a sample has.
    `show_image` also shows the image when checkpoints are scored (default: the judge sees text only, `methods` table).
    `reasons` also asks the judge for a sentence on each score, or on each rubric.
    """

    judge: str
    judges: dict[str, str] = Field(default_factory=dict)
    models: dict[str, ModelSpec] = Field(default_factory=dict)
    plain: bool = False
    published: bool = False
    tolerance: float = Field(default=TOLERANCE, ge=0)
    criteria_count: tuple[int, int] = (MIN_CRITERIA, MAX_CRITERIA)
    show_image: bool = False
    reasons: bool = False
    tools: tuple[str, ...] = ()
    looks: int = Field(default=LOOKS, ge=1)

    @property
    def shows_image(self) -> bool:
        """Whether the judge sees the image when it scores: with `show_image`, or with tools."""
        return self.show_image or bool(self.tools)

    def spec(self, name: str) -> ModelSpec:
        """Return the configuration of the named model.

        Raises:
            ConfigError: the name is not among `models`, or empty although a judge is needed.
        """
        if name not in self.models:
            if not name:
                raise ConfigError("the graph asks a judge, and none is named: judge=...")
            raise ConfigError(f"not among the graph's models: {name}; there are: {', '.join(sorted(self.models))}")
        return self.models[name]

    def judge_of(self, node: str) -> ModelSpec:
        """Return the configuration of the judge for a node.

        Raises:
            ConfigError: the judge is not among `models`.
        """
        return self.spec(self.judges.get(node, self.judge))

    def ref(self, name: str) -> ModelRef:
        """Return the named model's identity.

        Raises:
            ConfigError: the name is not among `models`.
        """
        return self.spec(name).ref
