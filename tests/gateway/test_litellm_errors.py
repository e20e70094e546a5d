"""Errors of LiteLLM behind which stands no response."""

import pytest

from dokimasia.gateway.litellm.errors import classify


@pytest.mark.parametrize("text", ["Missing credentials. Please pass an `api_key`", "Missing Gemini API key. Set it."])
def test_missing_key_is_an_authentication_failure(text: str) -> None:
    """A provider that LiteLLM cannot call for want of a key fails as `auth`, and trying again cannot help."""
    failure = classify(RuntimeError(text), api_key=None)
    assert (failure.kind, failure.retryable) == ("auth", False)


def test_unheard_of_error_may_be_tried_again_and_names_its_class() -> None:
    """An exception of no known class is `unknown`, may be retried within bounds, and is named where it says nothing."""
    failure = classify(ArithmeticError(), api_key=None)
    assert (failure.kind, failure.retryable, failure.status, str(failure)) == ("unknown", True, None, "ArithmeticError")
