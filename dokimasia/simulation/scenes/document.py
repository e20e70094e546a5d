"""Documents: an invoice, a letter of invitation and the programme of a conference."""

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Question
from dokimasia.simulation.scenes.draft import Draft, in_words, of_two
from dokimasia.simulation.scenes.drawing import ACCENT, FAINT, INK, SHADE, Canvas, inset, tint
from dokimasia.simulation.scenes.layout import Composed, Layout, Sight, spread
from dokimasia.simulation.scenes.letter import LETTER
from dokimasia.simulation.scenes.phrasing import (
    Item,
    Wording,
    article,
    compare_pair,
    count_above,
    infer_sum,
    relate_next,
)
from dokimasia.simulation.scenes.stock import MONTHS, PEOPLE, genre

_FIRMS: tuple[str, ...] = (
    "Alder Works",
    "Brightwell Ltd",
    "Corvin Supplies",
    "Dunmore Trade",
    "Elsworth Tools",
    "Fenwick Stores",
)
_GOODS: tuple[str, ...] = (
    "paint rollers",
    "work gloves",
    "oak boards",
    "steel hinges",
    "door locks",
    "garden hoses",
    "wall lamps",
    "floor tiles",
    "brass screws",
    "rope coils",
)
# --- the invoice -----------------------------------------------------------------------------------------------------

_COLUMNS = (("item", 40, 260), ("qty", 260, 350), ("price", 350, 470), ("amount", 470, 600))
_AMOUNTS = Wording(
    single="item",
    ask="Which amount is charged for {}?",
    say="The amount charged for {name} is {value}.",
    show="${}".format,
    read=can.FIELD,
    degrees=("dearest", "cheapest", "dearer"),
    first="at the top of the list",
    after="directly below",
)


def _invoice(d: Draft) -> Composed:
    rng = d.rng
    n = rng.choice((4, 5))
    goods = rng.sample(_GOODS, n)
    lines: list[tuple[int, int]] = []
    while len(lines) < n:
        qty, price = rng.randrange(2, 10), rng.randrange(8, 49)
        if all(abs(qty * price - q * p) >= 4 for q, p in lines):
            lines.append((qty, price))
    seller, buyer = rng.choice(_FIRMS), rng.choice(PEOPLE)
    number, month, day = rng.randrange(2100, 9900), rng.choice(MONTHS), rng.randrange(13, 17)
    due = day + rng.choice((7, 10, 12))
    total = sum(q * p for q, p in lines)
    d.fact("seller", "invoice", "issued by", seller, (40, 24, 330, 64))
    d.fact("kind", "document", "kind", "invoice", (400, 24, 600, 64))
    d.fact("number", "invoice", "number", str(number), (400, 68, 600, 92))
    d.fact("date", "invoice", "date", f"{day} {month}", (400, 92, 600, 116))
    d.fact("due", "invoice", "due", f"{due} {month}", (400, 116, 600, 140))
    d.fact("buyer", "invoice", "billed to", buyer, (40, 92, 330, 122))
    for row, (name, (qty, price)) in enumerate(zip(goods, lines, strict=True)):
        top = 204 + row * 38
        shown = {"item": name, "qty": str(qty), "price": f"${price}", "amount": f"${qty * price}"}
        for column, left, right in _COLUMNS:
            d.fact(f"line{row}.{column}", name, column, shown[column], (left, top, right, top + 34))
    items = [Item(goods[row], qty * price, f"line{row}.amount") for row, (qty, price) in enumerate(lines)]
    d.fact("total", "invoice", "total", f"${total}", (350, 414, 600, 454))
    kind = genre(d, "document", "invoice")._replace(at="kind")
    sold = d.word("seller", "Which firm issued the document?", "The document was issued by {}.", _FIRMS, can.TEXT)
    bought = d.word("buyer", "To whom is the document addressed?", "The document is addressed to {}.", PEOPLE,
                    can.FIELD)  # fmt: skip
    num = d.number("number", "What number does the document bear?", "The number that the document bears is {}.",
                   can.NUMBER)  # fmt: skip
    till = d.number("due", "By which day must be paid?", "Payment is due by {}.", can.FIELD)
    since = d.number("date", "On which day was the document issued?", "The day of issue is {}.", can.FIELD)
    questions = [
        d.pose("recognise", "What kind of document is this, who issued it, and to whom?", (kind, sold, bought),
               *in_words(lambda firm, what, whom: f"{article(what)} from {firm} to {whom}", sold, kind, bought)),
        count_above(d, _AMOUNTS, items),
        relate_next(d, _AMOUNTS, items),
        d.pose("read", "Which number does the document bear, and by which day must it be paid?", (num, since, till),
               *of_two("number {}, by {}".format, num, till)),
        compare_pair(d, _AMOUNTS, items),
        _strike(d, items, total) if rng.random() < 0.6 else infer_sum(d, _AMOUNTS, items),
    ]  # fmt: skip
    return f"an invoice of {n} items", questions


def _strike(d: Draft, items: list[Item], total: int) -> Question:
    gone = d.rng.choice(items)
    clues = [
        d.counted("How many items does the list hold?", "The list holds this number of items: {}.", len(items)),
        d.number("total", "What is the total of the document?", "The total printed is {}.", can.NUMBER),
        d.measured(f"What is charged for the item {gone.label}?", f"Charged for the item {gone.label} is {{}}.",
                   gone.value, "${}", can.FIELD, gone.at),
        d.measured(f"What remains to be paid without the item {gone.label}?",
                   "Without it, what remains to be paid is {}.", total - gone.value, "${}", can.DIFFERENCE),
    ]  # fmt: skip
    return d.pose("infer", f"If the item {gone.label} were struck out, what would the total be?", clues)


def _paint_invoice(c: Canvas, s: Sight) -> None:
    tone = s.rng.choice((ACCENT, (150, 52, 60), (34, 120, 96), (96, 70, 140)))
    c.rect((16, 12, 624, 468), (255, 255, 255), line=FAINT)
    c.text(s.at("seller"), s.value("seller"), size=28, line=tone)
    c.text(s.at("kind"), "INVOICE", size=30, align="right")
    for id, label in (("number", "Number"), ("date", "Date"), ("due", "Due by")):
        c.text(s.at(id), label, size=16, line=SHADE)
        c.text(s.at(id), s.value(id), size=17, align="right")
    c.text((40, 72, 330, 92), "Billed to", size=14, line=SHADE)
    c.text(s.at("buyer"), s.value("buyer"), size=20)
    c.rect((32, 164, 608, 198), tone, line=None)
    for name, (_, left, right) in zip(("Item", "Quantity", "Unit price", "Amount"), _COLUMNS, strict=True):
        align = "left" if name == "Item" else "right"
        c.text((left, 164, right, 198), name, size=16, line=(255, 255, 255), align=align)
    for id in s.under("line"):
        x0, _, x1, y1 = s.at(id)
        c.text(s.at(id), s.value(id), size=18, align="left" if id.endswith("item") else "right")
        c.line([(x0 - 8, y1 + 1), (x1 + 8, y1 + 1)], line=FAINT, width=1)
    c.rect(inset(s.at("total"), -6), tint(tone, 0.85), line=None)
    c.text(s.at("total"), "Total", size=20)
    c.text(s.at("total"), s.value("total"), size=24, align="right")


# --- the programme ---------------------------------------------------------------------------------------------------

_TALKS: tuple[str, ...] = (
    "Tides",
    "Glass",
    "Bridges",
    "Bees",
    "Comets",
    "Salt",
    "Maps",
    "Clocks",
    "Rivers",
    "Paper",
    "Volcanoes",
)
_ROOMS: tuple[str, ...] = ("Aula", "Bay Room", "Cedar Room", "Dome", "East Wing", "Forum")
_MEETINGS: tuple[str, ...] = ("Science Day", "Open Academy", "City Lectures", "Autumn Forum", "Museum Night")
_PROGRAMME = (("time", 40, 120), ("talk", 130, 270), ("room", 280, 410), ("speaker", 410, 530), ("seats", 530, 600))
_SEATS = Wording(
    single="talk",
    name="the talk on {}",
    ask="How many seats does {} have?",
    say="The seats of {name} number {value}.",
    show="{} seats".format,
    read=can.FIELD,
    degrees=("largest", "smallest", "larger"),
    first="at the top of the programme",
    after="directly below",
)


def _programme(d: Draft) -> Composed:
    rng = d.rng
    n = rng.choice((4, 5))
    talks, rooms = rng.sample(_TALKS, n), rng.sample(_ROOMS, n)
    speakers, seats = rng.sample([p.split()[1] for p in PEOPLE], n), spread(rng, n, 20, 180, step=5)
    hours = sorted(rng.sample(range(9, 20), n))
    title, month, day = rng.choice(_MEETINGS), rng.choice(MONTHS), rng.randrange(13, 29)
    d.fact("title", "programme", "title", title, (40, 22, 600, 78))
    d.fact("date", "programme", "date", f"{day} {month}", (40, 80, 600, 112))
    for row in range(n):
        top = 176 + row * 54
        shown = (f"{hours[row]}:00", talks[row], rooms[row], speakers[row], str(seats[row]))
        for (column, left, right), value in zip(_PROGRAMME, shown, strict=True):
            d.fact(f"row{row}.{column}", talks[row], column, value, (left, top, right, top + 44))
    items = [Item(talks[row], seats[row], f"row{row}.seats") for row in range(n)]
    name = d.word("title", "What is the title of the programme?", "The programme is entitled {}.", _MEETINGS, can.TEXT)
    kind = genre(d, "document", "event programme")
    when = d.number("date", "For which day is the document made?", "It is made for {}.", can.NUMBER)
    at = rng.randrange(n)
    talk = f"the talk on {talks[at]}"
    who = d.word(f"row{at}.speaker", f"Who gives {talk}?", f"The speaker of {talk} is {{}}.", speakers, can.FIELD)
    room = d.word(f"row{at}.room", f"In which room is {talk}?", f"The room of {talk} is {{}}.", rooms, can.FIELD)
    time = d.number(f"row{at}.time", f"At what time is {talk}?", f"The time of {talk} is {{}}.", can.NUMBER)
    questions = [
        d.pose("recognise", "What kind of document is this, what is its title, and for which day is it?",
               (kind, name, when), answer=f"the event programme {title} of {when.truth}",
               wrong=[f"the event programme {name.wrong[0]} of {when.truth}",
                      f"the event programme {title} of {when.wrong[0]}",
                      f"the {kind.wrong[0]} {title} of {when.wrong[1]}"]),
        count_above(d, _SEATS, items),
        relate_next(d, _SEATS, items),
        d.pose("read", f"Who gives {talk}, in which room, and at what time?", (who, room, time),
               *in_words("{}, {}, {}".format, who, room, time)),
        compare_pair(d, _SEATS, items),
        infer_sum(d, _SEATS, items),
    ]  # fmt: skip
    return f"the programme of {title} with {n} talks", questions


def _paint_programme(c: Canvas, s: Sight) -> None:
    tone = s.rng.choice(((30, 90, 110), (120, 60, 30), (84, 50, 120), (40, 100, 60)))
    c.rect((16, 12, 624, 468), (255, 255, 255), line=tone, width=4)
    c.text(s.at("title"), s.value("title"), size=42, line=tone, align="centre")
    c.text(s.at("date"), s.value("date"), size=22, align="centre")
    for (_, left, right), name in zip(_PROGRAMME, ("Time", "Talk", "Room", "Speaker", "Seats"), strict=True):
        c.text((left, 130, right, 164), name, size=17, line=SHADE)
    c.line([(32, 168), (608, 168)], line=tone, width=3)
    for id in s.under("row"):
        c.text(s.at(id), s.value(id), size=20, line=tone if id.endswith("talk") else INK)


LAYOUTS: tuple[Layout, ...] = (
    Layout("invoice", _invoice, _paint_invoice),
    LETTER,
    Layout("programme", _programme, _paint_programme),
)
"""The layouts of documents."""
