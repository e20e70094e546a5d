"""Whether a response's final answer is right: by rule where one applies, else by a judge's word on equivalence."""

from dokimasia.agents.evaluation import judge_equivalence
from dokimasia.agents.refiner import stated_answer
from dokimasia.algorithms.text.answers import same_answer
from dokimasia.domain.judgement import Response
from dokimasia.domain.refinement import FinalAnswer
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context

KEPT = 500


def by_rule(sample: Sample, response: Response, id: str) -> FinalAnswer | None:
    """Return the verdict of the rules on a response (choice, exact, number, yes or no), or None where a judge must say.

    Without a reference answer it is unknown.
    """
    stated = stated_answer(response.text)
    if sample.reference_answer is None:
        return FinalAnswer(response=id, verdict="unknown", rule="no reference", answer=stated[:KEPT])
    match = same_answer(stated, sample.reference_answer, sample.choices)
    if match.verdict == "unsure" or match.rule == "none":
        return None
    verdict = "right" if match.verdict == "same" else "wrong"
    return FinalAnswer(response=id, verdict=verdict, rule=match.rule, answer=stated[:KEPT])


async def by_judge(sample: Sample, response: Response, id: str, context: Context) -> FinalAnswer:
    """Return a judge's verdict; unknown, with the kind of failure, where it gave none that can be read."""
    stated = stated_answer(response.text)
    asked = await context.ask(judge_equivalence(sample, stated), node="judge_answer")
    found = {"response": id, "answer": stated[:KEPT], "calls": tuple(asked.calls)}
    if asked.value is None:
        return FinalAnswer(verdict="unknown", rule="unreadable", failure=asked.failure.kind, **found)
    return FinalAnswer(verdict="right" if asked.value else "wrong", rule="judge", **found)
