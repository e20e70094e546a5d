"""One labelled hint of the development sets."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One hint on one question, and whether it gives the question's answer or a ground truth away.

    `choices` are the texts of the choices in their order (A, B, C ...), empty for an open question; `truths` are the
    ground truths g; `answer` is the final answer, a choice's letter in some questions that have choices. `form` is how
    the hint gives it away, None for a clean hint.
    """

    question: str
    choices: tuple[str, ...]
    truths: tuple[str, ...]
    answer: str
    hint: str
    form: str | None

    @property
    def leaks(self) -> bool:
        """Whether the hint must be stopped."""
        return self.form is not None
