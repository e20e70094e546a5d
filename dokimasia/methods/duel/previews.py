"""One prompt of each kind that duels, or an arena, ask by, rendered for a case; what models would write is a placeholder."""

from collections.abc import Sequence
from typing import Any

from dokimasia.agents import Ask
from dokimasia.agents.duel import (
    answer_described,
    answer_request,
    compare_responses,
    describe_one,
    say_what_to_observe,
    score_factuality,
)
from dokimasia.domain.duel import Described, criteria_of, factuality_by
from dokimasia.domain.sample import Sample
from dokimasia.methods.duel.request import DuelPlan
from dokimasia.prompts import PromptLibrary, Rendered, render

PLACEHOLDERS = ("(one answer)", "(the other answer)")


def previews(plan: DuelPlan, sample: Sample, library: PromptLibrary) -> Sequence[Rendered]:
    """Return the prompts as they would be put to candidates, describer and judge."""
    criteria = criteria_of(sample)
    asks: list[Ask[Any]] = [answer_request(sample)] if plan.asked else []
    if plan.described and sample.images:
        asks += [say_what_to_observe(sample)] if plan.descriptions == "specific" else []
        texts = tuple("(what an image shows)" for _ in sample.images)
        described = Described(describer="", texts=texts)
        asks += [describe_one(sample, sample.images[0]), answer_described(sample, described)]
    asks.append(compare_responses(sample, criteria, PLACEHOLDERS, sees=plan.judge_sees == "image"))
    by = factuality_by(sample, plan.factuality)
    if by != "none":
        asks.append(score_factuality(sample, criteria, PLACEHOLDERS, sees=by == "image"))
    return [render(one.prompt, one.inputs, images=one.images, library=library) for one in asks]
