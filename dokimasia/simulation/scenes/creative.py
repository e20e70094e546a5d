"""Creative and cultural pictures: a festival poster, a quartered coat of arms and a comic of three panels."""

from collections.abc import Mapping

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import (
    MONTHS,
    Clue,
    Compose,
    Composition,
    MeasuredItem,
    MeasureWording,
    SceneDraft,
    article,
    ask_kind,
    by_how_much,
    coloured,
    compare_pair,
    count_above,
    infer_sum,
    measured_items,
    relate_next,
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
    says = [line.format(number, haul) for line, number in zip(_LINES, numbers, strict=True)]
    d.fact("title", title)
    for n in range(3):
        d.fact(f"p{n}.speaker", speakers[n])
        d.fact(f"p{n}.shirt", shirts[speakers[n]], speakers[n])
        d.fact(f"p{n}.says", says[n])
        d.fact(f"p{n}.prop", props[n])
        d.fact(f"p{n}.tone", tones[n], props[n])
    at = rng.randrange(3)
    where = f"the {ORDINALS[at]} panel"
    who = d.word(
        f"p{at}.speaker", f"Who speaks in {where}?", f"The speaker in {where} is {{}}.", d.words("heroes"), can.SPEAKER
    )
    shirt = d.word(f"p{at}.shirt", f"Which colour has the shirt of the speaker in {where}?",
                   f"The shirt worn in {where} is {{}}.", d.words("shirts"), can.COLOUR)  # fmt: skip
    name = d.word("title", "What is the title of the comic?", "The comic is entitled {}.", d.words("stories"), can.TEXT)
    says_n = d.measured(f"Which number is spoken of in {where}?", f"The number spoken of in {where} is {{}}.",
                        numbers[at], "{}", can.NUMBER, f"p{at}.says")  # fmt: skip
    goods = d.named("Which things are spoken of?", "Spoken of are {}.", haul, d.words("haul"), can.TEXT, f"p{at}.says")
    questions = [
        ask_kind(d, "work", "comic strip", f"who speaks in {where}, and in a shirt of which colour?", who, shirt),
        _turns(d, pair, speakers),
        _besides(d, at, who),
        d.read_out(f"What is the comic's title, and how many of which things does the speech in {where} name?", name,
                   says_n, goods),
        _speech_compared(d, numbers),
        _left_over(d, numbers, haul),
    ]  # fmt: skip
    return f"the comic {title}", questions


def _turns(d: SceneDraft, pair: list[str], speakers: list[str]) -> SceneQuestion:
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


def _besides(d: SceneDraft, at: int, who: Clue) -> SceneQuestion:
    where = f"the {ORDINALS[at]} panel"
    thing = d.word(f"p{at}.prop", f"What stands to the right of the speaker in {where}?",
                   f"To the right of the speaker in {where} is a {{}}.", d.words("props"), can.POSITION)  # fmt: skip
    tone = d.word(f"p{at}.tone", f"Which colour has the thing beside the speaker in {where}?",
                  f"The thing beside the speaker in {where} is {{}}.", d.words("shirts"), can.COLOUR)  # fmt: skip
    answers = say_both(lambda kind, colour: coloured(colour, kind), thing, tone)
    text = f"What stands to the right of the speaker in {where}? Name its colour and kind."
    return d.pose("relate", text, (who, thing, tone), *answers)


def _speech_compared(d: SceneDraft, numbers: list[int]) -> SceneQuestion:
    first_panel, second_panel = d.rng.sample(range(3), 2)
    high, low = (
        (first_panel, second_panel) if numbers[first_panel] > numbers[second_panel] else (second_panel, first_panel)
    )
    gap = numbers[high] - numbers[low]
    gaps = list(map(str, d.near(gap, low=1)))
    clues = [
        d.measured(f"Which number stands in the speech of the {ORDINALS[n]} panel?",
                   f"In the speech of the {ORDINALS[n]} panel stands {{}}.", numbers[n], "{}", can.NUMBER, f"p{n}.says")
        for n in (first_panel, second_panel)
    ]  # fmt: skip
    clues.append(Clue("By how much do the compared numbers differ?", "The compared numbers differ by {}.", str(gap),
                      tuple(gaps), can.DIFFERENCE))  # fmt: skip
    clues.append(d.named("Which of the compared panels speaks of the greater number?",
                         "The greater number is spoken of in the {} panel.", ORDINALS[high], ORDINALS[:3],
                         can.MAGNITUDE))  # fmt: skip
    pair = f"the {ORDINALS[first_panel]} or the {ORDINALS[second_panel]}"
    text = f"Which panel names the greater number, {pair}, and by how much is it greater?"
    answers = by_how_much("the {}, by {}".format, ORDINALS[high], ORDINALS[low], str(gap), gaps)
    return d.pose("compare", text, clues, *answers)


def _left_over(d: SceneDraft, numbers: list[int], haul: str) -> SceneQuestion:
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


_PRICES = MeasureWording(
    single="class of seats",
    plural="classes of seats",
    name="the class {}",
    ask="What does a seat of {} cost?",
    say="A seat of {name} costs {value}.",
    show="${}".format,
    read=can.FIELD,
    degrees=("dearest", "cheapest", "dearer"),
    first="at the top of the list",
    after="directly below",
)


def _poster(d: SceneDraft) -> Composition:
    rng = d.rng
    title = rng.choice(d.words("festivals"))
    hall = rng.choice(d.words("halls"))
    month = rng.choice(MONTHS)
    day = rng.randrange(13, 29)
    n = rng.choice((4, 5))
    seats, prices, hour = rng.sample(d.words("seats"), n), spread(rng, n, 13, 79), rng.randrange(14, 22)
    motif, paint, ground = rng.choice(d.words("motifs")), *rng.sample(d.words("paints"), 2)
    stars = rng.randrange(3, 9)
    d.fact("title", title)
    d.fact("ground", ground)
    d.fact("motif", motif)
    d.fact("paint", paint, motif)
    d.fact("stars", stars)
    d.fact("day", f"{day} {month}")
    d.fact("hour", f"{hour}:00")
    d.fact("hall", hall)
    for row in range(n):
        d.fact(f"seat{row}.name", seats[row])
        d.fact(f"seat{row}.price", f"${prices[row]}", seats[row])
    items = measured_items(seats, prices, "seat{}.price")
    name = d.word(
        "title", "What does the poster announce?", "The poster announces the {}.", d.words("festivals"), can.TOPIC
    )
    thing = d.word("motif", "What does the large picture show?", "The large picture shows a thing called {}.", d.words("motifs"),
                   can.OBJECT)  # fmt: skip
    tone = d.word("paint", "Which colour has the thing in the large picture?", "The thing pictured is {}.", d.words("paints"),
                  can.COLOUR)  # fmt: skip
    when = d.number("day", "On which day does it take place?", "It takes place on {}.", can.NUMBER)
    where = d.word("hall", "Where does it take place?", "The place named is {}.", d.words("halls"), can.TEXT)
    time = d.number("hour", "At what time does it begin?", "It begins at {}.", can.NUMBER)
    total = d.count("stars", "How many stars does the border show?", "The border shows {} stars.")
    absent = d.absent(d.words("motifs"), [motif])
    missing = Clue(f"Where on the poster is {article(absent)} drawn?", f"As to {article(absent)}, it is drawn {{}}.",
                   "nowhere", ("in the large picture", "in the border"), can.ABSENCE)  # fmt: skip
    ground_is = d.named("Which colour has the poster's background?", "The background of the poster is {}.", ground,
                        d.words("paints"), can.COLOUR)  # fmt: skip
    starry = d.pose("count", "How many stars stand in the lower border of the poster?", (ground_is, missing, total))
    questions = [
        ask_kind(d, "work", "poster", "what does its picture show, and in which colour?", thing, tone),
        starry if rng.random() < 0.6 else count_above(d, _PRICES, items),
        relate_next(d, _PRICES, items),
        d.read_out("What is announced, on which day, where, and at what time?", name, when, where, time),
        compare_pair(d, _PRICES, items),
        _tickets(d, items) if rng.random() < 0.6 else infer_sum(d, _PRICES, items),
    ]  # fmt: skip
    return f"a poster for the {title}", questions


def _tickets(d: SceneDraft, items: list[MeasuredItem]) -> SceneQuestion:
    seat, many = d.rng.choice(items), d.rng.randrange(2, 6)
    cost = seat.value * many
    note = ((cost + 5) // 50 + 1) * 50
    clues = [
        d.measured(f"What does a seat of the class {seat.label} cost?", f"A seat of the class {seat.label} costs {{}}.",
                   seat.value, "${}", can.FIELD, seat.at),
        d.measured("What do all the seats cost together?", "All the seats together cost {}.", cost, "${}", can.PRODUCT),
        d.measured("How much change comes back?", "The change that comes back is {}.", note - cost, "${}",
                   can.DIFFERENCE),
    ]  # fmt: skip
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
    d.fact("house", house)
    d.fact("motto", motto)
    d.fact("crest", crest)
    for n, quarter in enumerate(_QUARTERS):
        for id, value in (("tone", tones[n]), ("charge", charges[n]), ("many", counts[n]), ("ink", inks[n])):
            d.fact(f"q{n}.{id}", value, f"{quarter} quarter", _quarter(n))
    at = rng.randrange(4)
    where = f"the {_QUARTERS[at]} quarter"
    tone = d.word(f"q{at}.tone", f"Which colour has {where}?", f"The colour of {where} is {{}}.", list(_TINCTURES),
                  can.COLOUR)  # fmt: skip
    charge = d.word(f"q{at}.charge", f"Which figure stands in {where}?", f"The figure in {where} is the {{}}.",
                    d.words("charges"), can.SHAPE)  # fmt: skip
    words = d.word(
        "motto", "Which words stand on the ribbon?", "The words on the ribbon read {}.", d.words("mottoes"), can.TEXT
    )
    name = d.word("house", "Which house's name is written?", "The name written is that of the house of {}.", d.words("houses"),
                  can.TEXT)  # fmt: skip
    top = d.word("crest", "What stands over the shield?", "Over the shield stands a {}.", (*d.words("crests"), "bird"),
                 can.OBJECT)  # fmt: skip
    questions = [
        ask_kind(d, "work", "coat of arms", f"and which colour and figure has {where}?", tone, charge),
        _all_charges(d, counts),
        _diagonal(d, at),
        d.read_out("Which words does the ribbon bear, which house is named, and what stands over the shield?", words,
                   name, top),
        _quarters(d, counts),
        _blazon(d, at, tone),
    ]  # fmt: skip
    return f"the arms of {house}", questions


def _all_charges(d: SceneDraft, counts: list[int]) -> SceneQuestion:
    halves = [counts[0] + counts[1], counts[2] + counts[3]]
    clues = [
        d.counted(f"How many figures do the {name} quarters hold together?", f"The {name} quarters hold {{}} figures.",
                  half, can.COUNTING_SELECTED, d.box(f"q{2 * n}.many", f"q{2 * n + 1}.many"))
        for n, (name, half) in enumerate(zip(("upper", "lower"), halves, strict=True))
    ]  # fmt: skip
    clues.append(d.counted("How many figures does the whole shield hold?", "The whole shield holds {} figures.",
                           sum(counts)))  # fmt: skip
    return d.pose("count", "How many figures are there on the shield altogether?", clues)


def _diagonal(d: SceneDraft, at: int) -> SceneQuestion:
    opposite = 3 - at
    quarter = _QUARTERS[at]
    clues = [
        d.named(f"Which quarter lies diagonally across from the quarter at the {quarter}?",
                f"Diagonally across from the {quarter} lies the quarter at the {{}}.", _QUARTERS[opposite], _QUARTERS,
                can.POSITION, f"q{opposite}.tone"),
        d.word(f"q{opposite}.tone", "Which colour has that quarter across?", "The colour across is {}.", list(_TINCTURES),
               can.COLOUR),
        d.word(f"q{opposite}.charge", "Which figure stands in that quarter across?", "The figure across is the {}.",
               d.words("charges"), can.SHAPE),
    ]  # fmt: skip
    text = f"Which colour and figure has the quarter diagonally across from the {quarter} one?"
    return d.pose("relate", text, clues, *say_both("{}, with the {}".format, *clues[1:]))


def _quarters(d: SceneDraft, counts: list[int]) -> SceneQuestion:
    first_quarter, second_quarter = d.rng.sample(range(4), 2)
    gap = abs(counts[first_quarter] - counts[second_quarter])
    verdict, wrong = who_has_more(
        [f"the {_QUARTERS[n]}" for n in (first_quarter, second_quarter)],
        (counts[first_quarter], counts[second_quarter]),
    )
    clues = [
        d.count(f"q{n}.many", f"How many figures does the {_QUARTERS[n]} quarter hold?",
                f"The {_QUARTERS[n]} quarter holds {{}} of them.")
        for n in (first_quarter, second_quarter)
    ]  # fmt: skip
    clues.append(d.counted("By how many figures do the compared quarters differ?",
                           "The compared quarters differ by {} figures.", gap, can.DIFFERENCE))  # fmt: skip
    clues.append(Clue("What follows for the compared quarters?", "It follows that {}.", verdict, wrong, can.MAGNITUDE))
    text = (
        f"Which holds more figures, the {_QUARTERS[first_quarter]} quarter or the {_QUARTERS[second_quarter]} quarter?"
    )
    return d.pose("compare", text, clues)


def _blazon(d: SceneDraft, at: int, tone: Clue) -> SceneQuestion:
    term = _TINCTURES[tone.truth]
    terms = d.others(list(_TINCTURES.values()), term)
    where = f"the {_QUARTERS[at]} quarter"
    clues = [
        tone,
        d.count(f"q{at}.many", f"How many figures lie in {where}?", f"In {where} lie {{}} figures."),
        Clue("What is the name of that colour in heraldry?", "In heraldry the name of that colour is {}.", f"'{term}'",
             tuple(f"'{t}'" for t in terms), can.CULTURE),
    ]  # fmt: skip
    text = f"What does heraldry call the colour of {where}, and how many figures lie on it?"
    return d.pose("infer", text, clues, *say_both("{}, {}".format, clues[2], clues[1]))


LAYOUTS: Mapping[str, Compose] = {"poster": _poster, "arms": _arms, "comic": _comic}
"""How creative and cultural pictures are composed, by their sort."""
