"""The matcher: a judge that tells which of two models each of two reports without names is about (ATOM, appendix G.1)."""

from dokimasia.agents.asking import Asked, ask_judge
from dokimasia.domain.call import ModelSpec
from dokimasia.domain.judgement import Rejected
from dokimasia.domain.ports import Gateway
from dokimasia.parsing.matching import parse_match
from dokimasia.prompts import PromptLibrary


async def match_reports(
    reports: tuple[str, str],
    answers: str,
    *,
    gateway: Gateway,
    judge: ModelSpec,
    rejected: Rejected | None = None,
    library: PromptLibrary | None = None,
) -> Asked[str]:
    """Return whether the first report is about the model called A or B, as the judge says.

    It is shown both reports, and for each question the reference answer, the points of its criteria and both answers; no
    image, no score, and no name of a model.
    """
    return await ask_judge(
        "fingerprint_match",
        {"report_one": reports[0], "report_two": reports[1], "answers": answers},
        parse=parse_match,
        shown=("reports", "question", "reference answer", "criteria", "responses"),
        gateway=gateway,
        judge=judge,
        rejected=rejected,
        library=library,
    )
