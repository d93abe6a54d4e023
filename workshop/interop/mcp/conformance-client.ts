/**
 * The client that the conformance suite of MCP examines: connects with `connectMcp`, and calls the tools of the scenario. The suite
 * gives the URL as an argument, and some scenarios their calls or a registered client in MCP_CONFORMANCE_CONTEXT.
 */
import { createRng, type JsonSchema, type Tool } from '@toolenv/core';
import { connectMcp } from '@toolenv/mcp';
import { ConformanceUser, type Registered } from './conformance-user.ts';

interface Call {
  name: string;
  arguments: Record<string, unknown>;
}

/** Times that the user agrees, so that a server that asks forever is left. */
const maxAgreements = 2;

const url = process.argv.at(-1)!;
const context: Registered & { toolCalls?: Call[] } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const user = new ConformanceUser(context);

const connection = await withUser(() =>
  connectMcp({ url, authProvider: user }, { onWarning: (message) => console.error(message) }),
);
const { tools } = connection;
const calls: Call[] =
  context.toolCalls ?? tools.map(({ name, inputSchema }) => ({ name, arguments: example(inputSchema) }));
for (const { name, arguments: args } of calls) {
  const tool = tools.find((each) => each.name === name);
  const result = await withUser(async () => tool && call(tool, args)).catch((error: Error) => error.message);
  console.log(name, JSON.stringify(result ?? 'is not offered'));
}
await connection.close();

function call(tool: Tool, args: Record<string, unknown>) {
  const signal = AbortSignal.timeout(20_000);
  const rng = createRng(1, tool.name);
  return tool.execute(args, { signal, rng, episodeId: 'conformance', callIndex: 0 });
}

/** Works again each time that the user has agreed to what failed. */
async function withUser<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let agreements = 0; ; agreements++) {
    try {
      return await work();
    } catch (error) {
      if (agreements === maxAgreements || !(await user.finish(url))) throw error;
    }
  }
}

/** Arguments that fit a schema. A parameter named `schema` is the schema of the first tool, as a scenario asks. */
function example(schema: Tool['inputSchema']): Record<string, unknown> {
  const { properties = {} } = schema as JsonSchema;
  const values: Record<string, unknown> = { number: 2, integer: 2, string: 'text', boolean: true };
  const pairs = Object.entries(properties as Record<string, JsonSchema>).map(([name, { type }]) => [
    name,
    name === 'schema' ? tools[0]!.inputSchema : (values[String(type)] ?? null),
  ]);
  return Object.fromEntries(pairs);
}
