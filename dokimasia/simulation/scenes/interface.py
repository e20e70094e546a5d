"""Interfaces: a settings window, a folder of files and a music player."""

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import SceneQuestion
from dokimasia.simulation.scenes.draft import (
    ORDINALS,
    WHITE,
    Clue,
    Composition,
    MeasuredItem,
    MeasureWording,
    SceneDraft,
    SceneLayout,
    SceneReader,
    ask_kind,
    by_how_much,
    compare_pair,
    count_above,
    infer_sum,
    relate_next,
    spread,
)
from dokimasia.simulation.scenes.drawing import FAINT, INK, SHADE, Canvas, Pixels, Rgb, inset, tint

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


def _settings(d: SceneDraft) -> Composition:
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
        ask_kind(d, "window", "settings window", "what is its title, and which tab is open?", name, tab),
        _switch_count(d, switches, states),
        _switch_below(d, switches, states),
        d.read_out(f"What stands in the user name field, what does {slider} show, and what is on the right button?",
                   login, marks[0], right),
        _gauges(d, (slider, level), (task, progress), marks),
        _after_click(d, switches, states, ticks),
    ]  # fmt: skip
    return f"the settings of {app}", questions


def _switch_count(d: SceneDraft, switches: list[str], states: list[str]) -> SceneQuestion:
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


def _switch_below(d: SceneDraft, switches: list[str], states: list[str]) -> SceneQuestion:
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


def _gauges(d: SceneDraft, slider: tuple[str, int], progress: tuple[str, int], marks: list[Clue]) -> SceneQuestion:
    high, low = (slider, progress) if slider[1] > progress[1] else (progress, slider)
    gap = d.measured("How many points lie between the compared values?", "Between the compared values lie {}.",
                     high[1] - low[1], "{} points", can.DIFFERENCE)  # fmt: skip
    more = Clue("Which of the compared values is the greater?", "The greater of the compared values is that of {}.",
                high[0], (low[0], "neither, since they are equal"), can.MAGNITUDE)  # fmt: skip
    text = f"Which stands higher, {slider[0]} or {progress[0]}, and by how many points?"
    answers = by_how_much("{}, by {}".format, high[0], low[0], gap.truth, gap.wrong)
    return d.pose("compare", text, (*marks, gap, more), *answers)


def _after_click(d: SceneDraft, switches: list[str], states: list[str], ticks: list[str]) -> SceneQuestion:
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


def _paint_settings(c: Canvas, s: SceneReader) -> None:
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


def _paint_gauges(c: Canvas, s: SceneReader, tone: Rgb) -> None:
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


SETTINGS = SceneLayout("settings", _settings, _paint_settings)
"""The layout."""


# --- files -----------------------------------------------------------------------------------------------------------

_STEMS: tuple[str, ...] = (
    "budget",
    "holiday",
    "minutes",
    "draft",
    "survey",
    "garden",
    "recipes",
    "lecture",
    "archive",
    "portrait",
)
_ENDS = {"pdf": "document", "png": "picture", "mp3": "sound", "zip": "archive", "csv": "table", "mp4": "film"}
_FOLDERS: tuple[str, ...] = ("Projects", "Family", "Harvest", "Studio", "Travel", "Workshop")
_SIZES = MeasureWording(
    single="file",
    ask="What is the size of {}?",
    say="The size of {name} is {value}.",
    show="{} MB".format,
    read=can.FIELD,
    degrees=("largest", "smallest", "larger"),
    first="at the top of the list",
    after="directly below",
)


def _files(d: SceneDraft) -> Composition:
    rng = d.rng
    n = rng.choice((5, 6))
    names = [f"{stem}.{rng.choice(list(_ENDS))}" for stem in rng.sample(_STEMS, n)]
    kinds = [_ENDS[name.split(".")[1]] for name in names]
    sizes, folder = spread(rng, n, 15, 900), rng.choice(_FOLDERS)
    chosen, free = rng.randrange(n), rng.randrange(30, 99) * 100
    d.fact("title", "window", "folder", folder, (32, 16, 400, 48))
    d.fact("chosen", "selection", "file", names[chosen], (28, 116 + chosen * 50, 612, 160 + chosen * 50))
    d.fact("free", "disk", "free", f"{free} MB", (360, 428, 600, 460))
    for row, (name, kind, size) in enumerate(zip(names, kinds, sizes, strict=True)):
        top = 116 + row * 50
        d.fact(f"file{row}.name", "file", "name", name, (84, top, 300, top + 44))
        d.fact(f"file{row}.kind", name, "kind", kind, (320, top, 460, top + 44))
        d.fact(f"file{row}.size", name, "size", f"{size} MB", (480, top, 600, top + 44))
    items = [MeasuredItem(names[row], sizes[row], f"file{row}.size") for row in range(n)]
    name = d.word("title", "Which folder does the window show?", "The window shows the folder {}.", _FOLDERS, can.TEXT)
    pick = d.word("chosen", "Which file is selected?", "The selected file is {}.", names, can.STATE)
    sort = d.word(f"file{chosen}.kind", "Of what kind is the selected file?", "The selected file is of the kind {}.",
                  list(_ENDS.values()), can.FIELD)  # fmt: skip
    size = d.number(f"file{chosen}.size", "What is the size of the selected file?",
                    "The selected file has a size of {}.", can.FIELD)  # fmt: skip
    space = d.number("free", "How much space is free?", "The free space is {}.", can.NUMBER, step=100)
    after = d.measured("How much space is free once the selected file is gone?",
                       "Once the selected file is gone, the free space grows to {}.", free + sizes[chosen], "{} MB",
                       can.ADDITION)  # fmt: skip
    infer = d.pose("infer", "If the selected file were deleted for good, how much space would be free?",
                   (pick, size, space, after))  # fmt: skip
    questions = [
        ask_kind(d, "window", "file list", "which folder does it show, and which file is selected?", name, pick),
        count_above(d, _SIZES, items),
        relate_next(d, _SIZES, items),
        d.read_out("Of what kind and size is the selected file, and how much space is free?", sort, size, space),
        compare_pair(d, _SIZES, items),
        infer if rng.random() < 0.5 else infer_sum(d, _SIZES, items),
    ]  # fmt: skip
    return f"the folder {folder} with {n} files", questions


def _paint_files(c: Canvas, s: SceneReader) -> None:
    tone = s.rng.choice(WINDOW_TONES)
    window(c, s.value("title"), s.at("title"), tone)
    for x0, x1, head in ((84, 300, "Name"), (320, 460, "Kind"), (480, 600, "Size")):
        c.text((x0, 66, x1, 102), head, size=16, line=SHADE)
    c.line([(28, 106), (612, 106)], line=SHADE)
    c.rect(s.at("chosen"), tint(tone, 0.6), line=tone)
    for id in s.under("file"):
        x0, y0, _, _ = s.at(id)
        c.text(s.at(id), s.value(id), size=18)
        if id.endswith("name"):
            c.poly(
                [(x0 - 42, y0 + 6), (x0 - 26, y0 + 6), (x0 - 16, y0 + 16), (x0 - 16, y0 + 38), (x0 - 42, y0 + 38)],
                WHITE,
            )
    c.line([(28, 424), (612, 424)], line=SHADE)
    c.text(s.at("free"), f"{s.value('free')} free", size=18, align="right")


# --- the player ------------------------------------------------------------------------------------------------------

_SONGS: tuple[str, ...] = (
    "Lanterns",
    "Northbound",
    "Paper Moon",
    "Silver Pine",
    "Undertow",
    "Wild Thyme",
    "Harbour",
    "Echoes",
    "Amber",
)
_BANDS: tuple[str, ...] = ("The Larks", "Juno Vale", "Oslo Trio", "Mira Sand", "Blue Ferry", "Kites")
_MODES: tuple[str, ...] = ("on", "off")


_LENGTHS = MeasureWording(
    single="song",
    ask="How long is {}?",
    say="The length of {name} is {value}.",
    show="{} s".format,
    read=can.FIELD,
    degrees=("longest", "shortest", "longer"),
    first="at the top of the playlist",
    after="directly below",
)


def _player(d: SceneDraft) -> Composition:
    rng = d.rng
    n = rng.choice((4, 5))
    songs, bands, lengths = rng.sample(_SONGS, n), rng.sample(_BANDS, n), spread(rng, n, 95, 330)
    now, volume, modes = rng.randrange(n), rng.randrange(15, 96), [rng.choice(_MODES) for _ in range(2)]
    d.fact("now", "player", "now playing", songs[now], (40, 66, 430, 112))
    d.fact("shuffle", "shuffle", "state", modes[0], (450, 62, 600, 86))
    d.fact("repeat", "repeat", "state", modes[1], (450, 92, 600, 116))
    d.fact("volume", "volume", "value", f"{volume}%", (340, 424, 600, 458))
    for row in range(n):
        top = 136 + row * 54
        d.fact(f"song{row}.title", "song", "title", songs[row], (76, top, 290, top + 46))
        d.fact(f"song{row}.band", songs[row], "artist", bands[row], (300, top, 480, top + 46))
        d.fact(f"song{row}.length", songs[row], "length", f"{lengths[row]} s", (500, top, 600, top + 46))
    items = [MeasuredItem(songs[row], lengths[row], f"song{row}.length") for row in range(n)]
    song = d.word("now", "Which song is being played?", "The song being played is {}.", songs, can.STATE)
    band = d.word(f"song{now}.band", "Whose song is being played?", "The song being played is by {}.", _BANDS,
                  can.FIELD)  # fmt: skip
    loud = d.number("volume", "At which value stands the volume?", "The volume stands at {}.", can.GAUGE)
    mix = Clue("In which state is the shuffle control?", "The shuffle control is {}.", modes[0],
               ("off" if modes[0] == "on" else "on", "missing"), can.STATE, "shuffle")  # fmt: skip
    questions = [
        ask_kind(d, "window", "music player", "which song is being played, and by whom?", song, band),
        count_above(d, _LENGTHS, items),
        relate_next(d, _LENGTHS, items),
        d.read_out("Who plays the current song, how high is the volume, and is shuffle on or off?", band, loud, mix),
        compare_pair(d, _LENGTHS, items),
        _quieter(d, volume, loud) if rng.random() < 0.4 else infer_sum(d, _LENGTHS, items),
    ]  # fmt: skip
    return f"a music player with {n} songs", questions


def _quieter(d: SceneDraft, volume: int, loud: Clue) -> SceneQuestion:
    down, up = d.rng.randrange(3, 13), d.rng.randrange(14, 25)
    low = volume - down
    up = min(up, 98 - low)
    end = low + up
    wrong = tuple(f"{n}%" for n in d.rng.sample([n for n in range(end - 9, min(end + 10, 100)) if n != end], 3))
    clues = [
        loud,
        d.measured("At which value does the volume stand after it is lowered?", "Lowered, it stands at {}.", low, "{}%",
                   can.DIFFERENCE),
        Clue("At which value does the volume stand in the end?", "In the end it has come to {}.", f"{end}%", wrong,
             can.ADDITION),
    ]  # fmt: skip
    text = f"The volume is lowered by {down} points and then raised by {up}. Where does it stand?"
    return d.pose("infer", text, clues)


def _paint_player(c: Canvas, s: SceneReader) -> None:
    tone = s.rng.choice(WINDOW_TONES)
    window(c, "Music", (32, 16, 400, 48), tone)
    c.poly([(40, 72), (40, 106), (68, 89)], tone)
    x0, y0, x1, y1 = s.at("now")
    c.text((x0 + 40, y0, x1, y1), f"Now playing: {s.value('now')}", size=22)
    for id in ("shuffle", "repeat"):
        x0, y0, x1, y1 = s.at(id)
        on = s.value(id) == "on"
        c.text((x0, y0, x1, y1), id.capitalize(), size=17)
        c.rect((x1 - 52, y0, x1, y1), tone if on else FAINT, line=SHADE, width=1, radius=6)
        c.text((x1 - 52, y0, x1, y1), "ON" if on else "OFF", size=15, line=WHITE if on else INK, align="centre")
    c.line([(28, 124), (612, 124)], line=SHADE)
    for id in s.under("song"):
        row = s.at(id)
        playing = s.value(id.split(".")[0] + ".title") == s.value("now")
        c.text(row, s.value(id), size=20, line=tone if playing else INK)
        if id.endswith("title"):
            if playing:
                c.poly([(46, row[1] + 14), (46, row[1] + 32), (62, row[1] + 23)], tone, line=None)
            c.line([(40, row[3] + 4), (600, row[3] + 4)], line=FAINT, width=1)
    x0, y0, x1, y1 = s.at("volume")
    c.text((x0, y0, x0 + 80, y1), "Volume", size=17)
    c.text((x1 - 52, y0, x1, y1), s.value("volume"), size=17, align="right")
    c.rect((x0 + 86, y0 + 13, x1 - 62, y0 + 21), FAINT, line=SHADE, width=1)
    at = x0 + 86 + s.number("volume") / 100 * (x1 - x0 - 148)
    c.rect((x0 + 86, y0 + 13, at, y0 + 21), tone, line=SHADE, width=1)


LAYOUTS: tuple[SceneLayout, ...] = (
    SETTINGS,
    SceneLayout("files", _files, _paint_files),
    SceneLayout("player", _player, _paint_player),
)
"""The layouts of interfaces."""
