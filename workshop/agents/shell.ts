/** Runs shell.sh, and the search that it calls. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { QuestionAgent, QuestionAgentContext } from './question-agent.ts';

export const shell: QuestionAgent = async (context, options) => {
  const { question, instructions, search, baseURL, apiKey, signal } = context;
  const { description, inputSchema: parameters } = search;
  await using server = await serveSearch(search);
  const child = spawn(fileURLToPath(new URL('shell.sh', import.meta.url)), {
    env: {
      PATH: process.env.PATH,
      OPENAI_BASE_URL: baseURL,
      OPENAI_API_KEY: apiKey,
      QUESTION: question,
      INSTRUCTIONS: instructions,
      SEARCH_URL: server.url,
      SEARCH_TOOL: JSON.stringify({ name: 'search', description, parameters }),
      MAX_TURNS: String(options.maxTurns),
      STREAM: options.stream ? '1' : '',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that curl ends with bash.
    detached: true,
  });
  const stop = () => child.pid !== undefined && process.kill(-child.pid, 'SIGTERM');
  signal.addEventListener('abort', stop);
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  try {
    const [answer, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`shell.sh ended with ${code}: ${errors || answer}`);
    return answer;
  } finally {
    signal.removeEventListener('abort', stop);
  }
};

/** Answers a POST of `{ query }` with the text that the search found. */
async function serveSearch({ run }: QuestionAgentContext['search']) {
  const server = createServer(async (request, response) => {
    try {
      response.end(await run(JSON.parse(await text(request)).query));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}/`, [Symbol.asyncDispose]: close };
}
