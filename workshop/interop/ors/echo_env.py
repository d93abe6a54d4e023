"""Serves an environment with a server of Python.

Arguments: the package, ors or openreward, and the port.
"""

import asyncio
import sys

from pydantic import BaseModel, Field

package, port = sys.argv[1], int(sys.argv[2])
if package == "ors":
    from ors import Environment, ImageBlock, Server, Split, TextBlock, ToolOutput, tool
else:
    from openreward.environments import Environment, ImageBlock, Server, Split, TextBlock, ToolOutput, tool


class Text(BaseModel):
    text: str


class Size(BaseModel):
    n: int = Field(ge=0, le=40_000)
    delay: float = Field(0, ge=0, le=0.01)


class Echo(Environment):
    def __init__(self, task_spec={}, secrets={}):
        super().__init__(task_spec=task_spec, secrets=secrets)
        self.given = dict(secrets)

    async def setup(self):
        if self.task_spec["id"] == 3:
            raise RuntimeError("no disk")

    @classmethod
    def list_splits(cls):
        return [Split(name="train", type="train"), Split(name="flawless", type="test"), "hard"]

    @classmethod
    def list_tasks(cls, split):
        return [{"id": i} for i in range(3 if split == "flawless" else 100)]

    def get_prompt(self):
        return [TextBlock(text=f"Say {self.task_spec['id']}.")]

    @tool
    def submit(self, params: Text) -> ToolOutput:
        """Gives the answer."""
        right = float(params.text == str(self.task_spec["id"]))
        return ToolOutput(blocks=[TextBlock(text="Thank you.")], reward=right, finished=True)

    @tool
    async def big(self, params: Size) -> ToolOutput:
        """Says much."""
        await asyncio.sleep(params.delay)
        text = " ".join(f"é{i}" for i in range(params.n))
        return ToolOutput(blocks=[TextBlock(text=text)], metadata={"n": params.n})

    @tool
    def boom(self) -> ToolOutput:
        """Fails."""
        raise ValueError("boom")

    @tool
    def nan(self) -> ToolOutput:
        """Rewards with NaN."""
        return ToolOutput(blocks=[TextBlock(text="x")], reward=float("nan"))

    @tool
    def image(self) -> ToolOutput:
        """Shows an image."""
        return ToolOutput(blocks=[ImageBlock(data="iVBORw==", mimeType="image/png")], reward=0.5)

    @tool
    def secret(self) -> ToolOutput:
        """Names the secrets."""
        return ToolOutput(blocks=[TextBlock(text=",".join(f"{name}:{len(value)}" for name, value in self.given.items()))])


Server([Echo]).run(host="127.0.0.1", port=port)
