"""The benchmark of hostile replies measures both transports over the same replies and says what does harm."""

import json

import pytest

from benchmarks.hostile.__main__ import main

pytestmark = pytest.mark.full


def test_both_transports_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    """A row a reply, with what came of it over each transport, its time and its peak memory; none does harm."""
    assert main(["--json", "--kinds", "10^30 tokens", "a redirect (307)"]) == 0
    report = json.loads(capsys.readouterr().out)
    counted, redirected = report["rows"]
    assert counted["direct_outcome"] == counted["litellm_outcome"] == "answer: hello (stop, unknown tokens in)"
    assert redirected["direct_outcome"] == redirected["litellm_outcome"] == "failed: unsupported (status 307)"
    assert {f"{way}_{what}" for way in ("direct", "litellm") for what in ("s", "peak_mb")} < set(counted)
