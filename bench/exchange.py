"""The exchange of a peer with the benchmark, one JSON line a message."""

import json
import sys
import time


def read_request():
    """The first line: {"threads", "shape"}."""
    return json.loads(sys.stdin.readline())


def serve(run_round, versions):
    """Answers each further line with the seconds that a round took."""
    answer(versions)
    for _ in sys.stdin:
        start = time.perf_counter()
        run_round()
        answer({"seconds": time.perf_counter() - start})


def answer(message):
    print(json.dumps(message), flush=True)
