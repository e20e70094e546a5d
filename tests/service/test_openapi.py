"""The OpenAPI description holds: whatever is asked by it is answered as it says, and never with an error of ours."""

import shutil
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from dokimasia.errors import InputError
from dokimasia.service.guard import Limits
from tests.processes import PATIENCE
from tests.report.conftest import Finished
from tests.service.conftest import asking, at_address, service_over

CASES = 3
"""Cases of each operation and of each way to draw one; `python -m benchmarks.service_fuzz` asks many more."""

HELD = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


class Nowhere:
    """A queue that takes nothing, and says so."""

    def configure(self, settings: object) -> None:
        """Take no notice of other settings."""

    def __getattr__(self, name: str) -> Any:
        async def refuse(*_: object, **__: object) -> None:
            raise InputError(f"nothing is taken here: {name}")

        return refuse


@pytest.mark.full
def test_every_reply_is_one_that_the_description_names(small: Finished, tmp_path: Path) -> None:
    """No case drawn from the description is answered by a 5xx, an undocumented status, or another shape than its schema."""
    home = Path(shutil.copytree(small.home, tmp_path / "home"))
    limits = Limits(rate=1e6, burst=1_000_000)
    seen: dict[int, int] = {}
    with service_over(home, runner=Nowhere(), limits=limits) as service, at_address(service) as url:
        for result in schemathesis.openapi.from_url(f"{url}/api/openapi.json").get_all_operations():
            operation = result.ok()
            if not operation.path.endswith("/events"):  # which has no end
                for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                    ask(operation, mode, url, seen)
    assert {200, 404, 422} <= set(seen)
    assert max(seen) < 500


def ask(operation: Any, mode: GenerationMode, url: str, seen: dict[int, int]) -> None:
    """Ask an operation a few times, count the statuses, and hold each reply to the description."""

    @given(operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=CASES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def asked(case: Any) -> None:
        response = case.call(base_url=url, timeout=PATIENCE)
        seen[response.status_code] = seen.get(response.status_code, 0) + 1
        case.validate_response(response, checks=HELD)

    with suppress(Unsatisfiable) if mode is GenerationMode.NEGATIVE else nullcontext():  # nothing of it can be wrong
        asked()


async def test_the_description_is_whole(small: Finished) -> None:
    """Every operation has a summary, a description, a tag, an answer, and every error that any route may give, as a problem."""
    with service_over(small.home) as service:
        async with asking(service) as client:
            spec = (await client.get("/api/openapi.json")).json()
    ids: list[str] = []
    for where, verbs in spec["paths"].items():
        for verb, one in verbs.items():
            ids.append(one["operationId"])
            assert all(one.get(part) for part in ("summary", "description", "tags")), (verb, where)
            assert {"200", "201"} & set(one["responses"]), (verb, where)
            for status in ("400", "401", "403", "404", "409", "413", "415", "421", "422", "429"):
                assert list(one["responses"][status]["content"]) == ["application/problem+json"], (verb, where, status)
    assert len(ids) == len(set(ids))


async def test_nothing_of_keys_is_described(small: Finished) -> None:
    """What a model's entry says of its key is whether it is set."""
    with service_over(small.home) as service:
        async with asking(service) as client:
            spec = (await client.get("/api/openapi.json")).json()
            models = (await client.get("/api/models?simulated=true")).json()["models"]
    shown = spec["components"]["schemas"]["ModelShown"]["properties"]
    assert "api_base" not in shown
    assert shown["key"]["anyOf"][0]["enum"] == ["set", "not set"]
    assert {one["key"] for one in models} == {None}
