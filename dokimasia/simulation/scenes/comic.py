"""A comic of three panels in which a pair of heroes count their haul."""

from random import Random

from dokimasia.domain.criterion import Box
from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Question
from dokimasia.simulation.scenes.drawing import COLOURS, INK, PAPER, Canvas, Pixels, Rgb, inset
from dokimasia.simulation.scenes.layout import Layout, Plan, Sight, fact, spread
from dokimasia.simulation.scenes.phrasing import (
    ORDINALS,
    Clue,
    article,
    counted,
    describe,
    measured,
    named,
    near,
    others,
    pose,
    read_out,
)
from dokimasia.simulation.scenes.sprites import sprite
from dokimasia.simulation.scenes.stock import WHITE, genre

_HEROES: tuple[str, ...] = ("Mila", "Otto", "Petra", "Rufus", "Tessa", "Hugo", "Zora")
_STORIES: tuple[str, ...] = ("The Long Walk", "Lost and Found", "A Fair Deal", "Market Day", "The Great Count")
_PROPS: tuple[str, ...] = ("ball", "kite", "umbrella", "flower", "mug", "book", "lamp", "bottle")
_HAUL: tuple[str, ...] = ("shells", "nuts", "coins", "stamps", "buttons", "plums")
_SHIRTS: tuple[str, ...] = ("red", "orange", "green", "blue", "purple", "yellow")
_LINES: tuple[str, ...] = ("I have {} {}!", "I bring {} more {}!", "I take {} {} away!")


def _panel(n: int) -> Pixels:
    return (18 + 204 * n, 74, 212 + 204 * n, 464)


def _comic(rng: Random, scene: str) -> Plan:
    pair = rng.sample(_HEROES, 2)
    speakers = [pair[0], *(rng.choice(((pair[0], pair[1]), (pair[1], pair[0]), (pair[1], pair[1]))))]
    shirts, title, haul = dict(zip(pair, rng.sample(_SHIRTS, 2), strict=True)), rng.choice(_STORIES), rng.choice(_HAUL)
    numbers, props = spread(rng, 3, 12, 39, gap=1), rng.sample(_PROPS, 3)
    least = min(numbers)
    numbers = [*(n for n in numbers if n != least), least]
    tones = [rng.choice(_SHIRTS) for _ in range(3)]
    says = [line.format(number, haul) for line, number in zip(_LINES, numbers, strict=True)]
    facts = [fact("title", "comic", "title", title, (40, 14, 600, 66))]
    for n in range(3):
        x0, y0, x1, y1 = _panel(n)
        who = f"{ORDINALS[n]} panel"
        body: Pixels = (x0 + 14, y0 + 176, x0 + 104, y1 - 38)
        prop: Pixels = (x0 + 110, y1 - 122, x1 - 8, y1 - 38)
        facts.append(fact(f"p{n}.speaker", who, "speaker", speakers[n], (x0 + 8, y1 - 36, x0 + 112, y1 - 6)))
        facts.append(fact(f"p{n}.shirt", speakers[n], "shirt", shirts[speakers[n]], body))
        facts.append(fact(f"p{n}.says", who, "speech", says[n], (x0 + 10, y0 + 12, x1 - 10, y0 + 126)))
        facts.append(fact(f"p{n}.prop", who, "thing on the ground", props[n], prop))
        facts.append(fact(f"p{n}.tone", f"{props[n]} of the {who}", "colour", tones[n], prop))
    box = {f.id: f.box for f in facts}
    at = rng.randrange(3)
    where = f"the {ORDINALS[at]} panel"
    who = Clue(f"Who speaks in {where}?", f"The speaker in {where} is {{}}.", speakers[at], others(rng, _HEROES, speakers[at]),
               can.SPEAKER, box[f"p{at}.speaker"])  # fmt: skip
    shirt = named(rng, f"Which colour has the shirt of the speaker in {where}?", f"The shirt worn in {where} is {{}}.",
                  shirts[speakers[at]], _SHIRTS, can.COLOUR, box[f"p{at}.shirt"])  # fmt: skip
    name = named(
        rng, "What is the title of the comic?", "The comic is entitled {}.", title, _STORIES, can.TEXT, box["title"]
    )
    says_n = measured(rng, f"Which number is spoken of in {where}?", f"The number spoken of in {where} is {{}}.", numbers[at],
                      "{}", can.NUMBER, box[f"p{at}.says"])  # fmt: skip
    goods = named(rng, "Which things are spoken of?", "Spoken of are {}.", haul, _HAUL, can.TEXT, box[f"p{at}.says"])
    questions = [
        describe(rng, scene, f"What kind of work is this, who speaks in {where}, and in a shirt of which colour?",
                 genre(rng, "work", "comic strip"), who, shirt),
        _turns(rng, scene, pair, speakers, box),
        _besides(rng, scene, at, props, tones, who, box),
        read_out(rng, scene, f"What is the comic's title, and how many of which things does the speech in {where} name?",
                 name, says_n, goods),
        _speech_compared(rng, scene, numbers, box),
        _left_over(rng, scene, numbers, haul, box),
    ]  # fmt: skip
    return Plan(f"the comic {title}", facts, questions)


def _turns(rng: Random, scene: str, pair: list[str], speakers: list[str], box: dict[str, Box]) -> Question:
    hero = rng.choice(pair)
    first = speakers.index(hero)
    clues = [
        counted(rng, "How many panels does the comic have?", "The comic has {} panels.", 3),
        named(rng, f"In which panel does {hero} begin to speak?",
              f"The panel in which {hero} begins to speak is the {{}}.", ORDINALS[first], ORDINALS[:4], can.SPEAKER,
              box[f"p{first}.speaker"]),
        counted(rng, f"In how many panels does {hero} speak?", f"The number of panels in which {hero} speaks is {{}}.",
                speakers.count(hero), can.COUNTING_SELECTED),
    ]  # fmt: skip
    text = f"In how many panels of the comic does {hero} speak?"
    return pose(rng, scene, "count", text, clues=clues, answer=str(speakers.count(hero)), wrong=clues[-1].wrong)


def _besides(
    rng: Random, scene: str, at: int, props: list[str], tones: list[str], who: Clue, box: dict[str, Box]
) -> Question:
    where = f"the {ORDINALS[at]} panel"
    thing = named(
        rng,
        f"What stands to the right of the speaker in {where}?",
        f"To the right of the speaker in {where} is a {{}}.",
        props[at],
        _PROPS,
        can.POSITION,
        box[f"p{at}.prop"],
    )
    tone = named(
        rng,
        f"Which colour has the thing beside the speaker in {where}?",
        f"The thing beside the speaker in {where} is {{}}.",
        tones[at],
        _SHIRTS,
        can.COLOUR,
        box[f"p{at}.tone"],
    )
    answer = article(f"{tones[at]} {props[at]}")
    wrong = [
        article(f"{tones[at]} {thing.wrong[0]}"),
        article(f"{tone.wrong[0]} {props[at]}"),
        article(f"{tone.wrong[1]} {thing.wrong[1]}"),
    ]
    text = f"What stands to the right of the speaker in {where}? Name its colour and kind."
    return pose(rng, scene, "relate", text, clues=(who, thing, tone), answer=answer, wrong=wrong)


def _speech_compared(rng: Random, scene: str, numbers: list[int], box: dict[str, Box]) -> Question:
    one, other = rng.sample(range(3), 2)
    high, low = (one, other) if numbers[one] > numbers[other] else (other, one)
    gap = numbers[high] - numbers[low]
    gaps = [str(n) for n in near(rng, gap, low=1)]
    clues = [
        measured(
            rng,
            f"Which number stands in the speech of the {ORDINALS[n]} panel?",
            f"In the speech of the {ORDINALS[n]} panel stands {{}}.",
            numbers[n],
            "{}",
            can.NUMBER,
            box[f"p{n}.says"],
        )
        for n in (one, other)
    ]
    clues.append(
        Clue(
            "By how much do the compared numbers differ?",
            "The compared numbers differ by {}.",
            str(gap),
            tuple(gaps),
            can.DIFFERENCE,
        )
    )
    clues.append(
        named(
            rng,
            "Which of the compared panels speaks of the greater number?",
            "The greater number is spoken of in the {} panel.",
            ORDINALS[high],
            ORDINALS[:3],
            can.MAGNITUDE,
        )
    )
    text = f"Which panel names the greater number, the {ORDINALS[one]} or the {ORDINALS[other]}, and by how much is it greater?"
    wrong = [
        f"the {ORDINALS[low]}, by {gap}",
        f"the {ORDINALS[high]}, by {gaps[0]}",
        f"the {ORDINALS[low]}, by {gaps[1]}",
    ]
    return pose(rng, scene, "compare", text, clues=clues, answer=f"the {ORDINALS[high]}, by {gap}", wrong=wrong)


def _left_over(rng: Random, scene: str, numbers: list[int], haul: str, box: dict[str, Box]) -> Question:
    have, more, less = numbers
    clues = [
        measured(
            rng,
            f"How many {haul} are there at the beginning?",
            f"At the beginning there are {{}} {haul}.",
            have,
            "{}",
            can.NUMBER,
            box["p0.says"],
        ),
        measured(
            rng,
            f"How many {haul} are brought?",
            f"Brought are another {{}} {haul}.",
            more,
            "{}",
            can.NUMBER,
            box["p1.says"],
        ),
        measured(
            rng,
            f"How many {haul} are there after these are brought?",
            f"With these it comes to {{}} {haul}.",
            have + more,
            "{}",
            can.ADDITION,
        ),
        measured(
            rng,
            f"How many {haul} are taken away?",
            f"Taken away are then {{}} {haul}.",
            less,
            "{}",
            can.NUMBER,
            box["p2.says"],
        ),
        measured(
            rng,
            f"How many {haul} are left at the end?",
            f"At the end of the story, {{}} {haul} are left.",
            have + more - less,
            "{}",
            can.DIFFERENCE,
        ),
    ]
    text = f"If all in the story is true and nothing else happens, how many {haul} are left at the end?"
    return pose(rng, scene, "infer", text, clues=clues, answer=str(have + more - less), wrong=clues[-1].wrong)


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
