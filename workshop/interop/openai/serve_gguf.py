"""llama.cpp's server over a GGUF file, until stdin ends: serve_gguf.py <file> <port> <context>."""

import sys

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.hostnames = ["127.0.0.1"]
parameters.port = int(sys.argv[2])
parameters.n_ctx = int(sys.argv[3])
# In one slot, requests are not computed in a batch, which would round differently.
parameters.n_parallel = 1
# By default, cache and attention compute in float16, which moves log-probabilities by 0.01.
parameters.cache_type_k = xllamacpp.ggml_type.GGML_TYPE_F32
parameters.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
parameters.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
parameters.use_jinja = True
parameters.warmup = False
parameters.cpuparams.n_threads = 1
server = xllamacpp.Server(parameters)
print("listening", flush=True)
sys.stdin.read()
