"""Of which sample a question to a person is, among samples that share an image."""

import pytest

from dokimasia.domain.call import Chat, Message, ModelRef
from dokimasia.domain.question import PendingQuestion
from dokimasia.domain.sample import ImageRef, Sample, TextPart
from dokimasia.people.checks.questions import sample_of

IMAGE, OTHER = (ImageRef(sha256=one * 64, media_type="image/png", width=8, height=8) for one in "ab")
SAMPLES = [
    Sample(id="count", images=(IMAGE,), prompt="How many things are there?"),
    Sample(id="fourth", images=(IMAGE,), prompt="What is the fourth thing?"),
    Sample(id="why", images=(IMAGE,), prompt="What is the fourth thing? Say why."),
    Sample(id="letters", images=(IMAGE,), prompt="Which is it?", choices=("red", "blue")),
    Sample(id="words", images=(IMAGE,), prompt="Which is it?", choices=("square", "round")),
    Sample(id="elsewhere", images=(OTHER,), prompt="What is the fourth thing?"),
    Sample(id="blind", prompt="Who wrote it?"),
]


@pytest.mark.parametrize(
    ("images", "text", "sample"),
    [
        ([IMAGE], "What is the fourth thing?\n\nSay what it rests on.", "fourth"),
        ([OTHER], "What is the fourth thing?", "elsewhere"),
        ([IMAGE], "What is the fourth thing? Say why.", "why"),
        ([IMAGE], "Which is it?\n\nOptions:\nA. square\nB. round", "words"),
        ([OTHER], "Describe the image.", "elsewhere"),
        ([IMAGE], "Describe the image.", "count, fourth, why, letters, words"),
        ([], "Who wrote it?", "blind"),
        ([], "How many things are there?", "count"),
        ([], "Is this reply polite?", ""),
    ],
)
def test_a_question_is_of_the_sample_that_it_quotes(images: list[ImageRef], text: str, sample: str) -> None:
    """Image and question tell which; what is asked of an image alone is of all that show it."""
    message = Message(role="user", parts=(*images, TextPart(text=text)))
    model = ModelRef(name="ana", model="human/ana", endpoint="human")
    call = Chat(model=model, messages=(message,))
    question = PendingQuestion(item="i", run="r", person="ana", key="k", call=call, prompt="p", asked_at="now")
    assert sample_of(question, SAMPLES) == sample
