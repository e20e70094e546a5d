"""Whether a response's final answer is right: by rule where one applies, else by a judge's word on equivalence."""

from dokimasia.agents.candidate import stated_answer
from dokimasia.agents.evaluation import judge_equivalence
from dokimasia.algorithms.text.answers import accepted_answer
from dokimasia.domain.judgement import FinalAnswer, Response
from dokimasia.domain.sample import Sample
from dokimasia.graphs.context import Context

KEPT = 500


def by_rule(
    sample: Sample, response: Response, id: str, *, tolerance: float, contains: bool = False
) -> FinalAnswer | None:
    """Return the verdict of the rules on a response, or None where they cannot say.

    Without a reference answer it is unknown. What is compared is the line of the final answer, or the whole response
    where it has none.
    """
    answer, stated = stated_answer(response.text)
    found = {"response": id, "answer": answer[:KEPT], "stated": stated}
    if not sample.accepted:
        return FinalAnswer(verdict="unknown", rule="no reference", **found)
    match = accepted_answer(
        answer, sample.accepted, sample.choices, tolerance=tolerance, question=sample.prompt, contains=contains
    )
    if match.verdict == "unsure":
        return None
    return FinalAnswer(verdict="right" if match.verdict == "same" else "wrong", rule=match.rule, **found)


def by_nobody(response: Response, id: str) -> FinalAnswer:
    """Return that neither a rule could say, nor was a judge there to be asked."""
    answer, stated = stated_answer(response.text)
    return FinalAnswer(response=id, verdict="unknown", rule="none", answer=answer[:KEPT], stated=stated)


async def by_judge(
    sample: Sample, response: Response, id: str, context: Context, *, node: str, attempt: int | None = None
) -> FinalAnswer:
    """Return a judge's verdict; unknown, with the kind of failure, where it gave none that can be read."""
    answer, stated = stated_answer(response.text)
    asked = await context.ask(judge_equivalence(sample, answer, repeat=response.repeat), node=node, attempt=attempt)
    found = {"response": id, "answer": answer[:KEPT], "stated": stated, "calls": tuple(asked.calls)}
    if asked.value is None:
        return FinalAnswer(verdict="unknown", rule="unreadable", failure=asked.failure.kind, **found)
    return FinalAnswer(verdict="right" if asked.value else "wrong", rule="judge", **found)
