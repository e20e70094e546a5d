"""Uploads: taken in under caps, whole or not at all, whatever their names and contents try."""

import io
import json
import os
import struct
import zipfile
import zlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from PIL import Image

from dokimasia.operations.operation import RequestRefused
from dokimasia.service.guard import Limits
from dokimasia.service.state import Service
from dokimasia.service.uploads import Caps, Uploads, plain_name
from dokimasia.storage.home import Home
from tests.service.conftest import asking, service_over

LINE = b'{"id": "a", "prompt": "What is it?", "reference_answer": "b"}\n'
Files = list[tuple[str, tuple[str, bytes]]]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service over an empty home."""
    Home.open(tmp_path / "home", write=True).close()
    with service_over(tmp_path / "home") as service:
        yield service


@pytest.fixture
async def client(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    """A client of it."""
    async with asking(service) as client:
        yield client


def sent(*named: tuple[str, bytes]) -> Files:
    """Files as a form sends them."""
    return [("file", one) for one in named]


def packed(*entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> Files:
    """A ZIP archive as the one file of a form."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return sent(("data.zip", out.getvalue()))


def png(width: int = 4, height: int = 4) -> bytes:
    """A small picture."""
    out = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(out, "PNG")
    return out.getvalue()


def png_bomb() -> bytes:
    """A picture of a few hundred bytes that says it has 10,000,000,000 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
    )


def link(name: str) -> zipfile.ZipInfo:
    """The entry of a symbolic link."""
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o120777 << 16
    return info


async def test_files_and_archives_are_kept_by_content(client: httpx.AsyncClient, service: Service) -> None:
    """The same names and bytes are one upload however they come; other bytes are another."""
    first = await client.post("/api/uploads", files=sent(("q.jsonl", LINE), ("images/a.png", png())))
    assert first.status_code == 201, first.text
    again = await client.post("/api/uploads", files=packed(("images/a.png", png()), ("./q.jsonl", LINE)))
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
    named = await client.post(
        "/api/uploads", files=packed(("images/a.png", png()), ("q.jsonl", LINE)), data={"name": "zoo"}
    )
    again = await client.post("/api/uploads", files=packed(("images/a.png", png()), ("q.jsonl", LINE)))
    assert [reply.json()["name"] for reply in (named, again)] == ["zoo", "zoo"]
    assert (await client.get("/api/uploads/zoo")).json()["id"] == first.json()["id"]
    other = await client.post("/api/uploads", files=sent(("q.jsonl", LINE + LINE)), data={"name": "other"})
    assert other.json()["id"] != first.json()["id"]
    listed = (await client.get("/api/uploads")).json()
    assert [one["name"] for one in listed["uploads"]] == ["other", "zoo"]
    folder = service.home.path / "uploads" / first.json()["id"] / "files"
    assert (folder / "images" / "a.png").read_bytes() == png()
    assert sorted(path.name for path in (service.home.path / "uploads").iterdir()) == sorted(
        [first.json()["id"], other.json()["id"]]
    )


async def test_an_upload_is_looked_through_with_every_fault_by_its_line(client: httpx.AsyncClient) -> None:
    """The preview has what `dokimasia data check` finds, the first samples, and no path of the service."""
    await client.post("/api/uploads", files=sent(("q.jsonl", LINE + b"zz\n" + LINE)))
    found = (await client.get("/api/uploads/q.jsonl")).json()
    report = found["preview"]["report"]
    assert [(one["line"], one["kind"]) for one in report["problems"]] == [(2, "syntax"), (3, "duplicate-id")]
    assert report["problems"][0]["message"].startswith("q.jsonl, line 2:")
    assert [one["id"] for one in found["preview"]["samples"]] == ["a"]
    assert found["listed"][0]["name"] == "q.jsonl"
    await client.post("/api/uploads", files=sent(("a.png", png())), data={"name": "pictures"})
    request_name = (await client.get("/api/uploads/pictures?prompt=What%3F")).json()["preview"]
    assert request_name["report"]["samples"] == 1
    assert "--prompt" in (await client.get("/api/uploads/pictures")).json()["preview"]["problem"]
    assert (await client.get("/api/uploads/none")).status_code == 404
    assert (await client.get("/api/uploads/q.jsonl?file=../../about.json")).status_code == 422


@pytest.mark.parametrize(
    "name",
    ["../q.jsonl", "/etc/q.jsonl", "a/../../q.jsonl", "..\\..\\q.jsonl", "C:\\q.jsonl", "C:q", "", ".", "a\0b", "a\nb", " a",
     "a.", "x" * 201, "/".join("a" * 17), "\udcff", "a/..", "~/../.."],
)  # fmt: skip
async def test_no_name_leads_out_of_an_upload(client: httpx.AsyncClient, service: Service, name: str) -> None:
    """A name that is none, is too long or leads elsewhere is refused, in a form and in an archive, and nothing is left."""
    with pytest.raises(RequestRefused, match="Nothing of it was kept"):
        plain_name(name, Caps())
    if name.isprintable() and name:
        if "\\" not in name:  # which a form's reader takes for the path of an old browser, and leaves the last part of
            assert (await client.post("/api/uploads", files=sent((name, LINE)))).status_code == 422
        assert (await client.post("/api/uploads", files=packed((name, LINE)))).status_code == 422
    assert not any((service.home.path / "uploads").glob("*"))
    assert not (service.home.path.parent / "q.jsonl").exists()


async def test_two_files_of_one_name_are_refused(client: httpx.AsyncClient) -> None:
    """No file takes another's place, whatever the case of their names, nor a folder that of a file."""
    for names in (("a.txt", "A.txt"), ("a.txt", "./a.txt"), ("a", "a/b"), ("a/b", "a"), ("\u00e9", "e\u0301")):
        for files in (sent(*((name, LINE) for name in names)), packed(*((name, LINE) for name in names))):
            reply = await client.post("/api/uploads", files=files)
            assert reply.status_code == 422, (names, reply.text)


async def test_links_archives_locks_and_damage_in_an_archive_are_refused(client: httpx.AsyncClient) -> None:
    """An archive holds plain files and no archives; one that is damaged, or is none, is refused in a sentence."""
    inner = packed(("q.jsonl", LINE))[0][1][1]
    for files, part in (
        (packed((link("q.jsonl"), b"/etc/passwd")), "link"),
        (packed(("in.zip", inner)), "archive within"),
        (packed(("in.dat", inner)), "archive within"),
        (packed(("in.gz", b"\x1f\x8b")), "archive within"),
        (packed(("q.jsonl", LINE), method=zipfile.ZIP_BZIP2), "deflate"),
        (sent(("data.zip", inner[:-30])), "not a ZIP archive"),
        (sent(("data.zip", LINE)), "not a ZIP archive"),
        (sent(("data.zip", inner), ("q.jsonl", LINE)), "comes alone"),
        (packed(("__MACOSX/q.jsonl", LINE)), "no file"),
    ):
        reply = await client.post("/api/uploads", files=files)
        assert (reply.status_code, part in reply.json()["detail"]) == (422, True), reply.text
    damaged = bytearray(inner)
    damaged[35] ^= 0xFF
    assert (await client.post("/api/uploads", files=sent(("data.zip", bytes(damaged))))).status_code == 422


async def test_an_archive_is_cut_off_where_it_gets_too_large(
    client: httpx.AsyncClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sizes and numbers are counted while it is unpacked: a bomb is refused after a few bytes, and leaves nothing."""
    small = Caps(small=1000, ratio=10, files=5, total=70_000, file=60_000)
    monkeypatch.setattr("dokimasia.service.uploads.Uploads", lambda home: Uploads(home, small))
    zeros = packed(("q.jsonl", b"\0" * 30_000))
    for files, part in (
        (zeros, "10 times its size"),
        (packed(*((f"{number}", LINE) for number in range(6))), "5 files"),
        (packed(*((f"{number}", os.urandom(10)) for number in range(300))), "5 files"),
        (sent(*((f"{number}", LINE) for number in range(6))), "5 files"),
        (sent(("a", os.urandom(60_001))), "60,000 bytes"),
        (sent(("a", os.urandom(40_000)), ("b", os.urandom(40_000))), "70,000 bytes in all"),
        (packed(("a", os.urandom(29_000)), ("b", b"a" * 60_000)), "bytes in all"),
    ):
        reply = await client.post("/api/uploads", files=files)
        assert (reply.status_code, part in reply.json()["detail"]) == (413, True), reply.text
    assert not any((service.home.path / "uploads").glob("*"))


async def test_no_picture_passes_that_the_reader_of_images_refuses(client: httpx.AsyncClient, service: Service) -> None:
    """Bombs, disguises, damage and other formats are refused when they are uploaded, in archives, too."""
    for name, data in (
        ("a.png", png_bomb()),
        ("a.png", png()[:-20]),
        ("a.jpg", png()),
        ("a.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        ("a.gif", b""),
        ("a.dat", png_bomb()),
    ):
        for files in (sent((name, data)), packed((name, data))):
            reply = await client.post("/api/uploads", files=files)
            assert (reply.status_code, "image" in reply.json()["detail"]) == (422, True), (name, reply.text)
    assert not any((service.home.path / "uploads").glob("*"))


async def test_a_form_that_is_none_or_breaks_off_leaves_nothing(client: httpx.AsyncClient, service: Service) -> None:
    """Another media type is 415, a broken form 422, and a body beyond the limit 413; nothing of it is kept."""
    part = b'--x\r\ncontent-disposition: form-data; name="file"; filename="q.jsonl"\r\n\r\n'
    for kind, body, status in (
        ("application/json", b"{}", 415),
        ("multipart/form-data", b"", 415),
        ("multipart/form-data; boundary=x", b"", 422),
        ("multipart/form-data; boundary=x", part + LINE, 422),
        ("multipart/form-data; boundary=x", part + LINE + b"\r\n--x", 422),
        ("multipart/form-data; boundary=x", b"no form at all", 422),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\n\r\n--x--\r\n", 422),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\ncontent-disposition: form-data; name="url"\r\n\r\nhttps://e.x\r\n--x--',
            422,
        ),
        ("multipart/form-data; boundary=x", part + LINE + b"\r\n--x--\r\n", 201),
    ):
        reply = await client.post("/api/uploads", content=body, headers={"content-type": kind})
        assert reply.status_code == status, (kind, body, reply.text)
    assert len(list((service.home.path / "uploads").glob("*"))) == 1
    long = await client.post("/api/uploads", files=sent(("q.jsonl", LINE)), data={"name": "n" * 201})
    assert long.status_code == 422
    async with asking(replace(service, limits=Limits(upload=100))) as limited:
        assert (await limited.post("/api/uploads", files=sent(("a", b"a" * 200)))).status_code == 413


async def test_what_a_killed_service_left_half_is_removed(client: httpx.AsyncClient, service: Service) -> None:
    """A half upload of another process is removed with the next one; what is there stays."""
    left = service.home.path / "uploads" / ".part-1-abc"
    (left / "files").mkdir(parents=True)
    (left / "files" / "q.jsonl").write_bytes(LINE)
    assert (await client.get("/api/uploads")).json()["total"] == 0
    assert (await client.post("/api/uploads", files=sent(("q.jsonl", LINE)))).status_code == 201
    assert not left.exists()


async def test_a_preview_is_no_longer_than_its_limit(client: httpx.AsyncClient) -> None:
    """A sample that is too long to be shown is counted, and those before it are shown."""
    lines = [{"id": "a", "prompt": "2 + 2?", "reference_answer": "4"}]
    lines.append({**lines[0], "id": "b", "prompt": "x" * 2_000_001})
    data = "\n".join(map(json.dumps, lines)).encode()
    sent = (await client.post("/api/uploads", files={"file": ("long.jsonl", data)})).json()
    preview = (await client.get(f"/api/uploads/{sent['id']}")).json()["preview"]
    assert preview["report"]["samples"] == 2
    assert [sample["id"] for sample in preview["samples"]] == ["a"]


async def test_an_upload_is_deleted(client: httpx.AsyncClient, service: Service) -> None:
    """A deleted upload is gone from the disk; another time it is not there."""
    id = (await client.post("/api/uploads", files=sent(("q.jsonl", LINE)))).json()["id"]
    assert (await client.delete(f"/api/uploads/{id}")).json()["id"] == id
    assert (await client.delete(f"/api/uploads/{id}")).status_code == 404
    assert not any((service.home.path / "uploads").iterdir())


def test_a_prompt_is_named_by_its_folder_and_a_data_set_by_its_file(tmp_path: Path) -> None:
    """What an upload means in a request: its one file, its one data set, or else its folder."""
    kept = Uploads(tmp_path)
    for names, meant in (
        (["q.jsonl"], "q.jsonl"),
        (["modes.yaml"], "modes.yaml"),
        (["checkpoints.md"], ""),
        (["q.jsonl", "images/a.txt"], "q.jsonl"),
        (["a.jsonl", "b.jsonl"], ""),
    ):
        with kept.incoming() as taking:
            for name in names:
                taking.begin(name)
                taking.write(json.dumps(names).encode())
            found, new = taking.keep(name="", by="ana")
        assert (new, found.data) == (True, meant)
        folder = tmp_path / "uploads" / found.id / "files"
        assert kept.path(f"upload:{found.id}", "file") == (folder / meant if meant else folder / "")


async def test_an_empty_data_file_is_refused(client: httpx.AsyncClient) -> None:
    """The message names it, and nothing is kept."""
    reply = await client.post("/api/uploads", files=sent(("shapes.csv", b"")))
    assert reply.status_code == 422
    assert "shapes.csv is empty" in reply.json()["detail"]
    assert (await client.get("/api/uploads")).json()["total"] == 0
