"""Planted names and self-descriptions are taken out of responses and reports, and what they say of the picture stays."""

import pytest

from dokimasia.algorithms.text.anonymising import anonymise, anonymise_report

NAMES = (
    "acme/zorb-vl-7b",
    "nearsighted",
    "sim/strong",
    "dashscope/Qwen3-VL-30B-A3B",
    "openrouter/anthropic/claude-opus-4.1",
)
ANSWER = "There are 3 red cups on the left of the table."
PLANTED = (
    "As a large language model trained by Acme Research, {}",
    "As an AI developed by OpenAI, {}",
    "As an AI model made by Acme, {}",
    "As a multimodal assistant, {}",
    "As a helpful assistant built by Google, {}",
    "I am Zorb VL 7B, a vision-language model made by Acme. {}",
    "I am Zorb. {}",
    "i'm zorb_vl. {}",
    "Hello! I'm Claude 3.5 Sonnet, an AI assistant created by Anthropic. {}",
    "My name is Zorb. {}",
    "{}\n\n- Qwen3 VL 30B A3B",
    "{}\n\n\u2014 Opus",
    "{} I was trained by Google DeepMind.",
    "{} I was developed and trained by Google.",
    "{} This is GPT-4o speaking.",
    "I'm ChatGPT. {}",
    "I'm Gemini. {}",
    "I am Llama. {}",
    "Being a language model built at Mistral AI, {}",
    "You are chatting with InternVL3.5-8B. {}",
    "{} (answered by zorb_vl_7b)",
    "{} (ACME/ZORB-VL-7B)",
    "{} I am a model developed and trained by Alibaba Cloud.",
    "Since I am an AI language model, {}",
    "{} My training data goes up to June 2024.",
    "{} My knowledge cutoff is June 2024.",
    "{} Google's AI model would say so, too.",
    "{} Yours, qwen 3.",
    "{} QWEN agrees.",
    "{} Claude agrees, and so do Opus 4.1 and claude_opus.",
    "{} (dashscope/qwen3-vl-30b-a3b)",
    "{} (Qwen3VL)",
    "{} The team that made me is at Acme.",
    "I was originally created by a company called Anthropic. {}",
    "As Claude, I would say: {}",
    "Ich bin Claude. {}",
    "(Gemini 2.5 Pro) {}",
    "{} Deep Seek and Open AI agree.",
    "While I'm an AI developed by Google, {}",
    "\u4f5c\u4e3a\u4e00\u4e2a\u7531\u963f\u91cc\u4e91\u8bad\u7ec3\u7684AI\u52a9\u624b\uff0c{}",
    "\u6211\u662f\u901a\u4e49\u5343\u95ee\uff0c\u4e00\u4e2aAI\u52a9\u624b\u3002{}",
)
SECRETS = (
    "acme", "zorb", "openai", "claude", "anthropic", "qwen", "deepmind", "gpt", "mistral", "internvl", "alibaba", "google",
    "gemini", "llama", "opus", "sonnet", "dashscope", "30b", "7b", "3.5", "4.1", "2024", "language model", "trained by",
    "made me", "assistant", "an ai", "\u963f\u91cc\u4e91", "\u5343\u95ee", "\u52a9\u624b",
)  # fmt: skip


@pytest.mark.parametrize("planted", PLANTED)
def test_planted_names_and_self_descriptions_are_removed(planted: str) -> None:
    """Nothing of the planted identity is left, and the answer is there whole."""
    found = anonymise(planted.format(ANSWER), (*NAMES, "Zorb"))
    assert found.removed > 0
    assert ANSWER in found.text
    assert not [secret for secret in SECRETS if secret in found.text.casefold()], found.text


@pytest.mark.parametrize("written", [str.lower, str.upper, str.title, str])
@pytest.mark.parametrize("between", ["-", " ", "_", "", ".", "/"])
@pytest.mark.parametrize(
    "name", [*NAMES, "openai/gpt-4o-mini-2024-07-18", "vertex_ai/gemini-2.5-pro", "Phi-4-multimodal"]
)
def test_a_name_is_found_in_any_writing(name: str, between: str, written: type[str]) -> None:
    """Case and the signs between a name's pieces do not matter, of whole names and of what stands behind the last stroke."""
    for part in (name, name.rpartition("/")[2]):
        shown = written(part.replace("/", between).replace("-", between).replace("_", between))
        text = anonymise(f"Says {shown}, {ANSWER}", (name,)).text
        assert text == f"Says [model], {ANSWER}", shown


@pytest.mark.parametrize(
    "text",
    [
        "The sign reads Google Maps, and the painting is by Claude Monet.",
        "The model of the car is a Ford; the assistant in the shop wears red.",
        "As a result, the twins of Gemini are shown.\nFinal answer: 4",
        "The table was made by hand, and the meta-analysis is listed below.",
        "A llama and a vicuna graze beside a falcon.\n\nThe answer is: llama",
        "Gemini 8 was launched in 1966, and Falcon 9 landed; the poster names opus 27 and Sonnet 18.",
        "This is a scale model of a ship. It was designed by Frank Gehry.",
        "As a model of a bridge, it is 40 % smaller; as an AI-generated picture, it has no date.",
        "The command line shows a bard, a copilot, granite and a nova.",
        "The wind is strong and the signal is weak.",
        "I am sure the model is a Ford, made by hand. I was able to count 3 made by Lego.",
        'The woman says: "I am an assistant at the museum." The sign: I am Groot.',
        "In 2024 the mistral blew at 3.5 m/s; phi is 1.618.",
    ],
)
def test_what_is_seen_in_a_picture_is_no_self_description(text: str) -> None:
    """A response that says nothing of its writer stays as it is, and so do words that are names of models elsewhere."""
    assert anonymise(text, ("acme/zorb-vl-7b", "nearsighted", "sim/strong", "sim/weak", "local/qwen3-vl")) == (text, 0)


def test_an_ordinary_word_goes_where_it_is_the_name_of_one_of_the_two_and_is_counted() -> None:
    """Opus, llama and Gemini are taken out where such a model is asked about, and stay where another one is."""
    text = "The opus was played to a llama under Gemini."
    assert anonymise(text, ("acme/zorb-vl-7b",)).removed == 0
    assert anonymise(text, ("acme/zorb-vl-7b",), others=("anthropic/claude-opus-4",)).removed == 0
    found = anonymise(text, ("anthropic/claude-opus-4", "meta-llama/Llama-3.2-11B-Vision"))
    assert found == ("The [model] was played to a [model] under Gemini.", 2)


def test_another_model_of_the_run_is_taken_out_whole() -> None:
    """Whoever else was judged is no hint either."""
    found = anonymise("Unlike Steady-VL 9b, I see two.", ("acme/zorb",), others=("acme/steady-vl-9b",))
    assert found.text == "Unlike [model], I see two."


@pytest.mark.parametrize(
    "text", ["\n" * 20_000, " " * 20_000, "I am " * 4_000, "As an " * 4_000, "[model] " * 3_000, "a-" * 9_000]
)
def test_long_texts_of_nothing_but_beginnings_are_read(text: str) -> None:
    """No pattern takes longer than in proportion to the text."""
    assert anonymise(text, NAMES).removed >= 0


def test_a_report_loses_names_and_keeps_its_figures() -> None:
    """The subject becomes the model, others become another model, numbers stay; *weak* as a word stays, too."""
    sentences = [
        "nearsighted is weak at Reading Dials, at 31.2 points of 100 [95 % interval 20.1 to 42.0].",
        "weak scores lower than nearsighted by 0.5 points, as the table leaves/nearsighted shows.",
        "Qwen3-VL-30B-A3B is ahead.",
        "Known as acme/zorb-vl-7b, or Zorb, it is no Opus and no GPT-5.",
    ]
    text = anonymise_report(
        sentences,
        "nearsighted",
        ("nearsighted", "weak", "Qwen3-VL-30B-A3B"),
        ids=("acme/zorb-vl-7b", "x/claude-opus-4"),
    )
    assert text.splitlines() == [
        "The model is weak at Reading Dials, at 31.2 points of 100 [95 % interval 20.1 to 42.0].",
        "Another model scores lower than the model by 0.5 points, as the table leaves/the model shows.",
        "Another model is ahead.",
        "Known as [model], or [model], it is no [model] and no [model].",
    ]
