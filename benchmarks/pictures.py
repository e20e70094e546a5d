"""Pictures of the service's pages over a home, wide and narrow, light and dark: `python -m benchmarks.pictures HOME OUT`."""

import argparse
import asyncio
import io
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.async_api import Browser, async_playwright

from dokimasia.service.app import serve
from dokimasia.service.engine import RunEngine
from dokimasia.service.run_events import Events
from dokimasia.service.state import Service
from dokimasia.settings import load_settings
from dokimasia.storage.home import Home
from dokimasia.storage.runs import Run, list_runs, run_samples
from dokimasia.storage.trees.versions import list_trees

SIZES = ((1280, 800), (400, 800))
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
TALLEST = 3_000
"""Pixels of a whole page that are kept."""

FRONT = (1280, 1060)
SHARP = 2
"""Pixels of the front picture for each of the page's."""

FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def pages_of(home: Home) -> dict[str, str]:
    """Return the pages that a home has something for, by the names of their pictures."""
    runs = list_runs(home)
    found = {"start": "/", "new": "/new", "new-evaluate": "/new/evaluate", "settings": "/settings", "login": "/login"}
    latest: dict[str, Run] = {}
    for run in runs:
        latest.setdefault(run.method, run)
    found |= {f"results-{method}": f"/runs/{run.id}?wait=true" for method, run in latest.items()}
    if evaluated := latest.get("evaluate"):
        found["samples"] = f"/runs/{evaluated.id}/samples"
        found["sample"] = f"/runs/{evaluated.id}/samples/{run_samples(home, evaluated.id)[0].sample_id}"
        found["compare-models"] = f"/compare?runs={evaluated.id},{evaluated.id}"
        found["new-like"] = f"/new/evaluate?from={evaluated.id}"
    if trees := list_trees(home):
        found |= {"trees": "/trees", "tree": f"/trees/{trees[0].name}"}
    return {**found, "compare": "/compare", "review": "/review", "passports": "/passports", "nothing": "/?q=nothing"}


async def take(url: str, pages: Mapping[str, str], out: Path, *, front: str = "") -> None:
    """Take a picture of each page at both sizes in both schemes; of `front` also the two for the README."""
    found = next((path for name in CHROMIUM if (path := shutil.which(name))), None)
    if found is None:
        raise SystemExit("no Chromium on this machine; Debian's package chromium has it")
    out.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240
    async with async_playwright() as started:
        chromium = await started.chromium.launch(executable_path=found, args=list(FLAGS))
        for scheme in SCHEMES:
            for size in SIZES if pages else ():
                for name, path in pages.items():
                    shot = await _shot(chromium, f"{url}{path}", size, scheme)
                    (out / f"{name}-{size[0]}-{scheme}.png").write_bytes(shot)
            if front:
                shot = await _shot(chromium, f"{url}{front}", FRONT, scheme, whole=False, sharp=SHARP)
                (out / f"results-{scheme}.png").write_bytes(_smaller(shot))
        await chromium.close()


async def _shot(
    chromium: Browser,
    url: str,
    size: tuple[int, int],
    scheme: Literal["light", "dark"],
    *,
    whole: bool = True,
    sharp: float = 1,
) -> bytes:
    page = await chromium.new_page(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,
        reduced_motion="reduce",
        device_scale_factor=sharp,
    )
    page.on("console", lambda said: print(f"{url}: {said.text}", file=sys.stderr) if said.type == "error" else None)
    try:
        await page.goto(url, timeout=120_000)
        await page.wait_for_load_state("networkidle")
        height: int = await page.evaluate("document.documentElement.scrollHeight")
        if not whole or height <= size[1]:
            return await page.screenshot()
        await page.set_viewport_size({"width": size[0], "height": min(height, TALLEST)})
        return await page.screenshot()
    finally:
        await page.close()


def _smaller(shot: bytes) -> bytes:
    """Return a picture with as many colours as a page has."""
    out = io.BytesIO()
    with Image.open(io.BytesIO(shot)) as opened:
        opened.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


async def main() -> None:
    """Serve the home and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--page", action="append", default=[], metavar="NAME=PATH", help="only these pages")
    parser.add_argument("--front", action="store_true", help="only the two pictures for the README")
    asked = parser.parse_args()
    settings = load_settings(home=asked.home, env={})
    url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    with Home.open(settings.home, write=True, create=False) as home:
        pages = dict(one.split("=", 1) for one in asked.page) or ({} if asked.front else pages_of(home))
        evaluated = next((run.id for run in list_runs(home) if run.method == "evaluate"), "")
        front = f"/runs/{evaluated}?wait=true" if asked.front and evaluated else ""
        events = Events(home)
        async with RunEngine(settings, home, observers=events.observer_of) as engine:
            service = Service(settings=settings, home=home, runner=engine, events=events)
            serving = asyncio.create_task(serve(service, ready=url.set_result, stop=stop))
            try:
                await take(await url, pages, asked.out, front=front)
            finally:
                stop.set()
                await serving


if __name__ == "__main__":
    asyncio.run(main())
