"""Serves resources servers of the package nemo-gym: `serve.py <name> …`. Prints a line of JSON for each: its name, its URL, and the folder of its data."""

import asyncio
import importlib
import json
import logging
import sys
from pathlib import Path

import uvicorn
from nemo_gym.base_resources_server import SimpleResourcesServer
from nemo_gym.config_types import BaseServerConfig
from nemo_gym.server_utils import ServerClient
from omegaconf import OmegaConf

host = "127.0.0.1"


def made(name):
    module = importlib.import_module(f"resources_servers.{name}.app")
    folder = Path(module.__file__).parent
    [kind] = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, SimpleResourcesServer)
        and value.__module__ == module.__name__
    ]
    settings = {}
    for file in sorted((folder / "configs").glob("*.yaml")):
        servers = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
        for server in servers.values():
            settings |= (server.get("resources_servers") or {}).get(name) or {} if isinstance(server, dict) else {}
    known = kind.model_fields["config"].annotation
    settings = {key: value for key, value in settings.items() if key in known.model_fields}
    config = known(**settings | {"name": name, "host": host, "port": 1, "entrypoint": "app.py"})
    head = BaseServerConfig(host=host, port=1)
    client = ServerClient(head_server_config=head, global_config_dict=OmegaConf.create({}))
    return folder, kind(config=config, server_client=client).setup_webserver()


async def serve(name):
    folder, app = made(name)
    server = uvicorn.Server(uvicorn.Config(app, host=host, port=0, log_level="warning"))
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    print(json.dumps({"name": name, "url": f"http://{host}:{port}", "data": str(folder / "data")}), flush=True)
    await running


async def main(names):
    await asyncio.gather(*(serve(name) for name in names))


logging.disable(logging.INFO)
asyncio.run(main(sys.argv[1:]))
