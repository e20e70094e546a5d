"""What becomes of a draft of rubrics: what is wrong with it, what a mending made of it, and what rules and panel leave."""

from collections.abc import Mapping, Sequence

from dokimasia.algorithms.rubric_checks import rubric_problems
from dokimasia.domain.rubric import (
    DISSENTS,
    CheckedRubric,
    DroppedRubric,
    PanelVerdict,
    Rubric,
    RubricDraft,
    Stream,
    WrittenRubric,
)


def as_rubric(stream: Stream, written: WrittenRubric) -> Rubric:
    """Return a rubric as a judge wrote it, without the responses that it names."""
    said = written._asdict()
    del said["responses"]
    return Rubric(stream=stream, **said)


def faults(draft: RubricDraft, *, silent_gate: bool) -> dict[int, list[str]]:
    """Return what is wrong with rubrics, by number from 1: the rules that they break, and that they test nothing."""
    texts: dict[int, list[str]] = {}
    for problem in rubric_problems(draft.rubrics, silent_gate=silent_gate):
        texts.setdefault(problem.place + 1, []).append(problem.text)
    for place, reason in draft.idle.items():
        texts.setdefault(place + 1, []).append(f"it tests nothing: {reason}")
    return texts


def mended(
    draft: RubricDraft,
    texts: Mapping[int, Sequence[str]],
    written: Mapping[int, WrittenRubric | None],
    names: Sequence[str],
) -> RubricDraft:
    """Return the draft after its mending.

    Args:
        draft: what was mended.
        texts: what was wrong, by the number of the rubric.
        written: what the judge wrote in the place of each, None for one that it gave up.
        names: whose responses it was shown, in their order.
    """
    kept: list[Rubric] = []
    dropped = list(draft.dropped)
    for number, rubric in enumerate(draft.rubrics, start=1):
        if number not in written:
            kept.append(rubric)
            continue
        new, idle = written[number], number - 1 in draft.idle
        if new is None or idle:
            by = "trial" if idle else "rules"
            dropped.append(DroppedRubric(rubric=rubric, reason="; ".join(texts[number]), by=by))
        if new is not None and idle:
            support = tuple(names[one - 1] for one in new.responses)
            kept.append(as_rubric(rubric.stream, new).model_copy(update={"support": support, "replaced": True}))
        elif new is not None:
            kept.append(as_rubric(rubric.stream, new).model_copy(update={"support": rubric.support, "repaired": True}))
    return draft.model_copy(update={"rubrics": tuple(kept), "dropped": tuple(dropped), "idle": {}})


def kept_by_rules(draft: RubricDraft, *, silent_gate: bool) -> RubricDraft:
    """Return the draft without the rubrics that still break a rule, each dropped with the reason."""
    kept, dropped = list(draft.rubrics), list(draft.dropped)
    while problems := rubric_problems(kept, silent_gate=silent_gate):
        place = problems[-1].place
        reason = "; ".join(one.text for one in problems if one.place == place)
        dropped.append(DroppedRubric(rubric=kept.pop(place), reason=reason, by="rules"))
    return draft.model_copy(update={"rubrics": tuple(kept), "dropped": tuple(dropped)})


def settled(
    draft: RubricDraft, heard: Mapping[str, Sequence[CheckedRubric]]
) -> tuple[list[tuple[Rubric, tuple[PanelVerdict, ...]]], list[DroppedRubric]]:
    """Return the rubrics with their verdicts, and apart those that two of who were heard (or the only one) find a fault with."""
    needed = min(DISSENTS, max(1, len(heard)))
    kept: list[tuple[Rubric, tuple[PanelVerdict, ...]]] = []
    dropped: list[DroppedRubric] = []
    for place, rubric in enumerate(draft.rubrics):
        said = tuple(PanelVerdict(member=name, **checked[place]._asdict()) for name, checked in heard.items())
        against = [verdict for verdict in said if verdict.dissents]
        if len(against) >= needed:
            reason = "; ".join(f"{verdict.member}: {', '.join(verdict.faults)}" for verdict in against)
            dropped.append(DroppedRubric(rubric=rubric, reason=reason, by="panel"))
        else:
            kept.append((rubric, said))
    return kept, dropped
