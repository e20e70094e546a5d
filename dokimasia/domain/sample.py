"""What a data set holds: samples, their images by content, and the parts of a message."""

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


class TextPart(Value):
    """A piece of text in a message."""

    kind: Literal["text"] = "text"
    text: str


Part = Annotated[TextPart | ImageRef, Field(discriminator="kind")]


class Sample(Value):
    """One question on zero or more images.

    `prompt` may be empty only for graphs that need none; `choices` are the texts of the options in order (A, B, ...).
    `meta` keeps whatever else the data file said of the sample.
    """

    id: str = Field(min_length=1)
    images: tuple[ImageRef, ...] = ()
    prompt: str = ""
    reference_answer: str | None = None
    choices: tuple[str, ...] = ()
    category: str | None = None
    meta: dict[str, JsonValue] = Field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Content id of what a model or judge can be shown: not the sample's name, its category or `meta`."""
        return _digest(tuple(image.sha256 for image in self.images), self.prompt, self.reference_answer, self.choices)

    @property
    def cluster(self) -> str:
        """Samples that share an image share a cluster; a sample without images is a cluster of its own."""
        return self.images[0].sha256 if self.images else f"sample:{self.id}"

    def asked(self, request: str) -> "Sample":
        """Return the sample as a model is asked about it by one request alone, whatever its own question is."""
        return self.model_copy(update={"prompt": request, "choices": (), "reference_answer": None})


@lru_cache(maxsize=1024)  # asked for with every answer to a sample, and every judgement of one
def _digest(images: tuple[str, ...], prompt: str, reference_answer: str | None, choices: tuple[str, ...]) -> str:
    content = {"images": images, "prompt": prompt, "reference_answer": reference_answer, "choices": choices}
    return digest("sample/1", content)
