"""The configuration file that `dokimasia init` writes: every key with an example, all of them commented out."""

TEMPLATE = """\
## Models by name. Any LiteLLM name (openai/gpt-5, anthropic/..., ollama/...) works without being listed here.
## Lines with one # are examples: take the # away to use them. Keys never stand in this file: api_key_env names the
## environment variable that holds one.

## Where runs, calls and images are kept; the folder of this file is where a relative path begins.
# home = ".dokimasia"

## Where workers (--workers) have the keys from: each from its own "environment", or "sent" by this process, enciphered
## for each worker.
# worker_keys = "environment"

## What holds for every model that does not say otherwise.
# [defaults]
## The most requests that an endpoint is sent at once, and how many a run begins with before it has seen how they go.
# max_concurrency = 64
# start_concurrency = 16
# timeout = 120.0

## A hosted model under a short name, with its prices in US dollars per million tokens.
# [models.judge]
# model = "openai/gpt-5"
# api_key_env = "OPENAI_API_KEY"
# input_price = 1.25
# output_price = 10.0
# capabilities = ["vision", "json_schema", "tools"]
## Images with a longer side of more pixels are made smaller before they are sent; without it all are sent as they are.
# max_image_side = 1568
## What tables group models by and say of them: weights are open or proprietary, parameters such as 7B or 235B-A22B.
# weights = "proprietary"

# [models.judge.sampling]
# reasoning_effort = "medium"
# max_tokens = 16000

## A server of your own on the OpenAI wire format. `endpoint` names where it runs in the ledger, so that its address
## may change without a call being paid for again; without it the address is the name.
# [models.local]
# model = "hosted_vllm/Qwen/Qwen2.5-VL-7B-Instruct"
# endpoint = "our-vllm"
# api_base = "http://127.0.0.1:8000/v1"
# transport = "auto"
# max_concurrency = 32
# start_concurrency = 32
# rpm = 600
# tpm = 200000
# timeout = 60.0
# input_price = 0.0
# output_price = 0.0
# capabilities = ["vision"]
# weights = "open"
# parameters = "7B"

# [models.local.sampling]
# temperature = 0.7
# top_p = 0.9
# max_tokens = 2048
# reasoning_effort = "low"

## Whatever else the provider takes; it becomes part of a call's identity.
# [models.local.sampling.extra]
# top_k = 40

## A person in the place of a model (human/ana works without being listed): what an hour of theirs costs in US dollars.
# [models.expert]
# model = "human/ana"
# hourly_rate = 30.0

## An image model, which edits images: marked as one, with its price in US dollars an edited image.
# [models.editor]
# model = "openai/gpt-image-1.5"
# api_key_env = "OPENAI_API_KEY"
# capabilities = ["image_edit"]
# image_price = 0.05

# [models.editor.sampling.extra]
# quality = "medium"
"""
