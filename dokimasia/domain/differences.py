"""The direction of differences, which is the same everywhere."""

from typing import Final, Literal

SecondMinusFirst = Literal["second minus first"]
"""The figure of the second side minus that of the first; above 0, the second has more."""

DIRECTION: Final[SecondMinusFirst] = "second minus first"
