"""The direction of differences, the same everywhere."""

from typing import Final, Literal

SecondMinusFirst = Literal["second minus first"]
"""Of two sides the figure of the second minus that of the first; above 0 the second has more."""

DIRECTION: Final[SecondMinusFirst] = "second minus first"
