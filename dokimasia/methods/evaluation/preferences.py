"""Pairs of a right and a wrong answer to the same sample, as data for preference training."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby, product

from dokimasia.domain.judgement import Correctness, Response, correctness_of
from dokimasia.runs.catalogue import method_of
from dokimasia.runs.figures import shown_name
from dokimasia.runs.reading.exporting import exported_rows
from dokimasia.runs.reading.preferences import AnswerOf, PreferencePair, preference_files
from dokimasia.storage.home import Home
from dokimasia.storage.lookup import find_values
from dokimasia.storage.results import results
from dokimasia.storage.runs import Run, samples_by_id


def files(home: Home, run: Run) -> Mapping[str, bytes]:
    """Return the files of `preference_files`: every right answer to a sample with every wrong one, including repeats.

    People's corrections apply. Left out are the answers of an arm (such as those without the image), undecided answers,
    and answers to samples that have only one kind.
    """
    samples = samples_by_id(home, run.id)
    rows = exported_rows(method_of(run), results(home, run.id))
    responses = find_values(home, Response, [row.response_id for row in rows])
    left_out: Counter[str] = Counter()

    def pairs() -> Iterator[PreferencePair]:
        for id, of_sample in groupby(rows, key=lambda row: row.sample_id):
            answers_by_verdict: dict[Correctness, list[AnswerOf]] = {"right": [], "wrong": []}
            for row in of_sample:
                correctness = correctness_of(row.verdict, row.failure)
                response = responses.get(row.response_id or "")
                if row.arm:
                    left_out[f"in the arm {row.arm}"] += 1
                elif correctness not in answers_by_verdict or response is None:
                    left_out["undecided" if correctness == "undecided" else "failed"] += 1
                else:
                    answers_by_verdict[correctness].append(AnswerOf(shown_name(row.model, row.arm), response.text))
            right, wrong = answers_by_verdict.values()
            if right and wrong:
                yield from (PreferencePair(samples[id], *pair) for pair in product(right, wrong))
            elif right or wrong:
                left_out["all right" if right else "all wrong"] += len(right or wrong)

    return preference_files(home, list(pairs()), left_out, "answers")
