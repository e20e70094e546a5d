"""How a diagnosis in words is shown: many sentences as a list, and nothing in them that was meant for their writer."""

from dokimasia.methods.diagnosis.figures import DiagnosisFigures
from dokimasia.methods.diagnosis.report import UNPRINTED, prose
from dokimasia.report.blocks import Bullets, Paragraph, Span, spans


def test_readers_see_a_list_and_no_places_that_were_not_printed() -> None:
    """A paragraph of many sentences is a list; an unprinted place and the message to the writer are in readers' words."""
    fault = {
        "kind": "no_test",
        "reason": "{compare a:1 b:2}: no paired test compares these two cells; print each figure",
    }
    plain = {"written": "", "paragraph": 0, "heading": False, "text": "All is well.", "places": [], "faults": []}
    faulty = {**plain, "text": "A is {compare a:1 b:2} here.", "faults": [fault, fault]}
    counts = {"verified": 5, "unverified": 1, "unverified_at_first": 1}
    state = {
        "subject": "",
        "failed": None,
        "picked": [],
        "unknown_picks": 0,
        "calls": 1,
        "cut": False,
        "repaired": False,
    }
    report = {**state, **counts, "words": 30, "sentences": [plain] * 5 + [faulty]}
    short = {**report, "sentences": [{**plain, "paragraph": 1}] * 2}
    totals = {**counts, "sentences": 6, "failed": 0, "by_kind": {"no_test": 1}}
    heading = {
        "run": "r",
        "status": "done",
        "simulated": [],
        "source": "e",
        "diagnosis": "d",
        "models": [],
        "notes": [],
    }
    words = DiagnosisFigures.model_validate({**heading, "judge": "J", "totals": totals, "reports": [report, short]})
    blocks = [*prose(words, {})][1:]
    assert [type(one) for one in blocks] == [Bullets, Paragraph]
    assert isinstance(blocks[0], Bullets)
    last = "".join(piece.text if isinstance(piece, Span) else piece for piece in spans(blocks[0].items[-1]))
    assert last == f"A is {UNPRINTED} here. (unverified: it compares what no paired test compares)"
    assert isinstance(blocks[1], Paragraph)
    assert "".join(map(str, spans(blocks[1].text))) == "All is well. All is well."
