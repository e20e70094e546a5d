"""Values that were renamed: stored plans are read by their former names, and hashed by them."""

import pytest

from dokimasia.domain.options import Protocol
from dokimasia.methods.evaluation import EvaluationRequest
from dokimasia.runs.plans import RunPlan, identity

pytestmark = pytest.mark.quick


class ProtocolPlan(RunPlan):
    """A plan with a protocol."""

    protocol: Protocol = "default"


def test_a_protocol_is_read_by_its_former_name_and_hashed_by_it() -> None:
    """The default protocol was called `ours`: old plans and requests are read, and runs keep their ids."""
    plan = ProtocolPlan(prompts={})
    assert ProtocolPlan.model_validate({"prompts": {}, "protocol": "ours"}) == plan
    assert identity(plan)["protocol"] == "ours"
    assert identity(ProtocolPlan(prompts={}, protocol="published"))["protocol"] == "published"
    request = EvaluationRequest.model_validate({"data": "data.jsonl", "models": ["a"], "protocol": "ours"})
    assert request.protocol == "default"
    with pytest.raises(ValueError, match="'default' or 'published'"):
        ProtocolPlan.model_validate({"prompts": {}, "protocol": "theirs"})
