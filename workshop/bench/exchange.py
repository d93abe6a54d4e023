"""The exchange of a peer with the benchmark, one JSON line a message."""

import json
import resource
import sys
import time


def read_request():
    """The first line: {"threads", "device", "shape"}."""
    return json.loads(sys.stdin.readline())


def serve(run_round, versions):
    """Answers each further line with the seconds that a round took, and the largest memory so far in bytes."""
    answer(versions)
    for _ in sys.stdin:
        start = time.perf_counter()
        run_round()
        seconds = time.perf_counter() - start
        # In kilobytes on Linux, in bytes on macOS.
        unit = 1 if sys.platform == "darwin" else 1024
        answer({"seconds": seconds, "peakMemory": unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss})


def answer(message):
    print(json.dumps(message), flush=True)
