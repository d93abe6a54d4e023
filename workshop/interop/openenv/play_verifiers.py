"""Plays an episode with verifiers, whose model is a script behind an OpenAI-compatible server of this process.

Arguments: the folder of toolenv_openenv.py, the environment's URL, a folder for output. Reads the script from stdin as JSON: turns,
each a list of calls or a text. Prints JSON.
"""

import asyncio
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version

package, url, out = sys.argv[1:]
sys.path.insert(0, package)
os.chdir(out)
script = json.load(sys.stdin)
lines, sys.stdout = sys.stdout, sys.stderr
turns = 0


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        global turns
        self.rfile.read(int(self.headers["content-length"]))
        turn = script[turns] if turns < len(script) else ""
        turns += 1
        if not isinstance(turn, str):
            turn = json.dumps({"tool_name": turn[0]["name"], "arguments": turn[0]["arguments"]})
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": turn}}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        reply = {"id": f"reply-{turns}", "object": "chat.completion", "created": 0, "model": "script"}
        body = json.dumps({**reply, "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()

from verifiers.v1.cli.eval.runner import run_eval
from verifiers.v1.cli.resolve import narrow_config
from verifiers.v1.configs.cli.eval import EvalConfig

given = {
    "env": {
        "taskset": {"id": "toolenv_openenv", "base_url": url},
        "player": {"harness": {"id": "null"}, "runtime": {"type": "subprocess"}},
    },
    "client": {"type": "eval", "base_url": f"http://127.0.0.1:{server.server_port}/v1", "api_key_var": "NO_KEY"},
    "model": "script",
    "serve": None,
    "rich": None,
    "push": False,
    "output_dir": out,
}
config = narrow_config(EvalConfig, ["--env.taskset.id", "toolenv_openenv"]).model_validate(given)
[episode] = asyncio.run(run_eval(config))
[trace] = episode.traces
result = {
    "reward": trace.reward,
    "turns": turns,
    "errors": [error.message for error in [*episode.errors, *trace.errors]],
    "verifiers": version("verifiers"),
}
print(json.dumps(result), file=lines)
