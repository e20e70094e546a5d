"""Right answers for the wrong reason, and wrong answers for the right ones: how often, and which (ATOM, 3.3)."""

from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow
from dokimasia.domain.refinement import SOLVED
from dokimasia.methods.diagnosis.cells import MODEL, STEPS, number, share_of, text
from dokimasia.methods.diagnosis.measured import Answered, DiagnosisMaterial, slugs_of
from dokimasia.report.figures import several

WRONG_REASON, RIGHT_REASONS = "right answer, wrong reason", "wrong answer, right reasons"


def reasons(material: DiagnosisMaterial) -> Asset:
    """Return how often a right final answer comes with a wrong reason, and a wrong one with right reasons alone.

    Reasons are the criteria that an answer speaks to, the final answer left out; one is wrong at a score of 3 or lower.
    Answers that state none are counted and in neither share, and so are those of which it is not decided whether they are
    right.
    """
    rows: list[AssetRow] = []
    silent = decided = undecided = 0
    for model in material.models:
        own = [one for one in material.answers if one.model == model]
        scored = [one for one in own if one.score is not None]
        settled = [one for one in scored if one.final in ("right", "wrong")]
        right, wrong = ([one for one in settled if one.final == kind and one.reasons] for kind in ("right", "wrong"))
        unsaid = len(settled) - len(right) - len(wrong)
        decided += len(settled)
        silent += unsaid
        undecided += sum(one.final == "undecided" for one in scored)
        rows.append(
            AssetRow(
                key=model,
                cells=(
                    text(model),
                    number(len(right)),
                    share_of([wrong_reasons(one) > 0 for one in right], [one.cluster for one in right]),
                    number(len(wrong)),
                    share_of([wrong_reasons(one) == 0 for one in wrong], [one.cluster for one in wrong]),
                    number(unsaid),
                ),
                n=len(right) + len(wrong),
                held=len(own),
                model=model,
                samples=tuple(dict.fromkeys(one.sample_id for one in own if disagreement_of(one))),
            )
        )
    return Asset(
        id="reasons",
        title="Right answer, wrong reason",
        sentence=_sentence(decided, silent, undecided, silence_known=material.silence_known),
        columns=(
            MODEL,
            AssetColumn(name="right, with reasons", kind="count"),
            AssetColumn(name="of these, wrong reason", kind="share", better="lower"),
            AssetColumn(name="wrong, with reasons", kind="count"),
            AssetColumn(name="of these, right reasons", kind="share"),
            AssetColumn(name="no reasons stated", kind="count"),
        ),
        rows=tuple(rows),
        counts="samples",
    )


def answer_tables(material: DiagnosisMaterial) -> list[Asset]:
    """Return each model's list of right answers for the wrong reason, and the opposite; the most wrong reasons first."""
    tables: list[Asset] = []
    for model, slug in slugs_of(material.models).items():
        found = [one for one in material.answers if one.model == model and disagreement_of(one)]
        found.sort(
            key=lambda one: (disagreement_of(one) != WRONG_REASON, -wrong_reasons(one), one.sample_id, one.repeat)
        )
        luck = sum(disagreement_of(one) == WRONG_REASON for one in found)
        tables.append(
            Asset(
                id=f"answers/{slug}",
                title=f"{model}: answer and reasons part",
                sentence=(
                    f"{luck} right final answers of {model} with a wrong reason, and {len(found) - luck} wrong ones with "
                    "right reasons alone."
                    if found
                    else f"No answer of {model} and its reasons part."
                ),
                columns=(
                    AssetColumn(name="sample", kind="name"),
                    AssetColumn(name="repeat", kind="count"),
                    AssetColumn(name="what", kind="name"),
                    AssetColumn(name="wrong reasons", kind="count"),
                    AssetColumn(name="reasons stated", kind="count"),
                    AssetColumn(name="score", unit=STEPS, kind="score", better="higher"),
                ),
                rows=tuple(
                    AssetRow(
                        key=f"{one.sample_id}/{one.repeat}",
                        cells=(
                            text(one.sample_id),
                            number(one.repeat + 1),
                            text(disagreement_of(one)),
                            number(wrong_reasons(one)),
                            number(len(one.reasons)),
                            number(one.score),
                        ),
                        n=len(one.reasons),
                        held=len(one.reasons),
                        model=model,
                        samples=(one.sample_id,),
                    )
                    for one in found
                ),
                model=model,
            )
        )
    return tables


def wrong_reasons(one: Answered) -> int:
    """Return how many of the reasons that an answer states are wrong."""
    return sum(score < SOLVED for score in one.reasons)


def disagreement_of(one: Answered) -> str:
    """Return how an answer and its reasons disagree; empty where they agree, or where neither can be said."""
    if one.score is None or not one.reasons:
        return ""
    if one.final == "right" and wrong_reasons(one):
        return WRONG_REASON
    return RIGHT_REASONS if one.final == "wrong" and not wrong_reasons(one) else ""


def _sentence(decided: int, silent: int, undecided: int, *, silence_known: bool) -> str:
    left = f" {several(undecided, 'final answer')} more: undecided." if undecided else ""
    if not decided:
        return "Of no final answer it was decided whether it is right, so nothing is said of reasons." + left
    if silent == decided:
        return f"Of {several(decided, 'answer')} that are right or wrong none states a reason: nothing is said of reasons.{left}"
    unasked = (
        "" if silence_known else " The judge was not asked what an answer leaves unsaid: silence counts as wrong here."
    )
    return (
        f"Of {several(decided, 'answer')} that are right or wrong {decided - silent} state reasons (criteria that they speak "
        f"to, the final answer left out): how many right ones get a reason wrong (score below {SOLVED}), and how many wrong "
        f"ones none. Differences between models are not tested.{left}{unasked}"
    )
