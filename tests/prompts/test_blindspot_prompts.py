"""The prompts by which judges are probed: composed of parts, each with an identity of its own, and no form that can be copied."""

from pathlib import Path
from typing import get_args

import pytest

from dokimasia.agents.blindspots import axes_asked, compare_answers, prompt_of, score_answer
from dokimasia.cli.main import run
from dokimasia.domain.blindspots import AXES, OVERALL, PUBLISHED, Evaluator, Task, paradigm_of
from dokimasia.domain.sample import ImageRef, Sample
from dokimasia.errors import ConfigError, UnparsableReply
from dokimasia.parsing.blindspots.judged import parse_axis_choices, parse_axis_scores, parse_notice
from dokimasia.prompts import PromptLibrary, default_library, recognise, render

TASKS: tuple[Task, ...] = get_args(Task)
WAYS = [(evaluator, task) for evaluator in PUBLISHED for task in TASKS]
LONG = "word " * 30_000
IMAGES = tuple(ImageRef(sha256=sign * 64, media_type="image/png", width=3, height=4) for sign in "abc")


def test_each_evaluator_has_an_identity_of_its_own() -> None:
    """Nine evaluators for two tasks are eighteen prompts by name, version and hash."""
    found = [default_library().get(prompt_of(*way)) for way in WAYS]
    assert len({one.name for one in found}) == len({one.hash for one in found}) == 18
    with pytest.raises(ValueError, match="prompts of its own"):
        prompt_of("gated", "image-to-text")


@pytest.mark.parametrize(("evaluator", "task"), WAYS)
def test_a_prompt_asks_for_its_axes_and_cannot_be_copied(evaluator: Evaluator, task: Task) -> None:
    """The form has a line for each axis that is asked for, in order, `overall` last; sent back as it is, it is no reply."""
    prompt = default_library().get(prompt_of(evaluator, task))
    axes = axes_asked(evaluator, task)
    assert axes[-1] == OVERALL
    assert [line.partition(" | ")[0] for line in prompt.form.splitlines() if " | " in line] == list(axes)
    assert all((f"- {axis}: " in prompt.system) is ("axes" in evaluator) for axis in axes)
    assert "{{" not in prompt.system + prompt.form
    parse = parse_axis_choices if paradigm_of(evaluator) == "pairwise" else parse_axis_scores
    for copied in (prompt.form, f"It is good.\n{prompt.form.partition(':')[2]}"):
        with pytest.raises(UnparsableReply):
            parse(copied, axes)


def test_strategies_add_to_one_another() -> None:
    """A rubric or rules stand only where they are asked for, by axis with axes; creativity only in pairs."""
    library = default_library()

    def told(evaluator: Evaluator, task: Task = "image-to-text") -> str:
        return library.get(prompt_of(evaluator, task)).system

    assert "9 to 10: " not in told("single-vanilla") + told("single-axes")
    assert told("single-rubric").count("9 to 10: ") == 1
    assert told("single-axes-rubric").count("9 to 10: ") == len(axes_asked("single-axes-rubric", "image-to-text"))
    assert "Rule" not in told("pairwise-vanilla") + told("pairwise-axes")
    assert "\nRules:\n" in told("pairwise-rules")
    assert told("pairwise-axes-rules").count("\n  Rule: ") == len(AXES["image-to-text"])
    assert "creativity" in told("pairwise-axes")
    assert "creativity" not in told("single-axes")


@pytest.mark.parametrize("evaluator", PUBLISHED)
@pytest.mark.parametrize("answer", ["a gull", LONG, IMAGES[1]])
def test_what_is_asked_is_recognised(evaluator: Evaluator, answer: str | ImageRef) -> None:
    """Texts stand between fences, long ones cut and said to be so, and images come in the order that the prompt names."""
    sample = Sample(id="s", images=IMAGES[:1], prompt="Which bird?", choices=("gull", "heron"))
    gold = "a heron" if isinstance(answer, str) else IMAGES[0]
    if paradigm_of(evaluator) == "pairwise":
        asked = compare_answers(sample, evaluator, answer, gold)
    else:
        reference = {"reference": gold} if evaluator == "reference" else {}
        asked = score_answer(sample, evaluator, answer, **reference)
    rendered = render(asked.prompt, asked.inputs, images=asked.images)
    found = recognise(rendered.messages)
    assert found is not None
    assert (found.name, found.inputs, found.images) == (asked.prompt, asked.inputs, asked.images)
    if isinstance(answer, str):
        assert found.images == sample.images
        assert ("30000" in str(found.inputs)) is False
        assert any(name.startswith("part") for name in found.inputs) is (answer is LONG)
        assert any("of 150000 characters" in one for one in asked.shown) is (answer is LONG)
    elif evaluator == "reference":
        assert found.images == (IMAGES[0], IMAGES[1])
    else:
        assert found.images == (IMAGES[1], IMAGES[0])[: len(found.images)]


def test_what_is_no_pair_and_no_single_answer_is_refused() -> None:
    """An evaluator is asked for what it judges, a reference where it goes by one, and two answers of one kind."""
    sample = Sample(id="s", images=IMAGES[:1], prompt="Which bird?")
    for wrong in (
        lambda: score_answer(sample, "pairwise-axes", "a"),
        lambda: score_answer(sample, "reference", "a"),
        lambda: score_answer(sample, "single-axes", "a", reference="b"),
        lambda: score_answer(sample, "reference", "a", reference=IMAGES[0]),
        lambda: compare_answers(sample, "single-axes", "a", "b"),
        lambda: compare_answers(sample, "pairwise-axes", "a", IMAGES[0]),
    ):
        with pytest.raises(ValueError, match=r"scores no|goes with|both texts|compares no"):
            wrong()


def test_the_readers_form_cannot_be_copied() -> None:
    """Its form, sent back as it is, says neither yes nor no, and quotes nothing."""
    form = default_library().get("justification").form
    with pytest.raises(UnparsableReply) as caught:
        parse_notice(form, "The jetty is grey.")
    assert "no verdict" in caught.value.reason
    assert "do not stand in the justification" in caught.value.reason


def test_a_composed_prompt_is_shown_copied_and_replaced_like_any(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the command line it is a whole file, which replaces it where it is changed."""
    name = "pairwise_image_axes_rules"
    assert run(["prompts", "show", name]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"---\nname: {name}\nversion: ")
    assert "{{+" not in shown
    assert run(["prompts", "copy", name, str(tmp_path)]) == 0
    same = default_library().overridden(tmp_path)
    assert same.get(name) == default_library().get(name)
    path = tmp_path / f"{name}.md"
    path.write_text(path.read_text().replace("version: 1", "version: 2"))
    changed = default_library().overridden(tmp_path).get(name)
    assert changed.version == 2
    assert changed.hash != default_library().get(name).hash


def test_a_broken_family_of_prompts_is_named(tmp_path: Path) -> None:
    """A file of strategies for a task that there is not, or with a part that no strategy has, is refused with its path."""
    path = tmp_path / "single_mine.md"
    head = "---\nname: single_mine\nversion: 1\noutput: x\ntask: {}\nstrategies: [vanilla, axes]\n"
    head += "inputs: {{a: required}}\nsource: s\n---\n"
    path.write_text(head.format("image-to-sound") + "## system\ns\n## user\n{{a}}\n")
    with pytest.raises(ConfigError, match=r"single_mine\.md: there is no task 'image-to-sound'"):
        PromptLibrary.from_folders(tmp_path)
    path.write_text(head.format("image-to-text") + "## system\nSay {{+lines}}.\n\nNot {{+axes}}.\n## user\n{{a}}\n")
    library = PromptLibrary.from_folders(tmp_path)
    assert library.names() == ["single_mine_axes", "single_mine_vanilla"]
    assert library.get("single_mine_vanilla").system == "Say overall | score: [your score]."
    assert "\n\nNot - relevance: " in library.get("single_mine_axes").system
    path.write_text(head.format("image-to-text") + "## system\nSay {{+nothing}}.\n## user\n{{a}}\n")
    with pytest.raises(ConfigError, match=r"single_mine\.md: there is no part 'nothing'"):
        PromptLibrary.from_folders(tmp_path)
    path.write_text(head.format("image-to-text") + "## system\nSay {{+lines.}}.\n## user\n{{a}}\n")
    with pytest.raises(ConfigError, match=r"single_mine\.md: a part cannot be read: "):
        PromptLibrary.from_folders(tmp_path)
