"""Exchanges messages between a peer and the benchmark, one JSON line per message."""

import json
import resource
import sys
import time


def read_request():
    """Reads the first line: {"threads", "device", "precision", "shape"}."""
    return json.loads(sys.stdin.readline())


def serve(run_round, versions):
    """Answers each further line with the seconds of a round and the peak memory so far in bytes."""
    answer(versions)
    for _ in sys.stdin:
        start = time.perf_counter()
        run_round()
        answer_round(start)


def serve_timed(parts, versions):
    """Answers each further line with the seconds of each part of a round and the peak memory so far in bytes."""
    answer(versions)
    for _ in sys.stdin:
        answer({"times": [seconds_of(part) for part in parts], "peakMemory": peak_memory()})


def seconds_of(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def answer_round(start):
    """Answers with what `serve` says, for a round that began at `start`."""
    seconds = time.perf_counter() - start
    answer({"seconds": seconds, "peakMemory": peak_memory()})


def peak_memory():
    # ru_maxrss is in kilobytes on Linux, and in bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def answer(message):
    print(json.dumps(message), flush=True)
