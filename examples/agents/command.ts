/** A program in a process of its own, which finds its model in OPENAI_BASE_URL. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { command } from '@toolenv/gateway';
import { type Asked, bridgeAgent } from './bridge-agent.ts';

const program = new URL('program.mjs', import.meta.url);

export default bridgeAgent(
  'command-v1',
  program.href,
  async ({ question, search, baseURL, apiKey, signal }) => {
    await using server = await serveSearch(search);
    const run = command(process.execPath, [fileURLToPath(program), question], {
      env: { SEARCH_URL: server.url },
    });
    return (await run({ baseURL, apiKey, signal })).stdout;
  },
  // A process is 45 MB.
  { concurrent: 16 },
);

/** Answers a POST of the arguments with the text that the search found. */
async function serveSearch({ run }: Asked['search']) {
  const server = createServer(async (request, response) => {
    const { query } = (await json(request)) as { query?: unknown };
    response.end(await run(query));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}/`, [Symbol.asyncDispose]: close };
}
