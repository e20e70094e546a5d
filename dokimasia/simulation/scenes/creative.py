"""Creative and cultural pictures: a festival poster, a quartered coat of arms and a comic of three panels."""

from collections.abc import Mapping

from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import (
    MONTHS,
    Clue,
    Compose,
    Composition,
    Measures,
    SceneDraft,
    article,
    by_how_much,
    coloured,
    say_both,
    spread,
    who_has_more,
)
from dokimasia.simulation.scenes.drawing import Pixels
from dokimasia.simulation.scenes.sorts import ORDINALS

_LINES: tuple[str, ...] = ("I have {} {}!", "I bring {} more {}!", "I take {} {} away!")


def _comic(d: SceneDraft) -> Composition:
    rng = d.rng
    pair = rng.sample(d.words("heroes"), 2)
    speakers = [pair[0], *(rng.choice(((pair[0], pair[1]), (pair[1], pair[0]), (pair[1], pair[1]))))]
    shirts = dict(zip(pair, rng.sample(d.words("shirts"), 2), strict=True))
    title = rng.choice(d.words("stories"))
    haul = rng.choice(d.words("haul"))
    numbers, props = spread(rng, 3, 12, 39, gap=1), rng.sample(d.words("props"), 3)
    least = min(numbers)
    numbers = [*(n for n in numbers if n != least), least]
    tones = [rng.choice(d.words("shirts")) for _ in range(3)]
    d.state(title=title)
    for n, (speaker, prop) in enumerate(zip(speakers, props, strict=True)):
        says = _LINES[n].format(numbers[n], haul)
        d.row(f"p{n}", speaker, speaker=speaker, shirt=shirts[speaker], says=says, prop=prop)
        d.fact(f"p{n}.tone", tones[n], prop)
    at = rng.randrange(3)
    where = f"the {ORDINALS[at]} panel"
    who, shirt = d.word(f"p{at}.speaker", where=where), d.word(f"p{at}.shirt", where=where)
    name = d.word("title")
    number = d.measured("spoken_number", numbers[at], f"p{at}.says", where=where)
    goods = d.named("goods", haul, at=f"p{at}.says")
    questions = [
        d.ask_kind(f"who speaks in {where}, and in a shirt of which colour?", who, shirt),
        _turns(d, pair, speakers),
        _besides(d, at, who),
        d.read_out(f"What is the comic's title, and how many of which things does the speech in {where} name?", name,
                   number, goods),
        _speech_compared(d, numbers),
        _left_over(d, numbers, haul),
    ]  # fmt: skip
    return f"the comic {title}", questions


def _turns(d: SceneDraft, pair: list[str], speakers: list[str]) -> SceneQuestion:
    hero = d.rng.choice(pair)
    first = speakers.index(hero)
    clues = [
        d.counted("panels", 3),
        d.named("begins", ORDINALS[first], ORDINALS[:4], f"p{first}.speaker", hero=hero),
        d.counted("turns", speakers.count(hero), hero=hero),
    ]
    return d.pose("count", f"In how many panels of the comic does {hero} speak?", clues)


def _besides(d: SceneDraft, at: int, who: Clue) -> SceneQuestion:
    where = f"the {ORDINALS[at]} panel"
    thing, tone = d.word(f"p{at}.prop", where=where), d.word(f"p{at}.tone", where=where)
    answers = say_both(lambda kind, colour: coloured(colour, kind), thing, tone)
    text = f"What stands to the right of the speaker in {where}? Name its colour and kind."
    return d.pose("relate", text, (who, thing, tone), *answers)


def _speech_compared(d: SceneDraft, numbers: list[int]) -> SceneQuestion:
    first, second = d.rng.sample(range(3), 2)
    high, low = (first, second) if numbers[first] > numbers[second] else (second, first)
    gap = str(numbers[high] - numbers[low])
    gaps = list(map(str, d.near(int(gap), low=1)))
    clues = [d.measured("speech", numbers[n], f"p{n}.says", panel=ORDINALS[n]) for n in (first, second)]
    clues.append(d.clue("gap", gap, gaps))
    clues.append(d.named("greater_panel", ORDINALS[high], ORDINALS[:3]))
    pair = f"the {ORDINALS[first]} or the {ORDINALS[second]}"
    text = f"Which panel names the greater number, {pair}, and by how much is it greater?"
    answers = by_how_much("the {}, by {}".format, ORDINALS[high], ORDINALS[low], gap, gaps)
    return d.pose("compare", text, clues, *answers)


def _left_over(d: SceneDraft, numbers: list[int], haul: str) -> SceneQuestion:
    have, more, less = numbers
    clues = [
        d.measured("had", have, "p0.says", haul=haul),
        d.measured("brought", more, "p1.says", haul=haul),
        d.measured("sum", have + more, haul=haul),
        d.measured("removed", less, "p2.says", haul=haul),
        d.measured("remaining", have + more - less, haul=haul),
    ]
    text = f"If all in the story is true and nothing else happens, how many {haul} are left at the end?"
    return d.pose("infer", text, clues)


def _poster(d: SceneDraft) -> Composition:
    rng = d.rng
    title, hall = rng.choice(d.words("festivals")), rng.choice(d.words("halls"))
    month, day = rng.choice(MONTHS), rng.randrange(13, 29)
    n = rng.choice((4, 5))
    seats, prices, hour = rng.sample(d.words("seats"), n), spread(rng, n, 13, 79), rng.randrange(14, 22)
    motif, paint, ground = rng.choice(d.words("motifs")), *rng.sample(d.words("paints"), 2)
    stars = rng.randrange(3, 9)
    d.state(title=title, ground=ground, motif=motif)
    d.fact("paint", paint, motif)
    d.state(stars=stars, day=f"{day} {month}", hour=f"{hour}:00", hall=hall)
    for row, (seat, price) in enumerate(zip(seats, prices, strict=True)):
        d.row(f"seat{row}", seat, name=seat, price=f"${price}")
    m = d.measures(seats, prices, "seat{}.price")
    name, thing, tone = d.word("title"), d.word("motif"), d.word("paint")
    when, where, time = d.number("day"), d.word("hall"), d.number("hour")
    total = d.count("stars")
    absent = article(d.absent(d.words("motifs"), [motif]))
    missing = d.clue("absent", "nowhere", ("in the large picture", "in the border"), absent=absent)
    ground_is = d.named("ground", ground)
    starry = d.pose("count", "How many stars stand in the lower border of the poster?", (ground_is, missing, total))
    questions = [
        d.ask_kind("what does its picture show, and in which colour?", thing, tone),
        starry if rng.random() < 0.6 else m.count_above(),
        m.relate_next(),
        d.read_out("What is announced, on which day, where, and at what time?", name, when, where, time),
        m.compare_pair(),
        _tickets(d, m) if rng.random() < 0.6 else m.infer_sum(),
    ]
    return f"a poster for the {title}", questions


def _tickets(d: SceneDraft, m: Measures) -> SceneQuestion:
    seat, many = d.rng.choice(m.items), d.rng.randrange(2, 6)
    cost = seat.value * many
    note = ((cost + 5) // 50 + 1) * 50
    clues = [
        d.measured("cost", seat.value, seat.at, seat=seat.label),
        d.measured("sum", cost),
        d.measured("change", note - cost),
    ]
    text = f"Someone buys {many} seats of the class {seat.label} and pays with ${note}. How much change is due?"
    return d.pose("infer", text, clues)


_QUARTERS = ("upper left", "upper right", "lower left", "lower right")
_TINCTURES = {"red": "gules", "blue": "azure", "green": "vert", "purple": "purpure", "black": "sable", "yellow": "or"}


def _quarter(n: int) -> Pixels:
    left, top = 170 + 150 * (n % 2), 92 + 140 * (n // 2)
    return (left, top, left + 150, top + 140)


def _arms(d: SceneDraft) -> Composition:
    rng = d.rng
    tones = rng.sample(list(_TINCTURES), 4)
    charges, counts = [rng.choice(d.words("charges")) for _ in range(4)], [rng.randrange(1, 6) for _ in range(4)]
    inks = ["white" if tone != "yellow" else "red" for tone in tones]
    motto, house, crest = rng.choice(d.words("mottoes")), rng.choice(d.words("houses")), rng.choice(d.words("crests"))
    d.state(house=house, motto=motto, crest=crest)
    for n, quarter in enumerate(_QUARTERS):
        for id, value in (("tone", tones[n]), ("charge", charges[n]), ("many", counts[n]), ("ink", inks[n])):
            d.fact(f"q{n}.{id}", value, f"{quarter} quarter", _quarter(n))
    at = rng.randrange(4)
    where = f"the {_QUARTERS[at]} quarter"
    tone = d.word(f"q{at}.tone", list(_TINCTURES), where=where)
    charge = d.word(f"q{at}.charge", where=where)
    words, name, top = d.word("motto"), d.word("house"), d.word("crest", (*d.words("crests"), "bird"))
    questions = [
        d.ask_kind(f"and which colour and figure has {where}?", tone, charge),
        _all_charges(d, counts),
        _diagonal(d, at),
        d.read_out("Which words does the ribbon bear, which house is named, and what stands over the shield?", words,
                   name, top),
        _quarters(d, counts),
        _blazon(d, at, tone),
    ]  # fmt: skip
    return f"the arms of {house}", questions


def _all_charges(d: SceneDraft, counts: list[int]) -> SceneQuestion:
    clues = [
        d.counted("half", counts[0] + counts[1], d.box("q0.many", "q1.many"), half="upper"),
        d.counted("half", counts[2] + counts[3], d.box("q2.many", "q3.many"), half="lower"),
        d.counted("whole", sum(counts)),
    ]
    return d.pose("count", "How many figures are there on the shield altogether?", clues)


def _diagonal(d: SceneDraft, at: int) -> SceneQuestion:
    opposite = 3 - at
    quarter, tone = _QUARTERS[at], f"q{opposite}.tone"
    clues = [
        d.named("across", _QUARTERS[opposite], _QUARTERS, tone, quarter=quarter),
        d.word(tone, list(_TINCTURES), "tone_across"),
        d.word(f"q{opposite}.charge", key="charge_across"),
    ]
    text = f"Which colour and figure has the quarter diagonally across from the {quarter} one?"
    return d.pose("relate", text, clues, *say_both("{}, with the {}".format, *clues[1:]))


def _quarters(d: SceneDraft, counts: list[int]) -> SceneQuestion:
    first, second = d.rng.sample(range(4), 2)
    names = [_QUARTERS[first], _QUARTERS[second]]
    compared = [counts[first], counts[second]]
    clues = [d.count(f"q{n}.many", quarter=_QUARTERS[n]) for n in (first, second)]
    clues.append(d.counted("gap", abs(compared[0] - compared[1])))
    clues.append(d.clue("verdict", *who_has_more([f"the {name}" for name in names], compared)))
    text = f"Which holds more figures, the {names[0]} quarter or the {names[1]} quarter?"
    return d.pose("compare", text, clues)


def _blazon(d: SceneDraft, at: int, tone: Clue) -> SceneQuestion:
    term = _TINCTURES[tone.truth]
    terms = d.others(list(_TINCTURES.values()), term)
    where = f"the {_QUARTERS[at]} quarter"
    lying = d.count(f"q{at}.many", "lying", where=where)
    named = d.clue("term", f"'{term}'", [f"'{other}'" for other in terms])
    text = f"What does heraldry call the colour of {where}, and how many figures lie on it?"
    return d.pose("infer", text, (tone, lying, named), *say_both("{}, {}".format, named, lying))


LAYOUTS: Mapping[str, Compose] = {"poster": _poster, "arms": _arms, "comic": _comic}
"""The composers of creative and cultural pictures, by sort."""
