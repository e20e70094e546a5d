"""A comic of three panels in which a pair of heroes count their haul."""

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Question
from dokimasia.simulation.scenes.draft import Clue, Draft, by_how_much, of_two
from dokimasia.simulation.scenes.drawing import COLOURS, INK, PAPER, Canvas, Pixels, Rgb, inset
from dokimasia.simulation.scenes.layout import Composed, Layout, Sight, spread
from dokimasia.simulation.scenes.phrasing import ORDINALS, coloured
from dokimasia.simulation.scenes.sprites import sprite
from dokimasia.simulation.scenes.stock import WHITE, describe

_HEROES: tuple[str, ...] = ("Mila", "Otto", "Petra", "Rufus", "Tessa", "Hugo", "Zora")
_STORIES: tuple[str, ...] = ("The Long Walk", "Lost and Found", "A Fair Deal", "Market Day", "The Great Count")
_PROPS: tuple[str, ...] = ("ball", "kite", "umbrella", "flower", "mug", "book", "lamp", "bottle")
_HAUL: tuple[str, ...] = ("shells", "nuts", "coins", "stamps", "buttons", "plums")
_SHIRTS: tuple[str, ...] = ("red", "orange", "green", "blue", "purple", "yellow")
_LINES: tuple[str, ...] = ("I have {} {}!", "I bring {} more {}!", "I take {} {} away!")


def _panel(n: int) -> Pixels:
    return (18 + 204 * n, 74, 212 + 204 * n, 464)


def _comic(d: Draft) -> Composed:
    rng = d.rng
    pair = rng.sample(_HEROES, 2)
    speakers = [pair[0], *(rng.choice(((pair[0], pair[1]), (pair[1], pair[0]), (pair[1], pair[1]))))]
    shirts, title, haul = dict(zip(pair, rng.sample(_SHIRTS, 2), strict=True)), rng.choice(_STORIES), rng.choice(_HAUL)
    numbers, props = spread(rng, 3, 12, 39, gap=1), rng.sample(_PROPS, 3)
    least = min(numbers)
    numbers = [*(n for n in numbers if n != least), least]
    tones = [rng.choice(_SHIRTS) for _ in range(3)]
    says = [line.format(number, haul) for line, number in zip(_LINES, numbers, strict=True)]
    d.fact("title", "comic", "title", title, (40, 14, 600, 66))
    for n in range(3):
        x0, y0, x1, y1 = _panel(n)
        who = f"{ORDINALS[n]} panel"
        body: Pixels = (x0 + 14, y0 + 176, x0 + 104, y1 - 38)
        prop: Pixels = (x0 + 110, y1 - 122, x1 - 8, y1 - 38)
        d.fact(f"p{n}.speaker", who, "speaker", speakers[n], (x0 + 8, y1 - 36, x0 + 112, y1 - 6))
        d.fact(f"p{n}.shirt", speakers[n], "shirt", shirts[speakers[n]], body)
        d.fact(f"p{n}.says", who, "speech", says[n], (x0 + 10, y0 + 12, x1 - 10, y0 + 126))
        d.fact(f"p{n}.prop", who, "thing on the ground", props[n], prop)
        d.fact(f"p{n}.tone", f"{props[n]} of the {who}", "colour", tones[n], prop)
    at = rng.randrange(3)
    where = f"the {ORDINALS[at]} panel"
    who = d.word(f"p{at}.speaker", f"Who speaks in {where}?", f"The speaker in {where} is {{}}.", _HEROES, can.SPEAKER)
    shirt = d.word(f"p{at}.shirt", f"Which colour has the shirt of the speaker in {where}?",
                   f"The shirt worn in {where} is {{}}.", _SHIRTS, can.COLOUR)  # fmt: skip
    name = d.word("title", "What is the title of the comic?", "The comic is entitled {}.", _STORIES, can.TEXT)
    says_n = d.measured(f"Which number is spoken of in {where}?", f"The number spoken of in {where} is {{}}.",
                        numbers[at], "{}", can.NUMBER, f"p{at}.says")  # fmt: skip
    goods = d.named("Which things are spoken of?", "Spoken of are {}.", haul, _HAUL, can.TEXT, f"p{at}.says")
    questions = [
        describe(d, "work", "comic strip", f"who speaks in {where}, and in a shirt of which colour?", who, shirt),
        _turns(d, pair, speakers),
        _besides(d, at, who),
        d.read_out(f"What is the comic's title, and how many of which things does the speech in {where} name?", name,
                   says_n, goods),
        _speech_compared(d, numbers),
        _left_over(d, numbers, haul),
    ]  # fmt: skip
    return f"the comic {title}", questions


def _turns(d: Draft, pair: list[str], speakers: list[str]) -> Question:
    hero = d.rng.choice(pair)
    first = speakers.index(hero)
    clues = [
        d.counted("How many panels does the comic have?", "The comic has {} panels.", 3),
        d.named(f"In which panel does {hero} begin to speak?", f"The panel in which {hero} begins to speak is the {{}}.",
                ORDINALS[first], ORDINALS[:4], can.SPEAKER, f"p{first}.speaker"),
        d.counted(f"In how many panels does {hero} speak?", f"The number of panels in which {hero} speaks is {{}}.",
                  speakers.count(hero), can.COUNTING_SELECTED),
    ]  # fmt: skip
    return d.pose("count", f"In how many panels of the comic does {hero} speak?", clues)


def _besides(d: Draft, at: int, who: Clue) -> Question:
    where = f"the {ORDINALS[at]} panel"
    thing = d.word(f"p{at}.prop", f"What stands to the right of the speaker in {where}?",
                   f"To the right of the speaker in {where} is a {{}}.", _PROPS, can.POSITION)  # fmt: skip
    tone = d.word(f"p{at}.tone", f"Which colour has the thing beside the speaker in {where}?",
                  f"The thing beside the speaker in {where} is {{}}.", _SHIRTS, can.COLOUR)  # fmt: skip
    said = of_two(lambda kind, colour: coloured(colour, kind), thing, tone)
    text = f"What stands to the right of the speaker in {where}? Name its colour and kind."
    return d.pose("relate", text, (who, thing, tone), *said)


def _speech_compared(d: Draft, numbers: list[int]) -> Question:
    one, other = d.rng.sample(range(3), 2)
    high, low = (one, other) if numbers[one] > numbers[other] else (other, one)
    gap = numbers[high] - numbers[low]
    gaps = [str(n) for n in d.near(gap, low=1)]
    clues = [
        d.measured(f"Which number stands in the speech of the {ORDINALS[n]} panel?",
                   f"In the speech of the {ORDINALS[n]} panel stands {{}}.", numbers[n], "{}", can.NUMBER, f"p{n}.says")
        for n in (one, other)
    ]  # fmt: skip
    clues.append(Clue("By how much do the compared numbers differ?", "The compared numbers differ by {}.", str(gap),
                      tuple(gaps), can.DIFFERENCE))  # fmt: skip
    clues.append(d.named("Which of the compared panels speaks of the greater number?",
                         "The greater number is spoken of in the {} panel.", ORDINALS[high], ORDINALS[:3],
                         can.MAGNITUDE))  # fmt: skip
    pair = f"the {ORDINALS[one]} or the {ORDINALS[other]}"
    text = f"Which panel names the greater number, {pair}, and by how much is it greater?"
    said = by_how_much("the {}, by {}".format, ORDINALS[high], ORDINALS[low], str(gap), gaps)
    return d.pose("compare", text, clues, *said)


def _left_over(d: Draft, numbers: list[int], haul: str) -> Question:
    have, more, less = numbers
    clues = [
        d.measured(f"How many {haul} are there at the beginning?", f"At the beginning there are {{}} {haul}.", have,
                   "{}", can.NUMBER, "p0.says"),
        d.measured(f"How many {haul} are brought?", f"Brought are another {{}} {haul}.", more, "{}", can.NUMBER,
                   "p1.says"),
        d.measured(f"How many {haul} are there after these are brought?", f"With these it comes to {{}} {haul}.",
                   have + more, "{}", can.ADDITION),
        d.measured(f"How many {haul} are taken away?", f"Taken away are then {{}} {haul}.", less, "{}", can.NUMBER,
                   "p2.says"),
        d.measured(f"How many {haul} are left at the end?", f"At the end of the story, {{}} {haul} are left.",
                   have + more - less, "{}", can.DIFFERENCE),
    ]  # fmt: skip
    text = f"If all in the story is true and nothing else happens, how many {haul} are left at the end?"
    return d.pose("infer", text, clues)


def _paint_comic(c: Canvas, s: Sight) -> None:
    c.rect((0, 0, 640, 480), PAPER, line=None)
    c.text(s.at("title"), s.value("title"), size=38, align="centre")
    for n in range(3):
        x0, y0, x1, y1 = _panel(n)
        c.rect(
            (x0, y0, x1, y1),
            s.rng.choice(((210, 232, 244), (246, 226, 200), (220, 238, 214), (232, 220, 240))),
            width=4,
        )
        c.rect((x0 + 3, y1 - 40, x1 - 3, y1 - 3), (236, 228, 214), line=None)
        _figure(c, s.at(f"p{n}.shirt"), COLOURS[s.value(f"p{n}.shirt")])
        sprite(c, s.value(f"p{n}.prop"), s.at(f"p{n}.prop"), COLOURS[s.value(f"p{n}.tone")])
        at = s.at(f"p{n}.says")
        tail = (at[0] + 52, at[3] + 38)
        c.poly([(at[0] + 34, at[3] - 8), (at[0] + 66, at[3] - 8), tail], WHITE)
        c.rect(at, WHITE, radius=16)
        c.poly([(at[0] + 37, at[3] - 9), (at[0] + 63, at[3] - 9), (at[0] + 51, at[3] + 20)], WHITE, line=None)
        c.paragraph(inset(at, 14), s.value(f"p{n}.says"), size=23, align="centre")
        c.text(s.at(f"p{n}.speaker"), s.value(f"p{n}.speaker"), size=21, align="centre")


def _figure(c: Canvas, at: Pixels, shirt: Rgb) -> None:
    x0, y0, x1, y1 = at
    middle, skin = (x0 + x1) / 2, (240, 206, 172)
    for x in (middle - 18, middle + 4):
        c.rect((x, y1 - 50, x + 14, y1), (70, 76, 96))
    c.line([(middle - 22, y0 + 66), (x0 + 8, y0 + 112)], width=7)
    c.line([(middle + 22, y0 + 66), (x1 - 8, y0 + 112)], width=7)
    c.rect((middle - 26, y0 + 56, middle + 26, y1 - 44), shirt, radius=10)
    c.oval((middle - 26, y0 + 4, middle + 26, y0 + 58), skin)
    c.arc((middle - 14, y0 + 22, middle + 14, y0 + 48), 20, 160)
    for x in (middle - 11, middle + 7):
        c.oval((x, y0 + 22, x + 5, y0 + 28), INK)


COMIC = Layout("comic", _comic, _paint_comic)
"""The layout."""
