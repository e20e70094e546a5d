"""A settings window with tabs, switches, boxes, gauges and buttons."""

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Question
from dokimasia.simulation.scenes.draft import Clue, Draft, by_how_much
from dokimasia.simulation.scenes.drawing import FAINT, INK, SHADE, Canvas, Pixels, Rgb, inset, tint
from dokimasia.simulation.scenes.layout import Composed, Layout, Sight, spread
from dokimasia.simulation.scenes.phrasing import ORDINALS
from dokimasia.simulation.scenes.stock import WHITE, describe

WINDOW_TONES: tuple[Rgb, ...] = ((38, 98, 196), (110, 60, 170), (20, 130, 110), (190, 80, 40), (60, 70, 90))


def window(c: Canvas, title: str, at: Pixels, tone: Rgb) -> None:
    c.rect((0, 0, 640, 480), tint(tone, 0.75), line=None)
    c.rect((16, 12, 624, 468), (250, 250, 252), line=SHADE, radius=8)
    c.rect((16, 12, 624, 52), tone, line=None, radius=8)
    c.text(at, title, size=20, line=WHITE)
    for n, dot in enumerate(((240, 96, 88), (246, 190, 60), (96, 200, 90))):
        c.oval((550 + 22 * n, 24, 564 + 22 * n, 38), dot, line=None)


_APPS: tuple[str, ...] = ("Lumen", "Pinboard", "Skylark", "Tidal Notes", "Orbit Mail", "Quarry", "Fieldbook", "Marlin")
_TABS: tuple[str, ...] = ("General", "Privacy", "Sound", "Network", "Display", "Updates", "Accounts")
_SWITCHES: tuple[str, ...] = (
    "Dark mode",
    "Wi-Fi",
    "Bluetooth",
    "Location",
    "Autosave",
    "Night light",
    "Spell check",
    "Sync",
)
_BOXES: tuple[str, ...] = ("Show tips", "Send reports", "Keep history", "Play sounds", "Open at login")
_BUTTONS: tuple[str, ...] = ("Apply", "Cancel", "Reset", "Close", "Save", "Help")
_SLIDERS: tuple[str, ...] = ("Volume", "Brightness", "Contrast", "Zoom")
_TASKS: tuple[str, ...] = ("Download", "Backup", "Upload", "Scan")
_USERS: tuple[str, ...] = ("nhale", "oreyes", "pstern", "qmoss", "radler", "sokoro", "tvoss")


def _settings(d: Draft) -> Composed:
    rng = d.rng
    app, tabs, user = rng.choice(_APPS), rng.sample(_TABS, 4), rng.choice(_USERS)
    switches, boxes = rng.sample(_SWITCHES, rng.choice((4, 5))), rng.sample(_BOXES, 3)
    states = [rng.choice(("on", "off")) for _ in switches]
    ticks = [rng.choice(("ticked", "empty")) for _ in boxes]
    slider, task, (level, progress) = rng.choice(_SLIDERS), rng.choice(_TASKS), spread(rng, 2, 15, 95)
    buttons, selected = rng.sample(_BUTTONS, 2), rng.randrange(4)
    d.fact("title", "window", "title", app, (32, 16, 400, 48))
    for n, tab in enumerate(tabs):
        state = "open" if n == selected else "closed"
        d.fact(f"tab{n}", tab, "state", state, (28 + n * 146, 60, 166 + n * 146, 94))
    for n, (name, state) in enumerate(zip(switches, states, strict=True)):
        d.fact(f"switch{n}", name, "state", state, (40, 114 + n * 46, 306, 152 + n * 46))
    for n, (name, tick) in enumerate(zip(boxes, ticks, strict=True)):
        d.fact(f"box{n}", name, "state", tick, (340, 114 + n * 40, 600, 148 + n * 40))
    d.fact("user", "user name", "text", user, (340, 250, 600, 314))
    d.fact("slider", slider, "value", f"{level}%", (40, 362, 306, 402))
    d.fact("progress", task, "value", f"{progress}%", (340, 362, 600, 402))
    d.fact("button0", "left button", "label", buttons[0], (340, 420, 462, 456))
    d.fact("button1", "right button", "label", buttons[1], (478, 420, 600, 456))
    tab = d.named("Which tab is open?", "The open tab is {}.", tabs[selected], tabs, can.STATE, f"tab{selected}")
    name = d.word("title", "What is the title of the window?", "The title of the window is {}.", _APPS, can.TEXT)
    login = d.word("user", "What is written in the field for the user name?",
                   "In the field for the user name stands {}.", _USERS, can.TEXT)  # fmt: skip
    right = d.word("button1", "What is the label of the button at the right?",
                   "The button at the right is labelled {}.", _BUTTONS, can.TEXT)  # fmt: skip
    marks = [
        d.number(id, f"Which value has {name}?", f"The value of {name} is {{}}.", can.GAUGE)
        for id, name in (("slider", slider), ("progress", task))
    ]
    questions = [
        describe(d, "window", "settings window", "what is its title, and which tab is open?", name, tab),
        _switch_count(d, switches, states),
        _switch_below(d, switches, states),
        d.read_out(f"What stands in the user name field, what does {slider} show, and what is on the right button?",
                   login, marks[0], right),
        _gauges(d, (slider, level), (task, progress), marks),
        _after_click(d, switches, states, ticks),
    ]  # fmt: skip
    return f"the settings of {app}", questions


def _switch_count(d: Draft, switches: list[str], states: list[str]) -> Question:
    absent = d.rng.choice([s for s in _SWITCHES if s not in switches])
    area = d.box(*(f"switch{n}" for n in range(len(switches))))
    clues = [
        d.counted("How many switches does the window have?", "The window has {} switches.", len(switches), at=area),
        Clue(f"Where does the window have a switch for {absent}?", f"A switch for {absent} is {{}}.",
             "nowhere in the window", ("at the top of the window", "among the tabs"), can.ABSENCE),
        d.counted("How many switches are turned on?", "The number of switches turned on is {}.", states.count("on"),
                  can.COUNTING_SELECTED, area),
    ]  # fmt: skip
    return d.pose("count", "How many of the switches are on?", clues)


def _switch_below(d: Draft, switches: list[str], states: list[str]) -> Question:
    at = d.rng.randrange(len(switches) - 1)
    this, below = switches[at], switches[at + 1]
    flipped = "off" if states[at + 1] == "on" else "on"
    clues = [
        d.named(f"At which place from the top does the switch {this} stand?",
                f"From the top, the switch {this} comes {{}}.", ORDINALS[at], ORDINALS[: len(switches)], can.ORDINAL,
                f"switch{at}"),
        Clue(f"Which switch stands directly below {this}?", f"Directly below {this} stands the switch {{}}.", below,
             d.others(_SWITCHES, below, this), can.POSITION, f"switch{at + 1}"),
        Clue(f"In which state is the switch directly below {this}?", "The state of the lower switch is {}.",
             states[at + 1], (flipped, "greyed out"), can.STATE, f"switch{at + 1}"),
    ]  # fmt: skip
    text = f"Which switch is directly below {this}, and is it on or off?"
    wrong = [f"{below}, {flipped}", f"{clues[1].wrong[0]}, {states[at + 1]}", f"{clues[1].wrong[1]}, {flipped}"]
    return d.pose("relate", text, clues, f"{below}, {states[at + 1]}", wrong)


def _gauges(d: Draft, one: tuple[str, int], other: tuple[str, int], marks: list[Clue]) -> Question:
    high, low = (one, other) if one[1] > other[1] else (other, one)
    gap = d.measured("How many points lie between the compared values?", "Between the compared values lie {}.",
                     high[1] - low[1], "{} points", can.DIFFERENCE)  # fmt: skip
    more = Clue("Which of the compared values is the greater?", "The greater of the compared values is that of {}.",
                high[0], (low[0], "neither, since they are equal"), can.MAGNITUDE)  # fmt: skip
    text = f"Which stands higher, {one[0]} or {other[0]}, and by how many points?"
    said = by_how_much("{}, by {}".format, high[0], low[0], gap.truth, gap.wrong)
    return d.pose("compare", text, (*marks, gap, more), *said)


def _after_click(d: Draft, switches: list[str], states: list[str], ticks: list[str]) -> Question:
    at = d.rng.randrange(len(switches))
    flipped = "off" if states[at] == "on" else "on"
    after = states.count("on") + (1 if flipped == "on" else -1)
    ticked = ticks.count("ticked")
    clues = [
        Clue(f"In which state will a click leave the switch {switches[at]}?", f"A click leaves {switches[at]} {{}}.",
             flipped, (states[at], "greyed out"), can.CONVENTION, f"switch{at}"),
        d.counted("How many switches are active after the click?",
                  "After the click the number of active switches is {}.", after, can.DEDUCTION),
        d.counted("How many boxes bear a tick?", "The number of boxes that bear a tick is {}.", ticked,
                  can.COUNTING_SELECTED, d.box("box0", "box1", "box2")),
        d.counted("How many switches and boxes are active together after the click?",
                  "Together, the active switches and boxes number {}.", after + ticked, can.ADDITION),
    ]  # fmt: skip
    text = f"After a click on the switch {switches[at]}, how many switches are on and boxes ticked altogether?"
    return d.pose("infer", text, clues)


def _paint_settings(c: Canvas, s: Sight) -> None:
    tone = s.rng.choice(WINDOW_TONES)
    window(c, s.value("title"), s.at("title"), tone)
    for id in s.under("tab"):
        chosen = s.value(id) == "open"
        c.rect(s.at(id), WHITE if chosen else FAINT, line=tone if chosen else SHADE, width=3 if chosen else 1, radius=6)
        c.text(inset(s.at(id), 6), s.subject(id), size=17, line=tone if chosen else INK, align="centre")
    for id in s.under("switch"):
        x0, y0, x1, y1 = s.at(id)
        on = s.value(id) == "on"
        c.text((x0, y0, x1 - 100, y1), s.subject(id), size=18)
        c.text((x1 - 98, y0, x1 - 62, y1), "ON" if on else "OFF", size=14, line=SHADE, align="right")
        c.rect((x1 - 54, y0 + 7, x1 - 4, y1 - 7), (60, 170, 90) if on else (184, 188, 196), radius=12)
        left = x1 - 28 if on else x1 - 52
        c.oval((left, y0 + 8, left + 22, y1 - 8), WHITE)
    for id in s.under("box"):
        x0, y0, x1, y1 = s.at(id)
        c.rect((x0 + 2, y0 + 5, x0 + 26, y0 + 29), WHITE)
        if s.value(id) == "ticked":
            c.line([(x0 + 6, y0 + 17), (x0 + 12, y0 + 24), (x0 + 23, y0 + 9)], line=tone, width=4)
        c.text((x0 + 38, y0, x1, y1), s.subject(id), size=18)
    x0, y0, x1, y1 = s.at("user")
    c.text((x0, y0, x1, y0 + 26), "User name", size=15, line=SHADE)
    c.rect((x0, y0 + 28, x1, y1), WHITE, line=SHADE, radius=4)
    c.text((x0 + 10, y0 + 28, x1, y1), s.value("user"), size=18)
    _paint_gauges(c, s, tone)
    for n, id in enumerate(s.under("button")):
        c.rect(s.at(id), tone if n else WHITE, line=tone, radius=6)
        c.text(s.at(id), s.value(id), size=18, line=WHITE if n else tone, align="centre")


def _paint_gauges(c: Canvas, s: Sight, tone: Rgb) -> None:
    for id in ("slider", "progress"):
        x0, y0, x1, y1 = s.at(id)
        share = s.number(id) / 100
        c.text((x0, y0, x1 - 60, y0 + 20), s.subject(id), size=16)
        c.text((x1 - 60, y0, x1, y0 + 20), s.value(id), size=16, align="right")
        at = x0 + 8 + share * (x1 - x0 - 16)
        if id == "slider":
            c.rect((x0 + 8, y1 - 11, x1 - 8, y1 - 6), FAINT, line=SHADE, width=1)
            c.oval((at - 8, y1 - 17, at + 8, y1 - 1), tone)
        else:
            c.rect((x0 + 8, y1 - 15, x1 - 8, y1 - 2), WHITE, line=SHADE)
            c.rect((x0 + 8, y1 - 15, at, y1 - 2), tone, line=SHADE)


SETTINGS = Layout("settings", _settings, _paint_settings)
"""The layout."""
