"""Prints the rewards and the exit code that an offline run of Weights & Biases recorded: python read_wandb.py <offline-run-…>"""
import glob
import json
import struct
import sys

from wandb.proto import wandb_internal_pb2


def records(content):
    """The records of a LevelDB log, after W&B's header of seven bytes. Blocks have 32 KiB; a record may go over several."""
    at, record = 7, b""
    while at + 7 <= len(content):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        _, length, kind = struct.unpack_from("<IHB", content, at)
        if kind == 0:
            return
        record += content[at + 7 : at + 7 + length]
        at += 7 + length
        # 1 is a whole record, 4 the last part of one.
        if kind in (1, 4):
            yield wandb_internal_pb2.Record.FromString(record)
            record = b""


with open(glob.glob(f"{sys.argv[1]}/*.wandb")[0], "rb") as file:
    content = file.read()
rewards, exit_code = [], None
for record in records(content):
    if record.HasField("exit"):
        exit_code = record.exit.exit_code
    items = {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
    if "rollout/reward" in items:
        rewards.append([items["train/global_step"], items["rollout/reward"]])
print(json.dumps({"rewards": rewards, "exit": exit_code}))
