"""What figures that are drawn alone know of their run: no model, and nothing that a home would have."""

from dokimasia.report.data import RunFacts

FACTS = RunFacts(
    run="r",
    status="done",
    command="",
    data_name="d",
    data_hash="",
    seed=0,
    accepted_by="1",
    written_by="1",
    models=(),
    prompts=(),
    graphs=None,
)
