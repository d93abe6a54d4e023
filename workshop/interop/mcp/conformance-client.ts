/**
 * The client that the conformance suite of MCP examines: connects with `connectMcp`, and calls the tools of the scenario. The suite
 * gives the URL as an argument, and some scenarios their calls in MCP_CONFORMANCE_CONTEXT.
 */
import { createRng, type JsonSchema } from '@toolenv/core';
import { connectMcp } from '@toolenv/mcp';

interface Call {
  name: string;
  arguments: Record<string, unknown>;
}

const url = process.argv.at(-1)!;
const context: { toolCalls?: Call[] } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const connection = await connectMcp({ url }, { onWarning: (message) => console.error(message) });
const { tools } = connection;
const calls =
  context.toolCalls ??
  tools.map(({ name, inputSchema }) => ({ name, arguments: example(inputSchema as JsonSchema) }));
for (const { name, arguments: args } of calls) {
  const tool = tools.find((each) => each.name === name);
  const signal = AbortSignal.timeout(20_000);
  const result = await tool
    ?.execute(args, { signal, rng: createRng(1, name), episodeId: 'conformance', callIndex: 0 })
    .catch((error: Error) => error.message);
  console.log(name, JSON.stringify(result ?? 'is not offered'));
}
await connection.close();

/** Arguments that fit a schema. A parameter named `schema` is the schema of the first tool, as a scenario asks. */
function example({ properties = {} }: JsonSchema): Record<string, unknown> {
  const values: Record<string, unknown> = { number: 2, integer: 2, string: 'text', boolean: true };
  const pairs = Object.entries(properties as Record<string, JsonSchema>).map(([name, { type }]) => [
    name,
    name === 'schema' ? tools[0]!.inputSchema : (values[String(type)] ?? null),
  ]);
  return Object.fromEntries(pairs);
}
