"""Right answers for the wrong reason, and wrong answers for the right ones: how often, and which (ATOM, 3.3)."""

from dokimasia.domain.diagnosis.tables import Asset, AssetColumn, AssetRow
from dokimasia.domain.refinement import SOLVED
from dokimasia.methods.diagnosis.cells import MODEL, STEPS, number, share_of, text
from dokimasia.methods.diagnosis.measured import Answered, Material, slugs_of
from dokimasia.report.figures import several

WRONG_REASON, RIGHT_REASONS = "right answer, wrong reason", "wrong answer, right reasons"


def reasons(material: Material) -> Asset:
    """Return how often a right final answer comes with failed atoms, and a wrong one with none.

    An atom is failed at a score of 3 or lower. Whether the final answer is right is what the run decided; what it left
    open is counted as undecided and in neither rate.
    """
    rows: list[AssetRow] = []
    decided = 0
    for model in material.models:
        own = [one for one in material.answers if one.model == model]
        scored = [one for one in own if one.score is not None]
        right, wrong = ([one for one in scored if one.final == kind] for kind in ("right", "wrong"))
        decided += len(right) + len(wrong)
        rows.append(
            AssetRow(
                key=model,
                cells=(
                    text(model),
                    number(len(right)),
                    share_of([failed_atoms(one) > 0 for one in right], [one.cluster for one in right]),
                    number(len(wrong)),
                    share_of([failed_atoms(one) == 0 for one in wrong], [one.cluster for one in wrong]),
                    number(sum(one.final == "undecided" for one in scored)),
                ),
                n=len(right) + len(wrong),
                held=len(own),
                model=model,
                samples=tuple(dict.fromkeys(one.sample_id for one in own if said_of(one))),
            )
        )
    return Asset(
        id="reasons",
        title="Right answer, wrong reason",
        sentence=(
            f"Of {several(decided, 'answer')} whose final answer was decided to be right or wrong: how many right ones "
            f"failed an atom (score below {SOLVED}), and how many wrong ones solved all."
            if decided
            else "Of no final answer it was decided whether it is right, so nothing is said of reasons."
        ),
        columns=(
            MODEL,
            AssetColumn(name="right answers", kind="count"),
            AssetColumn(name="of these, wrong reason", kind="share", better="lower"),
            AssetColumn(name="wrong answers", kind="count"),
            AssetColumn(name="of these, right reasons", kind="share"),
            AssetColumn(name="undecided", kind="count"),
        ),
        rows=tuple(rows),
        counts="samples",
    )


def answer_tables(material: Material) -> list[Asset]:
    """Return each model's list of right answers for the wrong reason, and the opposite; the most failed atoms first."""
    tables: list[Asset] = []
    for model, slug in slugs_of(material.models).items():
        found = [one for one in material.answers if one.model == model and said_of(one)]
        found.sort(key=lambda one: (said_of(one) != WRONG_REASON, -failed_atoms(one), one.sample_id, one.repeat))
        luck = sum(said_of(one) == WRONG_REASON for one in found)
        tables.append(
            Asset(
                id=f"answers/{slug}",
                title=f"{model}: answer and reasons part",
                sentence=(
                    f"{luck} right final answers of {model} with a failed atom, and {len(found) - luck} wrong ones with none."
                    if found
                    else f"No answer of {model} and its reasons part."
                ),
                columns=(
                    AssetColumn(name="sample", kind="name"),
                    AssetColumn(name="repeat", kind="count"),
                    AssetColumn(name="what", kind="name"),
                    AssetColumn(name="failed atoms", kind="count"),
                    AssetColumn(name="atoms", kind="count"),
                    AssetColumn(name="score", unit=STEPS, kind="score", better="higher"),
                ),
                rows=tuple(
                    AssetRow(
                        key=f"{one.sample_id}/{one.repeat}",
                        cells=(
                            text(one.sample_id),
                            number(one.repeat + 1),
                            text(said_of(one)),
                            number(failed_atoms(one)),
                            number(len(one.atoms)),
                            number(one.score),
                        ),
                        n=len(one.atoms),
                        held=len(one.atoms),
                        model=model,
                        samples=(one.sample_id,),
                    )
                    for one in found
                ),
                model=model,
            )
        )
    return tables


def failed_atoms(one: Answered) -> int:
    """Return how many atoms of an answer are failed."""
    return sum(score < SOLVED for score in one.atoms)


def said_of(one: Answered) -> str:
    """Return in which way an answer and its reasons part, empty where they do not, or where it cannot be said."""
    if one.score is None or not one.atoms:
        return ""
    if one.final == "right" and failed_atoms(one):
        return WRONG_REASON
    return RIGHT_REASONS if one.final == "wrong" and not failed_atoms(one) else ""
