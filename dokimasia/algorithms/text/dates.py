"""Calendar dates in several notations, if they are unambiguous."""

import re
from datetime import date

_MONTH_NAMES = "january february march april may june july august september october november december"
_MONTH = r"(?P<month>[a-z]{3,9})\.?"
_YEAR = r"(?P<year>[12][0-9]{3})"
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+)?"
_WRITTEN = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_WEEKDAY}{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}",
        rf"{_WEEKDAY}{_MONTH}\s+{_DAY},?\s+{_YEAR}",
        rf"{_MONTH},?\s+{_YEAR}",
        r"(?P<year>[12][0-9]{3})[-/.](?P<number>[0-9]{1,2})[-/.](?P<day>[0-9]{1,2})",
    )
)
_DAYS = tuple(re.compile(pattern) for pattern in (rf"{_DAY}\s+(?:of\s+)?{_MONTH}", rf"{_MONTH}\s+(?:the\s+)?{_DAY}"))
_SLASHED = re.compile(r"([0-9]{1,2})[-/.]([0-9]{1,2})[-/.]([12][0-9]{3})")


def read_date(text: str) -> tuple[int, ...] | None:
    """Return the date that a whole text states as (year, month, day), or a month as (year, month); else None.

    A date in numbers whose day and month could be swapped (`03/05/2014`) is ambiguous and gives None.

    Examples
    --------
    >>> read_date("March 5th, 2014"), read_date("2014-03-05"), read_date("25/12/2020"), read_date("03/05/2014")
    ((2014, 3, 5), (2014, 3, 5), (2020, 12, 25), None)
    >>> read_date("Sept. 2019"), read_date("maybe 2019")
    ((2019, 9), None)
    """
    plain = " ".join(text.casefold().split()).strip(" .")
    if slashed := _SLASHED.fullmatch(plain):
        first, second, year = map(int, slashed.groups())
        if first > 12 or first == second:
            return _real(year, second, first)
        if second > 12:
            return _real(year, first, second)
        return None
    for pattern in _WRITTEN:
        match = pattern.fullmatch(plain)
        if match is None:
            continue
        parts = match.groupdict()
        month = int(parts["number"]) if "number" in parts else _month(parts["month"])
        if month is None:
            return None
        year = int(parts["year"])
        if "day" in parts:
            return _real(year, month, int(parts["day"]))
        return (year, month)
    return None


def month_number(text: str) -> int | None:
    """Return the number of the month that a whole text names, in full or by its usual abbreviation, or None.

    Examples
    --------
    >>> month_number("March"), month_number("Sept."), month_number("Marchland")
    (3, 9, None)
    """
    return _month(text.casefold().strip(" ."))


def day_of_year(text: str) -> tuple[int, ...] | None:
    """Return the date that a whole text states (see `read_date`), or a day without a year as (month, day).

    Examples
    --------
    >>> day_of_year("5th of March"), day_of_year("Mar 5"), day_of_year("March 2019"), day_of_year("Feb 30")
    ((3, 5), (3, 5), (2019, 3), None)
    """
    plain = " ".join(text.casefold().split()).strip(" .")
    match = next((candidate for pattern in _DAYS if (candidate := pattern.fullmatch(plain))), None)
    if match is None:
        return read_date(text)
    name, day = match.group("month", "day")
    month = _month(name)
    if month is None:
        return read_date(text)
    if _real(2000, month, int(day)):
        return (month, int(day))
    return None


def _month(name: str) -> int | None:
    short = "sep" if name == "sept" else name
    numbers = [
        number for number, month in enumerate(_MONTH_NAMES.split(), start=1) if month == short or month[:3] == short
    ]
    return numbers[0] if numbers else None


def _real(year: int, month: int, day: int) -> tuple[int, ...] | None:
    try:
        date(year, month, day)
    except ValueError:
        return None
    return (year, month, day)
