/** Servers that start slowly, and many at once, as training starts them. */
import { connectMcp, type McpEndpoint } from '@toolenv/mcp';
import { type Expect, namesOf } from './model-view.ts';
import type { Peer } from './peers.ts';
import { shop } from './shop.ts';

/** Servers of Python that start at once. On two cores, they need longer than the question for their protocol alone may take. */
const atOnce = 20;

/** @param python Has markitdown-mcp. */
export async function checkStarts(
  peers: Record<string, Peer>,
  python: string,
  expect: Expect,
): Promise<void> {
  for (const [library, { command, args }] of Object.entries(peers)) {
    const late = { command: 'sh', args: ['-c', 'sleep 4; exec "$@"', 'sh', command, ...args] };
    // It gets `initialize` too after 3.5 s. mcp-go and rmcp accept that.
    const { tools } = await started(late, 10_500);
    expect(`${library}: a server that starts after 4 s lists its tools`, tools, shop.tools);
  }
  const server = { command: python, args: ['-m', 'markitdown_mcp'] };
  const starts = await Promise.all(Array.from({ length: atOnce }, () => started(server)));
  const last = Math.max(...starts.map(({ seconds }) => seconds)).toFixed(1);
  expect(
    `markitdown-mcp: ${atOnce} start at once, the last in ${last} s`,
    starts.map(({ tools }) => tools),
    Array.from({ length: atOnce }, () => ['convert_to_markdown']),
  );
}

/** The tools of a server, or why it cannot be used. */
async function started(
  server: McpEndpoint,
  connectTimeout?: number,
): Promise<{ tools: string[] | string; seconds: number }> {
  const begun = performance.now();
  const seconds = () => (performance.now() - begun) / 1_000;
  try {
    const connection = await connectMcp(server, { ...(connectTimeout && { connectTimeout }) });
    const result = { tools: namesOf(connection), seconds: seconds() };
    await connection.close();
    return result;
  } catch (error) {
    return { tools: String(error), seconds: seconds() };
  }
}
