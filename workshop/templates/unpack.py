"""Unpacks the chat templates of llama-cpp-python's source package and TRL's wheel: unpack.py <folder with both> <folder to write>."""

import sys
import tarfile
import zipfile
from pathlib import Path

source, target = map(Path, sys.argv[1:])


def write(kind, member, data):
    file = target / kind / Path(member).name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


[archive] = source.glob("llama_cpp_python-*.tar.gz")
with tarfile.open(archive) as tar:
    for member in tar:
        if "/models/templates/" in member.name and member.name.endswith(".jinja"):
            write("llama.cpp", member.name, tar.extractfile(member).read())
[wheel] = source.glob("trl-*.whl")
with zipfile.ZipFile(wheel) as zipped:
    for name in zipped.namelist():
        if "/chat_templates/" in name and name.endswith(".jinja"):
            write("trl", name, zipped.read(name))
