/**
 * `npm run interop -- mcp`: `connectMcp`, `toolenv tools` and `defineMcpEnv` use servers of other libraries. A shop on FastMCP, mcp-go
 * and rmcp speaks both revisions of MCP, over stdio and Streamable HTTP, also after a slow start. Playwright's and Chrome DevTools' servers
 * drive Chromium. Twenty of markitdown's start at once.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { playTask } from '@toolenv/core';
import { connectMcp, defineMcpEnv, type McpEndpoint } from '@toolenv/mcp';
import { script } from '../../toolenv.ts';
import { pythonWith } from '../python-environment.ts';
import { findBrowsers } from './browsers.ts';
import { checkBrowsers } from './check-browsers.ts';
import { expect, namesOf, read } from './model-view.ts';
import { goPeer, overHttp, type Peer } from './peers.ts';
import { shop, shops } from './shop.ts';

/** Servers of Python that start at once. On two cores, they need longer than the question for their protocol alone may take. */
const atOnce = 20;

/** @param python Has markitdown-mcp. */
async function checkStarts(peers: Record<string, Peer>, python: string): Promise<void> {
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

const root = join(import.meta.dirname, '../../..');

/** @param python Has the packages of mcp.txt. */
export async function checkServers(python: string): Promise<void> {
  const peers = shops(python);
  const browsers = findBrowsers();
  for (const [library, peer] of Object.entries(peers)) {
    for (const version of ['2026-07-28', '2025-11-25']) {
      await checkShop(`${library} over stdio, MCP ${version}`, peer, version);
      await overHttp(peer, (server) => checkShop(`${library} over HTTP, MCP ${version}`, server, version));
    }
    await checkShopEnv(library, peer);
    checkCommand(library, peer);
  }
  await checkHooks(goPeer('go-official'));
  await checkStarts(peers, pythonWith('markitdown'));
  await checkBrowsers(browsers);
}

async function checkShop(title: string, server: McpEndpoint, version: string): Promise<void> {
  const progress: object[] = [];
  const connection = await connectMcp(server, {
    initialize: version === '2025-11-25',
    onProgress: ({ progress: box, total, message }) => void progress.push({ progress: box, total, message }),
  });
  try {
    expect(`${title}: negotiates`, connection.protocolVersion, version);
    expect(`${title}: instructions`, connection.instructions, 'Prices are in euros.');
    expect(`${title}: lists its tools`, namesOf(connection), shop.tools);
    for (const [name, args, text] of shop.calls)
      expect(`${title}: ${name} ${JSON.stringify(args)}`, await read(connection, name, args), text);
    expect(`${title}: reports progress`, progress, shop.progress);
    expect(`${title}: lists what a call unlocked`, namesOf(connection), ['cellar', ...shop.tools]);
  } finally {
    await connection.close();
  }
}

async function checkShopEnv(library: string, server: Peer): Promise<void> {
  const task = { prompt: 'What is in the cellar?', answer: 'cider' };
  const env = defineMcpEnv({ name: 'shop-v1', server, tasks: [task] });
  const unlock = [{ name: 'unlock', arguments: {} }];
  const { steps, reward } = await playTask(env, task, [unlock, [{ name: 'cellar', arguments: {} }], 'cider']);
  const texts = steps.flatMap(({ calls }) => calls.map(({ text }) => text));
  expect(`${library}: an environment offers what a call unlocked`, texts, ['unlocked', 'cider']);
  expect(`${library}: an environment scores the answer`, reward, 1);
}

/** The official Go SDK asks its client only after `initialize`: under MCP 2026-07-28 its tools fail, and an episode goes on. */
async function checkHooks(server: Peer): Promise<void> {
  const hooks = {
    onSample: () => 'blue',
    roots: ['/tmp'],
    onElicit: () => ({ action: 'accept', content: { size: 'large' } }) as const,
  };
  const answers = async (initialize: boolean) => {
    const env = defineMcpEnv({
      name: 'asking-v1',
      server,
      hooks,
      initialize,
      tasks: [{ prompt: 'Ask.', answer: 'x' }],
    });
    const calls = ['sample', 'roots', 'elicit'].map((name) => ({ name, arguments: {} }));
    const { steps } = await playTask(env, { prompt: 'Ask.', answer: 'x' }, [calls, 'x']);
    return steps[0]!.calls.map(({ text }) => text);
  };
  expect('the official Go SDK: hooks answer after initialize', await answers(true), [
    'blue',
    '1 file:///tmp',
    'accept large',
  ]);
  const refused = (await answers(false)).filter(
    (text) => text.startsWith('Error: ') && text.includes('cannot be sent'),
  );
  expect('the official Go SDK: without it, each call is an error for the model', refused.length, 3);
}

function checkCommand(library: string, { command, args }: Peer): void {
  const words = ['tools', '--mcp', [command, ...args].join(' '), '--call', 'price'];
  const { stdout } = spawnSync(process.execPath, [...script, ...words, '--arguments', '{"item":"apple"}'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  expect(`${library}: toolenv tools calls a tool`, stdout, '1 of apple: 2 euros\n');
}
