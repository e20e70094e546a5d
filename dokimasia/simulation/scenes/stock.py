"""The names, letters and colours that several layouts draw from, and the clue that says what kind of picture is shown."""

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Question
from dokimasia.simulation.scenes.draft import Clue, Draft
from dokimasia.simulation.scenes.drawing import Canvas, Pixels, Rgb, inset

WHITE: Rgb = (255, 255, 255)

TONES: tuple[str, ...] = ("red", "orange", "yellow", "green", "blue", "purple", "pink")
"""The colours of figures that are drawn on white paper."""

LETTERS: tuple[str, ...] = tuple("BCDEFGHKLMNPQRSTVWXZ")
"""Labels of a letter; A and I are words, O and 0, J and U are easily confused."""

PEOPLE: tuple[str, ...] = (
    "Nora Hale", "Omar Reyes", "Paula Stern", "Quentin Moss", "Ruth Adler", "Simon Okoro", "Tara Voss", "Iris Lund",
)  # fmt: skip

MONTHS: tuple[str, ...] = ("January", "March", "April", "May", "July", "September", "October", "November")

KINDS: dict[str, tuple[str, ...]] = {
    "document": ("invoice", "letter", "event programme", "contract", "recipe"),
    "window": ("settings window", "file list", "music player", "calendar", "chat window"),
    "figure": ("bar chart", "line chart", "pie chart", "table", "scatter plot"),
    "drawing": ("circuit diagram", "geometric figure", "row of beakers", "weather map", "molecule"),
    "puzzle": ("sequence of figures", "matrix with a gap", "set of balances", "maze", "crossword"),
    "work": ("poster", "coat of arms", "comic strip", "postage stamp", "book cover"),
}
"""What kinds of picture there are, by the noun that a question calls them."""


def genre(d: Draft, noun: str, kind: str) -> Clue:
    """Return the clue that says of which kind the document, window, figure, drawing, puzzle or work is."""
    ask, form = f"What kind of {noun} is shown?", f"The {noun} shown is of the kind {{}}."
    return d.named(ask, form, kind, KINDS[noun], can.GENRE)


def describe(d: Draft, noun: str, kind: str, text: str, *clues: Clue) -> Question:
    """Ask what kind of document, window, figure, drawing, puzzle or work this is, and what else the clues say."""
    return d.join("recognise", f"What kind of {noun} is this, {text}", (genre(d, noun, kind), *clues))


SHAPES: tuple[str, ...] = ("circle", "square", "triangle", "pentagon", "star", "diamond")


def shape(c: Canvas, name: str, at: Pixels, fill: Rgb) -> None:
    """Draw the named shape inside a square region.

    Raises:
        KeyError: if there is no such shape.
    """
    if name == "circle":
        c.oval(at, fill)
    elif name == "square":
        c.rect(inset(at, (at[2] - at[0]) * 0.07), fill)
    elif name == "star":
        c.regular(at, 5, fill, inner=0.45)
    else:
        c.regular(at, {"triangle": 3, "diamond": 4, "pentagon": 5}[name], fill)
