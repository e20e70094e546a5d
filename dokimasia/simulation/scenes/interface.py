"""Interfaces: a settings window, a folder of files and a music player."""

from random import Random

from dokimasia.simulation import capabilities as can
from dokimasia.simulation.scene import Question
from dokimasia.simulation.scenes.drawing import FAINT, INK, SHADE, Canvas, tint
from dokimasia.simulation.scenes.layout import Layout, Plan, Sight, fact, spread
from dokimasia.simulation.scenes.phrasing import (
    Clue,
    Item,
    Wording,
    compare_pair,
    count_above,
    describe,
    infer_sum,
    measured,
    named,
    pose,
    read_out,
    relate_next,
)
from dokimasia.simulation.scenes.settings import SETTINGS, WINDOW_TONES, window
from dokimasia.simulation.scenes.stock import WHITE, genre

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
_SIZES = Wording(
    single="file",
    many="files",
    name="the file {}",
    ask="What is the size of {}?",
    say="The size of {name} is {value}.",
    show="{} MB".format,
    read=can.FIELD,
    most="largest",
    least="smallest",
    more="larger",
    first="at the top of the list",
    after="directly below",
)


def _files(rng: Random, scene: str) -> Plan:
    n = rng.choice((5, 6))
    names = [f"{stem}.{rng.choice(list(_ENDS))}" for stem in rng.sample(_STEMS, n)]
    kinds = [_ENDS[name.split(".")[1]] for name in names]
    sizes, folder = spread(rng, n, 15, 900), rng.choice(_FOLDERS)
    chosen, free = rng.randrange(n), rng.randrange(30, 99) * 100
    facts = [
        fact("title", "window", "folder", folder, (32, 16, 400, 48)),
        fact("chosen", "selection", "file", names[chosen], (28, 116 + chosen * 50, 612, 160 + chosen * 50)),
        fact("free", "disk", "free", f"{free} MB", (360, 428, 600, 460)),
    ]
    items: list[Item] = []
    for row, (name, kind, size) in enumerate(zip(names, kinds, sizes, strict=True)):
        top = 116 + row * 50
        facts.append(fact(f"file{row}.name", "file", "name", name, (84, top, 300, top + 44)))
        facts.append(fact(f"file{row}.kind", name, "kind", kind, (320, top, 460, top + 44)))
        facts.append(fact(f"file{row}.size", name, "size", f"{size} MB", (480, top, 600, top + 44)))
        items.append(Item(name, size, facts[-1].box))
    box = {f.id: f.box for f in facts}
    name = named(rng, "Which folder does the window show?", "The window shows the folder {}.", folder, _FOLDERS, can.TEXT,
                 box["title"])  # fmt: skip
    pick = named(
        rng, "Which file is selected?", "The selected file is {}.", names[chosen], names, can.STATE, box["chosen"]
    )
    sort = named(rng, "Of what kind is the selected file?", "The selected file is of the kind {}.", kinds[chosen],
                 list(_ENDS.values()), can.FIELD, box[f"file{chosen}.kind"])  # fmt: skip
    size = measured(rng, "What is the size of the selected file?", "The selected file has a size of {}.", sizes[chosen],
                    "{} MB", can.FIELD, items[chosen].box)  # fmt: skip
    space = measured(rng, "How much space is free?", "The free space is {}.", free, "{} MB", can.NUMBER, box["free"],
                     step=100)  # fmt: skip
    after = measured(rng, "How much space is free once the selected file is gone?",
                     "Once the selected file is gone, the free space grows to {}.", free + sizes[chosen], "{} MB",
                     can.ADDITION)  # fmt: skip
    infer = pose(rng, scene, "infer", "If the selected file were deleted for good, how much space would be free?",
                 clues=(pick, size, space, after), answer=after.truth, wrong=after.wrong)  # fmt: skip
    questions = [
        describe(rng, scene, "What kind of window is this, which folder does it show, and which file is selected?",
                 genre(rng, "window", "file list"), name, pick),
        count_above(rng, scene, _SIZES, items),
        relate_next(rng, scene, _SIZES, items),
        read_out(rng, scene, "Of what kind and size is the selected file, and how much space is free?", sort, size, space),
        compare_pair(rng, scene, _SIZES, items),
        infer if rng.random() < 0.5 else infer_sum(rng, scene, _SIZES, items),
    ]  # fmt: skip
    return Plan(f"the folder {folder} with {n} files", facts, questions)


def _paint_files(c: Canvas, s: Sight) -> None:
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


_LENGTHS = Wording(
    single="song",
    many="songs",
    name="the song {}",
    ask="How long is {}?",
    say="The length of {name} is {value}.",
    show="{} s".format,
    read=can.FIELD,
    most="longest",
    least="shortest",
    more="longer",
    first="at the top of the playlist",
    after="directly below",
)


def _player(rng: Random, scene: str) -> Plan:
    n = rng.choice((4, 5))
    songs, bands, lengths = rng.sample(_SONGS, n), rng.sample(_BANDS, n), spread(rng, n, 95, 330)
    now, volume, modes = rng.randrange(n), rng.randrange(15, 96), [rng.choice(_MODES) for _ in range(2)]
    facts = [
        fact("now", "player", "now playing", songs[now], (40, 66, 430, 112)),
        fact("shuffle", "shuffle", "state", modes[0], (450, 62, 600, 86)),
        fact("repeat", "repeat", "state", modes[1], (450, 92, 600, 116)),
        fact("volume", "volume", "value", f"{volume}%", (340, 424, 600, 458)),
    ]
    items: list[Item] = []
    for row in range(n):
        top = 136 + row * 54
        facts.append(fact(f"song{row}.title", "song", "title", songs[row], (76, top, 290, top + 46)))
        facts.append(fact(f"song{row}.band", songs[row], "artist", bands[row], (300, top, 480, top + 46)))
        facts.append(fact(f"song{row}.length", songs[row], "length", f"{lengths[row]} s", (500, top, 600, top + 46)))
        items.append(Item(songs[row], lengths[row], facts[-1].box))
    box = {f.id: f.box for f in facts}
    song = named(
        rng, "Which song is being played?", "The song being played is {}.", songs[now], songs, can.STATE, box["now"]
    )
    band = named(rng, "Whose song is being played?", "The song being played is by {}.", bands[now], _BANDS, can.FIELD,
                 box[f"song{now}.band"])  # fmt: skip
    loud = measured(rng, "At which value stands the volume?", "The volume stands at {}.", volume, "{}%", can.GAUGE,
                    box["volume"])  # fmt: skip
    mix = Clue("In which state is the shuffle control?", "The shuffle control is {}.", modes[0],
               ("off" if modes[0] == "on" else "on", "missing"), can.STATE, box["shuffle"])  # fmt: skip
    questions = [
        describe(rng, scene, "What kind of window is this, which song is being played, and by whom?",
                 genre(rng, "window", "music player"), song, band),
        count_above(rng, scene, _LENGTHS, items),
        relate_next(rng, scene, _LENGTHS, items),
        read_out(rng, scene, "Who plays the current song, how high is the volume, and is shuffle on or off?", band, loud, mix),
        compare_pair(rng, scene, _LENGTHS, items),
        _quieter(rng, scene, volume, loud) if rng.random() < 0.4 else infer_sum(rng, scene, _LENGTHS, items),
    ]  # fmt: skip
    return Plan(f"a music player with {n} songs", facts, questions)


def _quieter(rng: Random, scene: str, volume: int, loud: Clue) -> Question:
    down, up = rng.randrange(3, 13), rng.randrange(14, 25)
    low = volume - down
    up = min(up, 98 - low)
    end = low + up
    wrong = tuple(f"{n}%" for n in rng.sample([n for n in range(end - 9, min(end + 10, 100)) if n != end], 3))
    clues = [
        loud,
        measured(rng, "At which value does the volume stand after it is lowered?", "Lowered, it stands at {}.", low, "{}%",
                 can.DIFFERENCE),
        Clue("At which value does the volume stand in the end?", "In the end it has come to {}.", f"{end}%", wrong,
             can.ADDITION),
    ]  # fmt: skip
    text = f"The volume is lowered by {down} points and then raised by {up}. Where does it stand?"
    return pose(rng, scene, "infer", text, clues=clues, answer=f"{end}%", wrong=wrong)


def _paint_player(c: Canvas, s: Sight) -> None:
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


LAYOUTS: tuple[Layout, ...] = (
    SETTINGS,
    Layout("files", _files, _paint_files),
    Layout("player", _player, _paint_player),
)
"""The layouts of interfaces."""
