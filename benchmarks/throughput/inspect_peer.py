"""Inspect AI on the same data: `generate()` and a model-graded scorer, through its OpenAI-compatible provider.

Run by the Python of an environment in which Inspect AI is installed, so that it imports nothing of ours:
`python -m benchmarks.throughput.inspect_peer URL FOLDER` prints one JSON object.
"""
# pyright: reportMissingImports=false, reportUnknownMemberType=false
# (inspect_ai is installed only in the environment that runs this file)

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def measure(url: str, folder: Path, *, samples: int, concurrency: int) -> dict[str, Any]:
    """Evaluate one model with one judge, two calls a sample, the log written as usual; return what it took."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, GenerateConfig, get_model
    from inspect_ai.scorer import model_graded_qa
    from inspect_ai.solver import generate

    def model(name: str) -> Any:
        config = GenerateConfig(max_connections=concurrency, max_retries=0)
        return get_model(f"openai-api/stub/{name}", base_url=url, api_key="none", config=config)

    def sample(row: dict[str, Any]) -> Any:
        target = "It falls from the left. The third one. At the door."
        if "image" not in row:
            return Sample(input=row["prompt"], target=target, id=row["id"])
        parts = [ContentImage(image=str(folder / row["image"])), ContentText(text=row["prompt"])]
        return Sample(input=[ChatMessageUser(content=parts)], target=target, id=row["id"])

    lines = (folder / "data.jsonl").read_text().splitlines()[:samples]
    dataset = MemoryDataset([sample(json.loads(line)) for line in lines])
    task = Task(dataset=dataset, solver=generate(), scorer=model_graded_qa(model=model("judge")))
    with tempfile.TemporaryDirectory(prefix="dokimasia-benchmark-") as logs:
        started, cpu = time.perf_counter(), time.process_time()
        log = eval(task, model=model("candidate1"), log_dir=logs, display="none", max_samples=concurrency)[0]
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    if log.status != "success" or log.results is None:
        raise RuntimeError(f"Inspect AI ended with {log.status}: {log.error}")
    accuracy = log.results.scores[0].metrics["accuracy"].value
    if accuracy != 1:
        raise RuntimeError(f"the judge's grades were not understood: accuracy {accuracy}")
    return {"calls": 2 * len(dataset), "seconds": seconds, "cpu": cpu, "peak_mb": _peak_mb()}


def _peak_mb() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print what it took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.throughput.inspect_peer", description=__doc__)
    parser.add_argument("url")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--samples", type=int, default=1500)
    parser.add_argument("--concurrency", type=int, default=64)
    options = parser.parse_args(arguments)
    found = measure(options.url, options.folder, samples=options.samples, concurrency=options.concurrency)
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
