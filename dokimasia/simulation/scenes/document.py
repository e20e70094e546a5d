"""Documents: an invoice, a letter of invitation and the programme of a conference."""

from collections.abc import Mapping

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import (
    MONTHS,
    PEOPLE_NAMES,
    Clue,
    Compose,
    Composition,
    MeasuredItem,
    MeasureWording,
    SceneDraft,
    article,
    by_how_much,
    compare_pair,
    count_above,
    genre_clue,
    infer_sum,
    measured_items,
    relate_next,
    say_all,
    say_both,
    spread,
)
from dokimasia.simulation.scenes.drawing import box_of
from dokimasia.simulation.scenes.sorts import ORDINALS

_AMOUNTS = MeasureWording(
    single="item",
    ask="Which amount is charged for {}?",
    say="The amount charged for {name} is {value}.",
    show="${}".format,
    read=can.FIELD,
    degrees=("dearest", "cheapest", "dearer"),
    first="at the top of the list",
    after="directly below",
)


def _invoice(d: SceneDraft) -> Composition:
    rng = d.rng
    n = rng.choice((4, 5))
    goods = rng.sample(d.words("goods"), n)
    lines: list[tuple[int, int]] = []
    while len(lines) < n:
        qty, price = rng.randrange(2, 10), rng.randrange(8, 49)
        if all(abs(qty * price - q * p) >= 4 for q, p in lines):
            lines.append((qty, price))
    seller, buyer = rng.choice(d.words("firms")), rng.choice(PEOPLE_NAMES)
    number, month, day = rng.randrange(2100, 9900), rng.choice(MONTHS), rng.randrange(13, 17)
    due = day + rng.choice((7, 10, 12))
    total = sum(q * p for q, p in lines)
    d.fact("seller", seller)
    d.fact("kind", "invoice")
    d.fact("number", number)
    d.fact("date", f"{day} {month}")
    d.fact("due", f"{due} {month}")
    d.fact("buyer", buyer)
    for row, (name, (qty, price)) in enumerate(zip(goods, lines, strict=True)):
        cells = {"item": name, "qty": str(qty), "price": f"${price}", "amount": f"${qty * price}"}
        for column, value in cells.items():
            d.fact(f"line{row}.{column}", value, name)
    items = [MeasuredItem(goods[row], qty * price, f"line{row}.amount") for row, (qty, price) in enumerate(lines)]
    d.fact("total", f"${total}")
    kind = genre_clue(d, "document", "invoice")._replace(at="kind")
    sold = d.word(
        "seller", "Which firm issued the document?", "The document was issued by {}.", d.words("firms"), can.TEXT
    )
    bought = d.word("buyer", "To whom is the document addressed?", "The document is addressed to {}.", PEOPLE_NAMES,
                    can.FIELD)  # fmt: skip
    num = d.number("number", "What number does the document bear?", "The number that the document bears is {}.",
                   can.NUMBER)  # fmt: skip
    till = d.number("due", "By which day must be paid?", "Payment is due by {}.", can.FIELD)
    since = d.number("date", "On which day was the document issued?", "The day of issue is {}.", can.FIELD)
    questions = [
        d.pose("recognise", "What kind of document is this, who issued it, and to whom?", (kind, sold, bought),
               *say_all(lambda firm, what, whom: f"{article(what)} from {firm} to {whom}", sold, kind, bought)),
        count_above(d, _AMOUNTS, items),
        relate_next(d, _AMOUNTS, items),
        d.pose("read", "Which number does the document bear, and by which day must it be paid?", (num, since, till),
               *say_both("number {}, by {}".format, num, till)),
        compare_pair(d, _AMOUNTS, items),
        _strike(d, items, total) if rng.random() < 0.6 else infer_sum(d, _AMOUNTS, items),
    ]  # fmt: skip
    return f"an invoice of {n} items", questions


def _strike(d: SceneDraft, items: list[MeasuredItem], total: int) -> SceneQuestion:
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


_SEATS = MeasureWording(
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


def _programme(d: SceneDraft) -> Composition:
    rng = d.rng
    n = rng.choice((4, 5))
    talks, rooms = rng.sample(d.words("talks"), n), rng.sample(d.words("rooms"), n)
    speakers, seats = rng.sample([p.split()[1] for p in PEOPLE_NAMES], n), spread(rng, n, 20, 180, step=5)
    hours = sorted(rng.sample(range(9, 20), n))
    title, month, day = rng.choice(d.words("meetings")), rng.choice(MONTHS), rng.randrange(13, 29)
    d.fact("title", title)
    d.fact("date", f"{day} {month}")
    for row, talk in enumerate(talks):
        cells = {"time": f"{hours[row]}:00", "talk": talk, "room": rooms[row], "speaker": speakers[row]}
        for column, value in cells.items():
            d.fact(f"row{row}.{column}", value, talk)
        d.fact(f"row{row}.seats", seats[row], talk)
    items = measured_items(talks, seats, "row{}.seats")
    name = d.word(
        "title", "What is the title of the programme?", "The programme is entitled {}.", d.words("meetings"), can.TEXT
    )
    kind = genre_clue(d, "document", "event programme")
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
               *say_all("{}, {}, {}".format, who, room, time)),
        compare_pair(d, _SEATS, items),
        infer_sum(d, _SEATS, items),
    ]  # fmt: skip
    return f"the programme of {title} with {n} talks", questions


def _letter(d: SceneDraft) -> Composition:
    rng = d.rng
    sender, guest = rng.sample(PEOPLE_NAMES, 2)
    month, reply = rng.choice(MONTHS), rng.randrange(13, 18)
    start, hours = rng.randrange(14, 19), rng.choice((2, 3, 4))
    day, fee = reply + rng.randrange(4, 12), rng.randrange(13, 48)
    papers = rng.sample(d.words("enclosed"), rng.choice((3, 4)))
    event = rng.choice(d.words("events"))
    values = {
        "event": event, "day": f"{day} {month}", "start": f"{start}:00", "hours": f"{hours} hours",
        "hall": rng.choice(d.words("halls")), "fee": f"${fee}", "bring": rng.choice(d.words("bring")),
        "reply": f"{reply} {month}",
    }  # fmt: skip
    d.fact("sender", sender)
    d.fact("guest", guest)
    for id, value in values.items():
        d.fact(id, value)
    for n, paper in enumerate(papers):
        d.fact(f"paper{n}", paper)
    who = d.word("sender", "Who signed the letter?", "The letter is signed by {}.", PEOPLE_NAMES, can.TEXT)
    what = d.word("event", "To what does the letter invite?", "The letter invites to {}.", d.words("events"), can.TOPIC)
    kind = d.named("What sort of letter is this?", "By its sort, the letter is {}.", "an invitation",
                   ("an invitation", "a complaint", "an application", "a reminder"), can.GENRE)  # fmt: skip
    where = d.word("hall", "In which place do they meet?", "They meet in {}.", d.words("halls"), can.TEXT)
    cost = d.number("fee", "What is the fee for each guest?", "Each guest pays a fee of {}.", can.NUMBER)
    begin = d.number("start", "At what time do they begin?", "They begin at {}.", can.FIELD)
    questions = [
        d.pose("recognise", "What sort of letter is this, who signed it, and what is it about?", (kind, who, what),
               answer=f"an invitation by {sender} to {event}",
               wrong=[f"an invitation by {who.wrong[0]} to {event}",
                      f"an invitation by {sender} to {what.wrong[0]}",
                      f"{kind.wrong[0]} by {sender} about {event}"]),
        _papers_count(d, papers),
        _papers_next(d, papers),
        d.pose("read", "Where do they meet, at what time, and for which fee?", (where, begin, cost),
               *say_all("in {} at {} for {}".format, where, begin, cost)),
        _letter_days(d, day - reply),
        _letter_infer(d, begin, cost, (start, hours, fee)),
    ]  # fmt: skip
    return f"a letter of invitation to {event}", questions


def _papers_count(d: SceneDraft, papers: list[str]) -> SceneQuestion:
    absent = d.absent(d.words("enclosed"), papers)
    area = box_of((430, 336, 590, 384 + 24 * (len(papers) - 1)))
    clues = [
        d.named("Which enclosure is named first?", "The enclosure named first is the {}.", papers[0], papers, can.TEXT,
                area),
        Clue(f"What does the letter say of a {absent}?", f"As to a {absent}, the letter says {{}}.",
             "nothing of the kind", ("that it is enclosed", "that it follows later"), can.ABSENCE),
        d.counted("How many enclosures are named?", "The number of enclosures named is {}.", len(papers), at=area),
    ]  # fmt: skip
    return d.pose("count", "How many enclosures does the letter name?", clues)


def _papers_next(d: SceneDraft, papers: list[str]) -> SceneQuestion:
    position = d.rng.randrange(len(papers) - 1)
    this, after = papers[position], papers[position + 1]
    clues = [
        d.word("paper0", "Which enclosure stands at the top of the list?", "At the top of the list stands the {}.",
               papers, can.TEXT),
        d.named(f"At which place in the list does the {this} stand?", f"In the list the {this} comes {{}}.",
                ORDINALS[position], ORDINALS[:4], can.ORDINAL, f"paper{position}"),
        Clue(f"Which enclosure comes directly below the {this}?", f"Directly below the {this} comes the {{}}.", after,
             d.others(d.words("enclosed"), after, this), can.POSITION, f"paper{position + 1}"),
    ]  # fmt: skip
    text = f"Which enclosure is listed directly below the {this}?"
    return d.pose("relate", text, clues, f"the {after}", [f"the {w}" for w in clues[-1].wrong])


def _letter_days(d: SceneDraft, gap: int) -> SceneQuestion:
    gaps = [f"{n} days" for n in d.near(gap, low=2)]
    clues = [
        d.number("reply", "By which day is the reply wanted?", "The reply is wanted by {}.", can.FIELD),
        d.number("day", "On which day does the event take place?", "The event takes place on {}.", can.FIELD),
        Clue("Which of the compared days comes earlier?", "The earlier of the compared days is that of {}.",
             "the reply", ("the event", "neither, since they coincide"), can.MAGNITUDE),
        Clue("How many days lie between them?", "Between them lie {}.", f"{gap} days", tuple(gaps), can.DIFFERENCE),
    ]  # fmt: skip
    text = "Which comes earlier, the day of the event or the last day for the reply, and by how many days?"
    answers = by_how_much("{}, by {}".format, "the reply", "the event", f"{gap} days", gaps)
    return d.pose("compare", text, clues, *answers)


def _letter_infer(d: SceneDraft, begin: Clue, cost: Clue, numbers: tuple[int, int, int]) -> SceneQuestion:
    start, hours, fee = numbers
    if d.rng.random() < 0.5:
        lasts = d.number("hours", "How long does the event last?", "The event lasts {}.", can.FIELD)
        end = d.measured("At what time does the event end?", "The event ends at {}.", start + hours, "{}:00",
                         can.ADDITION)  # fmt: skip
        return d.pose("infer", "If it keeps to the plan, at what time does the event end?", (begin, lasts, end))
    party = d.rng.randrange(3, 7)
    pays = d.measured("What does the whole party pay?", "The whole party pays {}.", fee * party, "${}", can.PRODUCT)
    size = d.counted("How many people does the question put into the party?", "The party is a group of {}.", party,
                     can.FIELD)  # fmt: skip
    return d.pose("infer", f"What would a party of {party} guests pay altogether?", (cost, size, pays))


LAYOUTS: Mapping[str, Compose] = {"invoice": _invoice, "letter": _letter, "programme": _programme}
"""How documents are composed, by their sort."""
