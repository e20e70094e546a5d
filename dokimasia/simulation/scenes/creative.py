"""Creative and cultural pictures: a festival poster, a quartered coat of arms and a comic of three panels."""

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import (
    MONTHS,
    ORDINALS,
    WHITE,
    Clue,
    Composition,
    MeasuredItem,
    MeasureWording,
    SceneDraft,
    SceneLayout,
    SceneReader,
    article,
    ask_kind,
    by_how_much,
    coloured,
    compare_pair,
    count_above,
    draw_shape,
    infer_sum,
    relate_next,
    say_both,
    spread,
    who_has_more,
)
from dokimasia.simulation.scenes.drawing import COLOURS, INK, PAPER, Canvas, Pixels, Rgb, draw_thing, inset, tint

_HEROES: tuple[str, ...] = ("Mila", "Otto", "Petra", "Rufus", "Tessa", "Hugo", "Zora")
_STORIES: tuple[str, ...] = ("The Long Walk", "Lost and Found", "A Fair Deal", "Market Day", "The Great Count")
_PROPS: tuple[str, ...] = ("ball", "kite", "umbrella", "flower", "mug", "book", "lamp", "bottle")
_HAUL: tuple[str, ...] = ("shells", "nuts", "coins", "stamps", "buttons", "plums")
_SHIRTS: tuple[str, ...] = ("red", "orange", "green", "blue", "purple", "yellow")
_LINES: tuple[str, ...] = ("I have {} {}!", "I bring {} more {}!", "I take {} {} away!")


def _panel(n: int) -> Pixels:
    return (18 + 204 * n, 74, 212 + 204 * n, 464)


def _comic(d: SceneDraft) -> Composition:
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
                   f"To the right of the speaker in {where} is a {{}}.", _PROPS, can.POSITION)  # fmt: skip
    tone = d.word(f"p{at}.tone", f"Which colour has the thing beside the speaker in {where}?",
                  f"The thing beside the speaker in {where} is {{}}.", _SHIRTS, can.COLOUR)  # fmt: skip
    answers = say_both(lambda kind, colour: coloured(colour, kind), thing, tone)
    text = f"What stands to the right of the speaker in {where}? Name its colour and kind."
    return d.pose("relate", text, (who, thing, tone), *answers)


def _speech_compared(d: SceneDraft, numbers: list[int]) -> SceneQuestion:
    first_panel, second_panel = d.rng.sample(range(3), 2)
    high, low = (
        (first_panel, second_panel) if numbers[first_panel] > numbers[second_panel] else (second_panel, first_panel)
    )
    gap = numbers[high] - numbers[low]
    gaps = [str(n) for n in d.near(gap, low=1)]
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


def _paint_comic(c: Canvas, s: SceneReader) -> None:
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
        draw_thing(c, s.value(f"p{n}.prop"), s.at(f"p{n}.prop"), COLOURS[s.value(f"p{n}.tone")])
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


COMIC = SceneLayout("comic", _comic, _paint_comic)
"""The layout."""


# --- the poster ------------------------------------------------------------------------------------------------------

_FESTIVALS: tuple[str, ...] = (
    "Lantern Festival",
    "Harvest Fair",
    "River Concert",
    "Kite Parade",
    "Winter Circus",
    "Puppet Week",
)
_HALLS: tuple[str, ...] = ("Town Square", "Old Harbour", "Castle Yard", "North Hall", "Mill Garden")
_SEATS: tuple[str, ...] = ("Balcony", "Gallery", "Stalls", "Terrace", "Loge")
_PAINTS: tuple[str, ...] = ("red", "orange", "green", "blue", "purple", "yellow")
_MOTIFS: tuple[str, ...] = ("balloon", "kite", "umbrella", "cat", "flower", "tent", "lamp", "bottle")
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
    title, hall, month, day = rng.choice(_FESTIVALS), rng.choice(_HALLS), rng.choice(MONTHS), rng.randrange(13, 29)
    n = rng.choice((4, 5))
    seats, prices, hour = rng.sample(_SEATS, n), spread(rng, n, 13, 79), rng.randrange(14, 22)
    motif, paint, ground = rng.choice(_MOTIFS), *rng.sample(_PAINTS, 2)
    stars = rng.randrange(3, 9)
    d.fact("title", "poster", "title", title, (40, 26, 600, 96))
    d.fact("ground", "poster", "background", ground, (0, 0, 640, 480))
    d.fact("motif", "picture", "shows", motif, (60, 150, 260, 350))
    d.fact("paint", motif, "colour", paint, (60, 150, 260, 350))
    d.fact("stars", "border", "stars", str(stars), (40, 404, 600, 454))
    d.fact("day", "poster", "day", f"{day} {month}", (320, 110, 590, 142))
    d.fact("hour", "poster", "begins", f"{hour}:00", (320, 142, 590, 174))
    d.fact("hall", "poster", "place", hall, (320, 174, 590, 206))
    for row in range(n):
        top = 212 + row * 37
        d.fact(f"seat{row}.name", f"class {row + 1}", "name", seats[row], (330, top, 490, top + 34))
        d.fact(f"seat{row}.price", seats[row], "price", f"${prices[row]}", (490, top, 584, top + 34))
    items = [MeasuredItem(seats[row], prices[row], f"seat{row}.price") for row in range(n)]
    name = d.word("title", "What does the poster announce?", "The poster announces the {}.", _FESTIVALS, can.TOPIC)
    thing = d.word("motif", "What does the large picture show?", "The large picture shows a thing called {}.", _MOTIFS,
                   can.OBJECT)  # fmt: skip
    tone = d.word("paint", "Which colour has the thing in the large picture?", "The thing pictured is {}.", _PAINTS,
                  can.COLOUR)  # fmt: skip
    when = d.number("day", "On which day does it take place?", "It takes place on {}.", can.NUMBER)
    where = d.word("hall", "Where does it take place?", "The place named is {}.", _HALLS, can.TEXT)
    time = d.number("hour", "At what time does it begin?", "It begins at {}.", can.NUMBER)
    total = d.count("stars", "How many stars does the border show?", "The border shows {} stars.")
    absent = rng.choice([m for m in _MOTIFS if m != motif])
    missing = Clue(f"Where on the poster is {article(absent)} drawn?", f"As to {article(absent)}, it is drawn {{}}.",
                   "nowhere", ("in the large picture", "in the border"), can.ABSENCE)  # fmt: skip
    ground_is = d.named("Which colour has the poster's background?", "The background of the poster is {}.", ground,
                        _PAINTS, can.COLOUR)  # fmt: skip
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


def _paint_poster(c: Canvas, s: SceneReader) -> None:
    tone = COLOURS[s.value("ground")]
    c.rect((0, 0, 640, 480), tone, line=None)
    c.rect((24, 16, 616, 464), PAPER, width=3, radius=14)
    c.text(s.at("title"), s.value("title"), size=50, align="centre")
    c.rect((44, 116, 290, 384), tint(tone, 0.7), width=3)
    draw_thing(c, s.value("motif"), s.at("motif"), COLOURS[s.value("paint")])
    for id, size in (("day", 26), ("hour", 22), ("hall", 22)):
        c.text(s.at(id), s.value(id), size=size)
    for id in s.under("seat"):
        x0, _, x1, y1 = s.at(id)
        c.text(s.at(id), s.value(id), size=21, align="left" if id.endswith("name") else "right")
        c.line([(x0 - 6, y1), (x1, y1)], line=tint(INK, 0.7), width=1)
    x0, y0, x1, y1 = s.at("stars")
    many = s.number("stars")
    for n in range(many):
        x = x0 + (x1 - x0) * (n + 0.5) / many
        c.regular((x - 22, y0 + 3, x + 22, y1 - 3), 5, tone, inner=0.45)


# --- the coat of arms ------------------------------------------------------------------------------------------------

_CHARGES: tuple[str, ...] = ("star", "circle", "square", "diamond", "triangle")
_TINCTURES = {"red": "gules", "blue": "azure", "green": "vert", "purple": "purpure", "black": "sable", "yellow": "or"}
_MOTTOES: tuple[str, ...] = (
    "Steady and True",
    "Light before All",
    "We hold the Ford",
    "Never in Haste",
    "Bread and Peace",
    "By Oar and Sail",
)
_HOUSES: tuple[str, ...] = ("Ashgrove", "Bellmoor", "Carrick", "Dunwald", "Esterly", "Farnholt")
_CRESTS: tuple[str, ...] = ("crown", "sun", "tower")
_QUARTERS: tuple[str, ...] = ("upper left", "upper right", "lower left", "lower right")


def _quarter(n: int) -> Pixels:
    left, top = 170 + 150 * (n % 2), 92 + 140 * (n // 2)
    return (left, top, left + 150, top + 140)


def _arms(d: SceneDraft) -> Composition:
    rng = d.rng
    tones = rng.sample(list(_TINCTURES), 4)
    charges, counts = [rng.choice(_CHARGES) for _ in range(4)], [rng.randrange(1, 6) for _ in range(4)]
    inks = ["white" if tone != "yellow" else "red" for tone in tones]
    motto, house, crest = rng.choice(_MOTTOES), rng.choice(_HOUSES), rng.choice(_CRESTS)
    d.fact("house", "coat of arms", "house", house, (20, 20, 220, 60))
    d.fact("motto", "ribbon", "text", motto, (140, 396, 500, 440))
    d.fact("crest", "crest", "shows", crest, (280, 16, 360, 84))
    for n, quarter in enumerate(_QUARTERS):
        d.fact(f"q{n}.tone", f"{quarter} quarter", "colour", tones[n], _quarter(n))
        d.fact(f"q{n}.charge", f"{quarter} quarter", "charge", charges[n], _quarter(n))
        d.fact(f"q{n}.many", f"{quarter} quarter", "number of charges", str(counts[n]), _quarter(n))
        d.fact(f"q{n}.ink", f"{quarter} quarter", "colour of the charge", inks[n], _quarter(n))
    at = rng.randrange(4)
    where = f"the {_QUARTERS[at]} quarter"
    tone = d.word(f"q{at}.tone", f"Which colour has {where}?", f"The colour of {where} is {{}}.", list(_TINCTURES),
                  can.COLOUR)  # fmt: skip
    charge = d.word(f"q{at}.charge", f"Which figure stands in {where}?", f"The figure in {where} is the {{}}.",
                    _CHARGES, can.SHAPE)  # fmt: skip
    words = d.word("motto", "Which words stand on the ribbon?", "The words on the ribbon read {}.", _MOTTOES, can.TEXT)
    name = d.word("house", "Which house's name is written?", "The name written is that of the house of {}.", _HOUSES,
                  can.TEXT)  # fmt: skip
    top = d.word("crest", "What stands over the shield?", "Over the shield stands a {}.", (*_CRESTS, "bird"),
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
               _CHARGES, can.SHAPE),
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


_SPOTS = {1: ((0.5, 0.5),), 2: ((0.3, 0.5), (0.7, 0.5)), 3: ((0.5, 0.28), (0.28, 0.7), (0.72, 0.7)),
          4: ((0.28, 0.28), (0.72, 0.28), (0.28, 0.72), (0.72, 0.72)),
          5: ((0.24, 0.24), (0.76, 0.24), (0.5, 0.5), (0.24, 0.76), (0.76, 0.76))}  # fmt: skip


def _paint_arms(c: Canvas, s: SceneReader) -> None:
    c.rect((0, 0, 640, 480), s.rng.choice(((238, 230, 208), (224, 230, 232), (232, 226, 236))), line=None)
    c.text(s.at("house"), f"House of {s.value('house')}", size=24)
    _crest(c, s.value("crest"), s.at("crest"))
    for n in range(4):
        x0, y0, x1, y1 = s.at(f"q{n}.tone")
        c.rect((x0, y0, x1, y1), COLOURS[s.value(f"q{n}.tone")], width=3)
        fill = COLOURS[s.value(f"q{n}.ink")]
        for x, y in _SPOTS[s.number(f"q{n}.many")]:
            cx, cy = x0 + x * (x1 - x0), y0 + y * (y1 - y0)
            draw_shape(c, s.value(f"q{n}.charge"), (cx - 19, cy - 19, cx + 19, cy + 19), fill)
    c.poly([(171, 372), (470, 372), (320, 394)], (150, 120, 70), width=3)
    at = s.at("motto")
    c.poly([(at[0] - 30, at[1] + 8), (at[0], at[1]), (at[0], at[3]), (at[0] - 30, at[3] + 8)], (226, 206, 150))
    c.poly([(at[2] + 30, at[1] + 8), (at[2], at[1]), (at[2], at[3]), (at[2] + 30, at[3] + 8)], (226, 206, 150))
    c.rect(at, (246, 232, 190))
    c.text(inset(at, 4), s.value("motto"), size=26, align="centre")


def _crest(c: Canvas, name: str, at: Pixels) -> None:
    x0, y0, x1, y1 = at
    gold: Rgb = (240, 196, 60)
    if name == "sun":
        c.regular(at, 12, gold, inner=0.6)
    elif name == "crown":
        w = (x1 - x0) / 4
        c.poly([(x0, y1 - 8), (x0, y0 + 16), (x0 + w, y0 + 38), (x0 + 2 * w, y0 + 8), (x0 + 3 * w, y0 + 38), (x1, y0 + 16),
                (x1, y1 - 8)], gold)  # fmt: skip
    else:
        c.rect((x0 + 16, y0 + 20, x1 - 16, y1 - 6), (170, 172, 178))
        for x in (x0 + 12, x0 + 33, x0 + 54):
            c.rect((x, y0 + 6, x + 14, y0 + 24), (170, 172, 178))
        c.rect((x0 + 33, y1 - 32, x0 + 47, y1 - 6), INK)


LAYOUTS: tuple[SceneLayout, ...] = (
    SceneLayout("poster", _poster, _paint_poster),
    SceneLayout("arms", _arms, _paint_arms),
    COMIC,
)
"""The layouts of creative and cultural pictures."""
