"""keep-architecture.py ARCHITECTURE IN OUT: a CUDA library whose code for other architectures is zeros, so that it can be compressed.

Reads NVIDIA's fat binaries as cuobjdump shows them: a header of 16 bytes, then entries of a header with kind (2: machine code) and
architecture, and their code. A fat binary without code for the architecture stays as it is.
"""

import struct
import sys

architecture, source, target = int(sys.argv[1]), *sys.argv[2:4]
MAGIC = struct.pack("<I", 0xBA55ED50)
MACHINE_CODE = 2
data = bytearray(open(source, "rb").read())
at = data.find(MAGIC)
kept = dropped = 0
while at >= 0:
    _, version, header, size = struct.unpack_from("<IHHQ", data, at)
    end = at + 16 + size
    if version != 1 or header != 16 or end > len(data):
        at = data.find(MAGIC, at + 4)
        continue
    entries = []
    entry = at + 16
    while entry < end:
        kind, _, length, code = struct.unpack_from("<HHIQ", data, entry)
        if length == 0:
            break
        own = struct.unpack_from("<I", data, entry + 28)[0]
        entries.append((kind == MACHINE_CODE and own == architecture, entry + length, code))
        entry += length + code
    for is_wanted, start, code in entries:
        if is_wanted or not any(wanted for wanted, _, _ in entries):
            kept += code
        else:
            data[start : start + code] = bytes(code)
            dropped += code
    at = data.find(MAGIC, end)
open(target, "wb").write(data)
print(f"kept {kept / 1e6:.0f} MB of code, and dropped {dropped / 1e6:.0f} MB")
