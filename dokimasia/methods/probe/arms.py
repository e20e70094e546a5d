"""The ways in which one judge is asked beside each other: under each reasoning effort, with tools and without."""

from collections.abc import Sequence
from typing import NamedTuple

from dokimasia.domain.call import ModelSpec
from dokimasia.errors import ConfigError
from dokimasia.runs.plans import WAY

TOOLS = "tools"
HIGHEST = "high"
"""The reasoning effort that judges are asked under unless something else says otherwise."""

TOOLS_MARK = "+tools"


class Arm(NamedTuple):
    """One way in which a judge is asked.

    `judge` is its name as the user gave it, `spec` how the published evaluators ask it, `in_use` how those in use do; None
    where there are none.
    """

    judge: str
    budget: str
    tools: bool
    spec: ModelSpec
    in_use: ModelSpec | None

    @property
    def model(self) -> str:
        """The judge's name with its budget, under which it is reached."""
        return self.spec.ref.name

    @property
    def name(self) -> str:
        """The shown name: `J`, `J@low`, `J+tools`, `J@low+tools`."""
        return f"{self.model}{TOOLS_MARK}" if self.tools else self.model

    @property
    def place(self) -> dict[str, str]:
        """Who is asked, as fields of a result row."""
        return {"model": self.model, "arm": TOOLS if self.tools else ""}


def under(spec: ModelSpec, budget: str, *, published: bool, temperature: float | None) -> ModelSpec:
    """Return a judge as it is asked under a reasoning effort (empty: none was named).

    What the configuration says of its sampling stands, since a probe is to speak of the judge as it is used; where it says
    nothing, `published` asks at temperature 0 and the highest effort. An endpoint behind LiteLLM is not sent what its model
    does not take.

    Args:
        spec: the judge as it is configured.
        budget: the effort that was named.
        published: whether to sample as published.
        temperature: a temperature that was named.
    """
    own = spec.sampling
    if temperature is None:
        temperature = own.temperature if own.temperature is not None or not published else 0.0
    effort = budget or own.reasoning_effort or (HIGHEST if published else None)
    sampling = own.model_copy(update={"temperature": temperature, "reasoning_effort": effort})
    name = f"{spec.ref.name}{WAY}{budget}" if budget else spec.ref.name
    return spec.model_copy(update={"sampling": sampling, "ref": spec.ref.model_copy(update={"name": name})})


def under_each(
    judges: Sequence[ModelSpec], budgets: Sequence[str], *, published: bool, temperature: float | None
) -> tuple[ModelSpec, ...]:
    """Return every judge under each reasoning effort, one after the other.

    Raises:
        ConfigError: two of them bear one name.
    """
    found = tuple(
        under(spec, budget, published=published, temperature=temperature)
        for spec in judges
        for budget in budgets or ("",)
    )
    names = [spec.ref.name for spec in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(
            f"--budgets: {twice[0]!r} is both a judge and a judge under a budget; name one of them otherwise in dokimasia.toml"
        )
    return found


def arms_from(
    judges: Sequence[ModelSpec], in_use: Sequence[ModelSpec], budgets: Sequence[str], *, tools: bool
) -> tuple[Arm, ...]:
    """Return the arms of judges under budgets: each without tools and, with `tools`, with them, too."""
    several = budgets or ("",)
    found: list[Arm] = []
    for number, spec in enumerate(judges):
        budget = several[number % len(several)]
        judge = spec.ref.name.removesuffix(f"{WAY}{budget}") if budget else spec.ref.name
        own = in_use[number] if in_use else None
        found += [Arm(judge, budget, with_tools, spec, own) for with_tools in ((False, True) if tools else (False,))]
    return tuple(found)
