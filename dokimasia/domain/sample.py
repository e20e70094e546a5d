"""Contents of a data set: samples, their images by content hash, and the parts of a message."""

from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from dokimasia.domain.identity import Value, digest

MediaType = Literal["image/png", "image/jpeg", "image/webp", "image/gif"]


class ImageRef(Value):
    """An image by content: the hash of its bytes as they are sent.

    `width` and `height` are in pixels, as stored (before any EXIF rotation).
    """

    kind: Literal["image"] = "image"
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    media_type: MediaType
    width: int = Field(ge=1)
    height: int = Field(ge=1)

    @property
    def file(self) -> str:
        """The image's path in an exported folder, such as `images/0123456789abcdef.png`."""
        return f"images/{self.sha256[:16]}.{self.media_type.removeprefix('image/').replace('jpeg', 'jpg')}"


class TextPart(Value):
    """A piece of text in a message."""

    kind: Literal["text"] = "text"
    text: str


Part = Annotated[TextPart | ImageRef, Field(discriminator="kind")]


class Sample(Value):
    """One question on zero or more images.

    `prompt` may be empty only for graphs that need none; `choices` are the texts of the options in order (A, B, ...).
    `reference_answers` are all accepted answers where there are several; `reference_answer` is then the first of them,
    or what the data say of them in one text. `meta` keeps whatever else the data file said of the sample.
    """

    id: str = Field(min_length=1)
    images: tuple[ImageRef, ...] = ()
    prompt: str = ""
    reference_answer: str | None = None
    reference_answers: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    category: str | None = None
    meta: dict[str, JsonValue] = Field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The content id of all that a model or judge may see, without the sample's name, category and `meta`."""
        return _digest(
            tuple(image.sha256 for image in self.images),
            self.prompt,
            self.reference_answer,
            self.reference_answers,
            self.choices,
        )

    @property
    def accepted(self) -> tuple[tuple[str, ...], ...]:
        """The accepted answers, each as its required parts; empty without a reference answer.

        In a reference answer `<OR>` separates alternatives and `<AND>` separates parts, as in MM-Vet.
        """
        return _accepted(self.reference_answers or (() if self.reference_answer is None else (self.reference_answer,)))

    @property
    def accepted_texts(self) -> tuple[str, ...]:
        """The accepted answers, each as one text."""
        return tuple(" and ".join(parts) for parts in self.accepted)

    @property
    def reference_text(self) -> str | None:
        """The reference answer as shown to a model, with alternatives and parts in words; None without one."""
        alternatives = self.accepted_texts
        if len(alternatives) > 1:
            return "Any one of these is accepted: " + "; ".join(alternatives)
        if alternatives:
            return alternatives[0]
        return None

    @property
    def cluster(self) -> str:
        """The sample's cluster: samples that share an image share a cluster; a sample without images has its own."""
        if self.images:
            return self.images[0].sha256
        return f"sample:{self.id}"

    def asked(self, request: str) -> "Sample":
        """Return the sample with its question replaced by a request, and without choices and reference answers."""
        return self.model_copy(
            update={"prompt": request, "choices": (), "reference_answer": None, "reference_answers": ()}
        )


@lru_cache(maxsize=1024)  # needed with every answer to a sample and every judgement
def _digest(
    images: tuple[str, ...],
    prompt: str,
    reference_answer: str | None,
    reference_answers: tuple[str, ...],
    choices: tuple[str, ...],
) -> str:
    content: dict[str, JsonValue] = {
        "images": list(images),
        "prompt": prompt,
        "reference_answer": reference_answer,
        "choices": list(choices),
    }
    if reference_answers:
        content["reference_answers"] = list(reference_answers)
    return digest("sample/1", content)


@lru_cache(maxsize=1024)
def _accepted(references: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    alternatives = [alternative for reference in references for alternative in reference.split("<OR>")]
    parts = (tuple(part.strip() for part in alternative.split("<AND>") if part.strip()) for alternative in alternatives)
    return tuple(dict.fromkeys(part for part in parts if part))
