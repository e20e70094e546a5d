"""The pictures of the planted world: they show their facts, carry them, and give them back."""

import struct
import zlib
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops

from dokimasia.errors import NotFound
from dokimasia.simulation.picture import KEYWORD, MAX_TEXT, draw_scene, embed_scene, read_scene
from dokimasia.simulation.scene import DOMAINS, Domain, Scene
from dokimasia.simulation.scenes import LAYOUTS, make_scene

EVERY_LAYOUT = [(domain, layout) for domain in DOMAINS for layout in LAYOUTS[domain]]


def first_scene(domain: Domain, layout: str) -> Scene:
    """Return the first scene of a layout."""
    return next(s for s in (make_scene(domain, seed) for seed in range(200)) if s.layout == layout)


def image(png: bytes) -> Image.Image:
    """Return the decoded picture."""
    with Image.open(BytesIO(png)) as opened:
        return opened.convert("RGB")


def region(scene: Scene, id: str) -> tuple[int, int, int, int]:
    """Return a fact's region in whole pixels."""
    box = next(fact.box for fact in scene.facts if fact.id == id)
    return (int(box.x0 * 640), int(box.y0 * 480), round(box.x1 * 640), round(box.y1 * 480))


def chunk(kind: bytes, payload: bytes) -> bytes:
    """Return a PNG chunk."""
    return struct.pack(">I", len(payload)) + kind + payload + struct.pack(">I", zlib.crc32(kind + payload))


def with_chunk(extra: bytes) -> bytes:
    """Return a small PNG with a chunk after its header."""
    buffer = BytesIO()
    Image.new("RGB", (4, 4)).save(buffer, "PNG")
    return buffer.getvalue()[:33] + extra + buffer.getvalue()[33:]


@pytest.mark.parametrize(("domain", "layout"), EVERY_LAYOUT)
def test_every_layout_draws_its_facts_where_their_boxes_are(domain: Domain, layout: str) -> None:
    """The region of every fact's box has at least two colours: something is drawn there."""
    scene = first_scene(domain, layout)
    picture = image(draw_scene(scene))
    assert picture.size == (scene.width, scene.height) == (640, 480)
    for fact in scene.facts:
        colours = picture.crop(region(scene, fact.id)).getcolors(1 << 20)
        assert colours is not None
        assert len(colours) > 1, fact.id


@pytest.mark.parametrize(
    ("domain", "layout", "id", "value"),
    [
        ("natural", "park", "thing1.kind", "mug"),
        ("natural", "street", "thing2.colour", "pink"),
        ("natural", "kitchen", "sign.number", "55"),
        ("document", "invoice", "line0.amount", "$999"),
        ("document", "letter", "hall", "Nowhere House"),
        ("document", "programme", "row1.speaker", "Zimmer"),
        ("interface", "settings", "box0", "half"),
        ("interface", "files", "free", "1 MB"),
        ("interface", "player", "volume", "3%"),
        ("data", "bars", "bar0.value", "5"),
        ("data", "lines", "line0.1", "9"),
        ("data", "pie", "slice0.colour", "black"),
        ("data", "table", "cell00", "7"),
        ("stem", "circuit", "part0.tone", "black"),
        ("stem", "triangle", "side0", "999 cm"),
        ("stem", "beakers", "glass1.level", "5 ml"),
        ("logic", "sequence", "figure0.number", "7"),
        ("logic", "matrix", "letter0", "Y"),
        ("logic", "balance", "letter2", "Y"),
        ("creative", "poster", "hall", "Elsewhere"),
        ("creative", "arms", "q0.tone", "pink"),
        ("creative", "comic", "p0.prop", "car"),
    ],
)
def test_another_fact_makes_another_picture_inside_its_box(domain: Domain, layout: str, id: str, value: str) -> None:
    """A scene with one fact changed is drawn differently, and where that fact is."""
    scene = first_scene(domain, layout)
    assert any(fact.id == id and fact.value not in (value, "empty") for fact in scene.facts) or id == "box0"
    if id == "box0":
        old = next(fact.value for fact in scene.facts if fact.id == id)
        value = "empty" if old == "ticked" else "ticked"
    changed = scene.model_copy(
        update={"facts": tuple(f.model_copy(update={"value": value}) if f.id == id else f for f in scene.facts)}
    )
    box = region(scene, id)
    assert ImageChops.difference(image(draw_scene(scene)).crop(box), image(draw_scene(changed)).crop(box)).getbbox()


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_scene_is_drawn_to_equal_bytes_and_read_back(domain: Domain) -> None:
    """Equal scenes give equal bytes, and the picture's metadata give the scene back with the whole image's box."""
    for seed in range(3):
        png = draw_scene(make_scene(domain, seed))
        assert png == draw_scene(make_scene(domain, seed))
        assert read_scene(png) == (make_scene(domain, seed), (0.0, 0.0, 1.0, 1.0))
        assert len(png) < 120_000


def test_a_part_of_a_picture_says_which_part_it_is() -> None:
    """A crop that carries the scene with a box gives that box back."""
    scene = make_scene("logic", 1)
    buffer = BytesIO()
    image(draw_scene(scene)).crop((0, 0, 320, 240)).save(buffer, "PNG")
    assert read_scene(embed_scene(buffer.getvalue(), scene, (0.0, 0.0, 0.5, 0.5))) == (scene, (0.0, 0.0, 0.5, 0.5))
    assert read_scene(buffer.getvalue()) is None


@pytest.mark.parametrize("form", ["zTXt", "iTXt", "tEXt"])
def test_compressed_and_plain_text_chunks_are_read(form: str) -> None:
    """Tools that write metadata anew may choose any of the three text chunks: all are read."""
    scene = make_scene("stem", 5)
    plain = with_chunk(b"")
    text = embed_scene(plain, scene)[33 + 8 + len(KEYWORD) + 5 : -len(plain[33:]) - 4]
    packed = zlib.compress(text)
    payload = {"zTXt": b"\0\0" + packed, "iTXt": b"\0\1\0\0\0" + packed, "tEXt": b"\0" + text}[form]
    sighting = read_scene(with_chunk(chunk(form.encode(), KEYWORD + payload)))
    assert sighting is not None
    assert sighting[0] == scene


def test_images_outside_the_planted_world_carry_no_scene() -> None:
    """A plain PNG, a JPEG, and no bytes at all give None."""
    buffer = BytesIO()
    Image.new("RGB", (8, 8)).save(buffer, "JPEG")
    assert read_scene(with_chunk(b"")) is None
    assert read_scene(buffer.getvalue()) is None
    assert read_scene(b"") is None


@pytest.mark.parametrize(
    "payload",
    [
        b"\0\0" + zlib.compress(b"9" * (MAX_TEXT * 8)),
        b"\0\0" + zlib.compress(b"[" * 200_000),
        b"\0\0" + zlib.compress(b'{"id":"x","box":[0,0,1,1],"scene":{}}'),
        b"\0\0" + zlib.compress(b'{"id":"x","box":[0,0,NaN,1],"scene":null}'),
        b"\0\0" + zlib.compress(b'["not an object"]'),
        b"\0\0not zlib at all",
        b"\0",
        b"",
    ],
)
def test_hostile_metadata_give_none(payload: bytes) -> None:
    """A decompression bomb, deep nesting, wrong types and broken data are refused without an error."""
    assert read_scene(with_chunk(chunk(b"zTXt", KEYWORD + payload))) is None


def test_a_forged_box_or_id_gives_none() -> None:
    """A box outside the image or without area, and an id that is not the scene's, are refused."""
    scene = make_scene("data", 2)
    for box in ((0.5, 0.0, 0.5, 1.0), (-0.1, 0.0, 1.0, 1.0), (0.0, 0.0, 1.0, 2.0), (0.0, 0.0, float("nan"), 1.0)):
        assert read_scene(embed_scene(with_chunk(b""), scene, box)) is None
    text = embed_scene(with_chunk(b""), scene).replace(b'"id":"data-2","box"', b'"id":"data-3","box"')
    assert read_scene(text) is None


@given(st.integers(0, 60_000), st.integers(0, 255), st.integers(0, 70_000))
@settings(max_examples=80, deadline=None)
def test_damaged_pictures_never_raise(at: int, byte: int, length: int) -> None:
    """A picture with one byte changed and its end cut off gives its scene or None, and no error."""
    whole = draw_scene(make_scene("interface", 4))
    broken = bytearray(whole)
    broken[at % len(whole)] = byte
    sighting = read_scene(bytes(broken[:length]))
    assert sighting is None or sighting[0].id == "interface-4"


def test_a_scene_of_an_unknown_layout_is_refused_with_its_name() -> None:
    """A scene whose layout is not known says so."""
    scene = make_scene("data", 2).model_copy(update={"layout": "hologram"})
    with pytest.raises(NotFound, match="hologram"):
        draw_scene(scene)
