"""merge_adapter.py <archive of SkyRL's sampler weights> <checkpoint of our learner>: puts the adapter in the learner's place."""

import json
import sys
import tarfile

from safetensors.numpy import load_file, save_file

archive, folder = sys.argv[1:]
with tarfile.open(archive) as tar:
    tar.extractall(f"{folder}/adapter", filter="data")
weights = load_file(f"{folder}/model.safetensors")
adapter = load_file(f"{folder}/adapter/adapter_model.safetensors")
config = json.load(open(f"{folder}/adapter/adapter_config.json"))
scale = config["lora_alpha"] / config["r"]
for name, a in adapter.items():
    if ".lora_A." not in name:
        continue
    b = adapter[name.replace(".lora_A.", ".lora_B.")]
    weights[name.removeprefix("base_model.model.").replace(".lora_A", "")] += scale * (b @ a)
save_file(weights, f"{folder}/model.safetensors", {"format": "pt"})
