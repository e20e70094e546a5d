"""Colours of a region: the mean colour, and the main colours with their shares."""

from collections import Counter
from functools import lru_cache

from PIL import Image, ImageStat

from dokimasia.domain.criterion import Box
from dokimasia.tools.pictures import ToolResult, open_picture, pixel_box, region

MOST = 5
_SIDE = 256
_SMALLEST_SHARE = 0.01
_NAMES: dict[str, tuple[int, int, int]] = {
    "black": (0, 0, 0),
    "dark grey": (70, 70, 70),
    "grey": (128, 128, 128),
    "light grey": (200, 200, 200),
    "white": (255, 255, 255),
    "red": (215, 40, 40),
    "dark red": (128, 10, 20),
    "pink": (245, 160, 190),
    "orange": (245, 140, 30),
    "brown": (125, 80, 45),
    "beige": (225, 205, 170),
    "yellow": (245, 220, 50),
    "olive": (125, 125, 30),
    "light green": (140, 220, 130),
    "green": (45, 150, 70),
    "dark green": (15, 80, 35),
    "turquoise": (60, 200, 195),
    "light blue": (150, 200, 240),
    "blue": (40, 95, 210),
    "dark blue": (20, 35, 100),
    "purple": (130, 60, 170),
    "magenta": (225, 40, 180),
}


def measure_colour(data: bytes, box: Box) -> ToolResult:
    """Return the colours of a region: its mean colour and up to five main colours with their shares of its area.

    Colours are sRGB values from 0 to 255, each with the nearest of 22 everyday names. Transparent parts count as white.

    Args:
        data: the image file's bytes.
        box: the region, in fractions of the upright image's width and height.

    Raises:
        ToolFailure: the image cannot be read.
    """
    picture = open_picture(data)
    part = region(picture, box)
    lines = [f"The region has {part.width} x {part.height} pixels."]
    small = part.copy()
    small.thumbnail((_SIDE, _SIDE), Image.Resampling.BOX)
    lines.append(f"Mean colour: {_shown(_mean(small))}.")
    lines.append(f"Main colours: {'; '.join(f'{_shown(colour)} {share:.0%}' for colour, share in _main(small))}.")
    if picture.alpha is not None:
        clear = 1 - _mean(picture.alpha.crop(pixel_box(picture, box)).convert("RGB"))[0] / 255
        if clear >= _SMALLEST_SHARE:
            lines.append(f"About {clear:.0%} of it is transparent, which is taken as white.")
    return ToolResult(text=" ".join(lines))


def mean_colour(image: Image.Image) -> str:
    """Return the mean colour of a region in words and numbers."""
    return _shown(_mean(image))


def _mean(image: Image.Image) -> tuple[int, int, int]:
    red, green, blue = map(round, ImageStat.Stat(image.convert("RGB")).mean)
    return red, green, blue


def _main(image: Image.Image) -> list[tuple[tuple[int, int, int], float]]:
    """Return the main colours, most frequent first: pixels in cells of 32 levels, adjacent cells of one name together."""
    counted: Counter[tuple[int, int, int]] = Counter()
    for count, colour in image.getcolors(image.width * image.height) or []:
        assert isinstance(colour, tuple)
        counted[(colour[0], colour[1], colour[2])] += count
    by_name: dict[str, Counter[tuple[int, int, int]]] = {}
    for colour, count in counted.items():
        by_name.setdefault(_name(tuple(level // 8 * 8 + 4 for level in colour)), Counter())[colour] += count
    total = image.width * image.height
    groups = sorted(by_name.items(), key=lambda entry: (-entry[1].total(), entry[0]))[:MOST]
    shares = [(_middle(colours), colours.total() / total) for _, colours in groups]
    return [share for number, share in enumerate(shares) if number == 0 or share[1] >= _SMALLEST_SHARE]


def _middle(colours: Counter[tuple[int, int, int]]) -> tuple[int, int, int]:
    total = colours.total()
    red, green, blue = (round(sum(c[at] * n for c, n in colours.items()) / total) for at in range(3))
    return red, green, blue


def _shown(colour: tuple[int, int, int]) -> str:
    return f"{_name(colour)} (red {colour[0]}, green {colour[1]}, blue {colour[2]})"


@lru_cache(maxsize=40_000)
def _name(colour: tuple[int, ...]) -> str:
    """Return the nearest colour name by a distance that weighs green most, like the eye."""
    return min(
        _NAMES, key=lambda name: sum(w * (a - b) ** 2 for w, a, b in zip((3, 4, 2), _NAMES[name], colour, strict=True))
    )
