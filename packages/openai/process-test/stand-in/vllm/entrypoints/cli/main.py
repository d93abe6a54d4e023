"""A stand-in of vLLM for tests of its process: it answers with one token, and fails as STAND_IN says."""

import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FAILURE = os.environ.get("STAND_IN", "")
# Of the requests that come together, only one prints and ends the process.
ENDING = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(None)

    def do_POST(self):
        self.answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))

    def answer(self, body):
        if self.path.startswith("/v1") and self.headers["authorization"] != f"Bearer {os.environ['VLLM_API_KEY']}":
            return self.reply(401, {"error": "Unauthorized"})
        if self.path == "/v1/models":
            return self.reply(200, {"data": [{"id": "policy", "max_model_len": 1024, "parent": None}]})
        if self.path == "/v1/completions":
            if FAILURE == "turn" and body["max_tokens"] > 2:
                ENDING.acquire()
                print("EngineDeadError: EngineCore encountered an issue.\nFinished server process.", flush=True)
                os._exit(7)
            flat = 2.0 if body["temperature"] == 1 else 1.0
            tops = {"a": -flat, "b": -2 * flat}
            logprobs = {"token_logprobs": [-flat], "top_logprobs": [tops]}
            choice = {"token_ids": [845], "logprobs": logprobs, "finish_reason": "stop"}
            return self.reply(200, {"choices": [choice]})
        return self.reply(200, {})

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def main():
    arguments = sys.argv
    if FAILURE == "start":
        print("ValueError: No available memory for the cache blocks.", flush=True)
        sys.exit(1)
    # vLLM's engine is a process of the server's.
    engine = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    if pids := os.environ.get("STAND_IN_PIDS"):
        with open(pids, "w") as file:
            file.write(json.dumps({"pids": [os.getpid(), engine.pid], "arguments": arguments}))
    if FAILURE == "silence":
        print("still loading", flush=True)
        time.sleep(600)
    port = int(arguments[arguments.index("--port") + 1])
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
