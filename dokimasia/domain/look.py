"""Closer looks at images: the tool used, the region, and its output, stored beside the result."""

from pydantic import Field

from dokimasia.domain.criterion import Box
from dokimasia.domain.identity import Value
from dokimasia.domain.sample import ImageRef


class Region(Value):
    """A part of one of the images that a model was first shown; a part of a part is traced back to it.

    `image` is that image's hash, and `box` counts in fractions of its width and height as it is seen upright.
    """

    image: str = Field(pattern=r"^[0-9a-f]{64}$")
    box: Box


class Look(Value):
    """One use of a tool by a model.

    `arguments` is what the model wrote (cut), `regions` what it looked at, empty where that could not be made out.
    `text` is what the model was told; `failed` says that it was told why the tool could not do it. `made` is the image
    that the tool made, in the blob store. `call` is the ledger key of the call that asked for it, `prompt` what that
    call was about.
    """

    tool: str
    arguments: str = Field(max_length=500)
    regions: tuple[Region, ...] = ()
    text: str
    failed: bool = False
    made: ImageRef | None = None
    call: str
    prompt: str
