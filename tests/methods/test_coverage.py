"""The criteria's coverage of the reference answers: sentence by sentence, sample by sample, without a model."""

import json
from pathlib import Path

import pytest

from dokimasia.cli.main import run
from dokimasia.domain.criterion import CriteriaSet, Criterion
from dokimasia.domain.sample import Sample
from dokimasia.methods.evaluation.criteria import covered_share, sample_coverage

CRITERIA = CriteriaSet(
    criteria=(
        Criterion(question="What does the dog do?", ground_truth="The dog sleeps.", weight=5),
        Criterion(question="Which season is it?", ground_truth="It is winter.", weight=3),
        Criterion(question="How many chairs are there?", ground_truth="three chairs", weight=2),
    )
)


def sample(reference: str | None) -> Sample:
    """Return a sample with that reference answer."""
    return Sample(id="s", prompt="What is going on?", reference_answer=reference)


def test_sentences_that_no_criterion_touches() -> None:
    """Sentences without a word of any criterion are listed in order; the share counts those with content words."""
    found = sample_coverage(sample("The dog sleeps. The sky is grey. Yes. A lamp hangs over the table."), CRITERIA)
    assert found is not None
    assert (found.criteria, found.sentences) == (3, 3)
    assert found.uncovered == ("The sky is grey.", "A lamp hangs over the table.")
    assert found.share == pytest.approx(1 / 3)
    assert covered_share([found, found]) == pytest.approx(1 / 3)


@pytest.mark.parametrize("reference", [None, "Yes."])
def test_nothing_to_cover(reference: str | None) -> None:
    """A sample without a reference, or with one that has no content words, has no coverage."""
    assert sample_coverage(sample(reference), CRITERIA) is None
    assert covered_share([]) is None


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`criteria coverage` lists the gaps of a run, and `show --sample` those of one sample."""
    data = tmp_path / "data.jsonl"
    rows = [
        {"id": "with", "prompt": "What is in the yard?", "reference_answer": "A brown dog sleeps near the gate."},
        {"id": "without", "prompt": "What is in the yard?"},
    ]
    data.write_text("\n".join(json.dumps(row) for row in rows))
    home = ["--home", str(tmp_path / "home")]
    made = ["evaluate", str(data), "--judge", "sim/judge-noisy", "--models", "sim/weak", *home, "--json"]
    assert run(made) == 0
    name = json.loads(capsys.readouterr().out)["run"]

    assert run(["criteria", "coverage", name, *home, "--json"]) == 0
    coverage = json.loads(capsys.readouterr().out)
    assert [one["sample"] for one in coverage["samples"]] == ["with"]
    assert coverage["samples"][0]["sentences"] == 1

    long = "A brown dog sleeps near the gate. Red flowers grow along the wall."
    data.write_text(json.dumps({**rows[0], "reference_answer": long}))
    assert run(made) == 0
    name = json.loads(capsys.readouterr().out)["run"]
    own = tmp_path / "own.jsonl"
    assert run(["criteria", "export", name, "-o", str(own), *home]) == 0
    (line,) = [json.loads(one) for one in own.read_text().splitlines()]
    own.write_text(json.dumps({**line, "criteria": CRITERIA.model_dump(mode="json")}))
    capsys.readouterr()
    assert run(["criteria", "import", str(own), *home, "--json"]) == 0
    collection = json.loads(capsys.readouterr().out)["collection"]
    assert run([*made, "--criteria", collection]) == 0
    name = json.loads(capsys.readouterr().out)["run"]

    assert run(["criteria", "coverage", name, *home, "--json"]) == 0
    coverage = json.loads(capsys.readouterr().out)
    assert coverage["share"] == pytest.approx(0.5)
    assert coverage["samples"][0]["uncovered"] == ["Red flowers grow along the wall."]
    assert run(["criteria", "coverage", name, *home]) == 0
    table = capsys.readouterr().out
    assert "50 % of the sentences of the references of 1 samples" in table
    assert "Red flowers grow along the wall." in table
    assert run(["show", name, "--sample", "with", *home]) == 0
    shown = capsys.readouterr().out
    assert "No criterion touches (by its words) 1 of the reference's 2 sentences" in " ".join(shown.split())
    assert "• Red flowers grow along the wall." in shown
