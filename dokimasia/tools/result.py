"""What a tool gives back: words for the model, and a picture where it makes one."""

from pydantic import ConfigDict

from dokimasia.domain.criterion import Box
from dokimasia.domain.identity import Value


class ToolResult(Value):
    """A tool's result.

    `text` is the tool's own words. `quoted` is text that was found in the image: somebody else wrote it, so it is shown
    to a model only as a quotation. `image` is a picture as PNG bytes, `width` by `height` pixels, which shows `box` of
    the image that was looked at (a region is widened to whole pixels).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")

    text: str
    quoted: str | None = None
    image: bytes | None = None
    width: int = 0
    height: int = 0
    box: Box | None = None
