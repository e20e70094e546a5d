"""Text recognition in a region with Tesseract, if it is installed (the extra `ocr`)."""

import shutil
from functools import cache

from PIL import Image

from dokimasia.domain.criterion import Box
from dokimasia.errors import ToolFailure
from dokimasia.tools.pictures import ToolResult, open_picture, region

MAX_CHARACTERS = 4000
"""The maximum number of returned characters."""

SECONDS = 30
"""Time limit of Tesseract."""

_READABLE = 1200
_MAX_SIDE = 3000
_HINT = "zoom into the region and read it yourself"


@cache
def can_read() -> bool:
    """Return whether Tesseract and its Python package are installed."""
    import importlib.util

    return importlib.util.find_spec("pytesseract") is not None and shutil.which("tesseract") is not None


def read_text(data: bytes, box: Box) -> ToolResult:
    """Return the text in a region, as `quoted`, since it is untrusted.

    A small region is enlarged first. Tesseract reads printed text well, handwriting and stylised lettering badly.

    Args:
        data: the image file's bytes.
        box: the region, in fractions of the upright image's width and height.

    Raises:
        ToolFailure: Tesseract is not installed, fails or takes too long, or the image cannot be read.
    """
    if not can_read():
        raise ToolFailure(f"reading text is not possible here, since Tesseract is not installed; {_HINT}")
    picture = open_picture(data)
    text = _recognised(_readable(region(picture, box)))
    if not text:
        return ToolResult(text=f"No text was made out in the region; if you see some, {_HINT}.")
    cut = " (only its beginning)" if len(text) > MAX_CHARACTERS else ""
    return ToolResult(
        text=f"The text that was made out{cut}; single characters may be wrong.", quoted=text[:MAX_CHARACTERS]
    )


def _readable(part: Image.Image) -> Image.Image:
    """Return the pixels, enlarged to make letters readable, with a white margin, which helps at the edges."""
    longer = max(part.size)
    scale = min(4.0, max(1.0, _READABLE / longer), _MAX_SIDE / longer)
    size = (max(1, round(part.width * scale)), max(1, round(part.height * scale)))
    enlarged = part.convert("L").resize(size, Image.Resampling.LANCZOS)
    framed = Image.new("L", (size[0] + 40, size[1] + 40), 255)
    framed.paste(enlarged, (20, 20))
    return framed


def _recognised(image: Image.Image) -> str:
    import pytesseract

    try:
        text: str = pytesseract.image_to_string(image, timeout=SECONDS)
    except pytesseract.TesseractNotFoundError:
        raise ToolFailure(f"reading text is not possible here, since Tesseract is not installed; {_HINT}") from None
    except (RuntimeError, OSError) as error:  # a timeout, Tesseract's own errors, a program that cannot be started
        why = "took too long" if "timeout" in str(error).lower() else "failed"
        raise ToolFailure(f"reading the text {why}; {_HINT}") from None
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
