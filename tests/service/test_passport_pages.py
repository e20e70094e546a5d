"""The passports' pages: judges of probes in short and whole, as a file, and files that are shown or refused."""

import json
from html import unescape
from pathlib import Path

from starlette.testclient import TestClient

from dokimasia.domain.passport import Passport
from dokimasia.service.app import create_app
from tests.cli.served import served
from tests.processes import run_program
from tests.runs.kinds import JUDGE
from tests.service.conftest import service_over
from tests.service.waiting import Waits


def test_a_passport_is_shown_downloaded_and_checked(waiting: Waits) -> None:
    """The page's file is the command's passport; changed by one figure it is refused with the command's sentence."""
    with service_over(waiting.home) as service:
        app = create_app(service)
        with TestClient(app, base_url="http://localhost", headers={"accept": "text/html"}) as page:
            assert JUDGE in page.get("/passports").text
            card = page.get("/passports/card", params={"name": JUDGE})
            assert "single-axes" in card.text
            assert "<html" not in card.text
            assert "detected" in page.get("/passports/judge", params={"name": JUDGE}).text
            assert page.get("/passports/judge", params={"name": "nobody"}).status_code == 404
            assert "no finished probe" in page.get("/passports/card", params={"name": "nobody"}).text
            data = page.get("/passports/judge.json", params={"name": JUDGE}).content
            made = Passport.model_validate_json(data)
            assert made.sha256 == made.content_hash
            checked = page.post("/passports", files={"file": ("mine.json", data)})
            assert "unchanged" in checked.text
            body = json.loads(data)
            body["seed"] = 7
            changed = page.post("/passports", files={"file": ("../../mine.json", json.dumps(body).encode())})
            assert changed.status_code == 422
            assert "mine.json: it was changed after it was made" in unescape(changed.text)
            assert "../" not in changed.text
            assert page.post("/passports", files={"file": ("x.json", b"{")}).status_code == 422


def test_the_command_prints_the_same_through_a_service(waiting: Waits, tmp_path: Path) -> None:
    """`dokimasia passport` with a service prints and writes the passport that it makes of the home itself."""
    home = waiting.home
    here = run_program(["passport", JUDGE, "--json", "--home", home], tmp_path)
    with served(home) as service:
        there = service.run("passport", JUDGE, "--json", "-o", "mine.json", folder=tmp_path)
        assert (there.returncode, there.stdout) == (0, here.stdout), there.stderr
    shown = run_program(["passport", "mine.json", "--json"], tmp_path)
    assert shown.stdout == here.stdout
