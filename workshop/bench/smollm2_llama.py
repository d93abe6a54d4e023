"""The peer of smollm2.ts in llama.cpp. The GGUF file has weights in 4 bits; "float16" writes them out as 16 bits first."""

import importlib.metadata
import json
import os
import random
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import exchange
import xllamacpp


def write_float16(file, out):
    import gguf
    import numpy

    reader = gguf.GGUFReader(file)
    writer = gguf.GGUFWriter(f"{out}.unfinished", reader.fields["general.architecture"].contents())
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type"):
            continue
        kinds = field.types
        writer.add_key_value(name, field.contents(), kinds[0], kinds[-1] if len(kinds) > 1 else None)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        writer.add_tensor(tensor.name, values if values.ndim == 1 else values.astype(numpy.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    os.replace(f"{out}.unfinished", out)


request = exchange.read_request()
task, settings = request["task"], request["settings"]
conversations, prompt, new_tokens = task["conversations"], task["prompt"], task["newTokens"]
file = settings["gguf"]
if settings["type"] == "float16":
    if not os.path.exists(settings["out"]):
        write_float16(file, settings["out"])
    file = settings["out"]
parameters = xllamacpp.CommonParams()
parameters.model.path = file
parameters.hostnames = ["127.0.0.1"]
parameters.port = 0
parameters.n_parallel = conversations
parameters.n_ctx = conversations * (prompt + new_tokens + 32)
parameters.cpuparams.n_threads = request["threads"]
parameters.cpuparams_batch.n_threads = request["threads"]
parameters.verbosity = -1
server = xllamacpp.Server(parameters)
pool = ThreadPoolExecutor(conversations)


def complete(count):
    body = {
        "prompt": [random.randrange(17, 49152) for _ in range(prompt)],
        "n_predict": count,
        "temperature": 1.0,
        "top_k": 0,
        "top_p": 1.0,
        "min_p": 0.0,
        "ignore_eos": True,
        "cache_prompt": False,
    }
    asked = urllib.request.Request(
        f"{server.listening_address}/completion", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(asked) as response:
        assert json.load(response)["tokens_predicted"] == count


def sample(count):
    list(pool.map(complete, [count] * conversations))


parts = [lambda: sample(1), lambda: sample(1 + new_tokens)]
for part in parts:
    part()
exchange.serve_timed(parts, {"xllamacpp": importlib.metadata.version("xllamacpp")})
