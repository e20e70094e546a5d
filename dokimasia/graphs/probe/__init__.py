"""The graphs of a probe: judging gold and perturbed answers, reading justifications, and preparing some evaluators."""
