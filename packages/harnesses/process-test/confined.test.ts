/** A confined agent plays as before, and finds neither the tasks nor another server of the machine. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type EnvHandle, openEnv } from '@toolenv/core';
import { describe, expect, test } from 'vitest';
import bank from '../../../examples/bank.ts';
import { acpAgent, type Harness, runProgram, sdkAgent, withHarness } from '../src/index.ts';
import { type BankTask, bankPlayer, playTasks } from './bank-player.ts';

const here = import.meta.dirname;
const root = join(here, '../../..');
/** The programs of this folder need the SDK of MCP. */
const confine = { read: [here, join(root, 'node_modules')] };
const missing = existsSync('/usr/bin/bwrap') ? '' : 'no bubblewrap';

async function play(harness: Harness, count: number) {
  const env = (await openEnv(bank)) as EnvHandle<BankTask>;
  const tasks = await Promise.all(Array.from({ length: count }, (_, index) => env.tasks.test.get(index)));
  const played = await withHarness(env, harness, { confine });
  try {
    return await playTasks(played, bankPlayer(tasks), tasks);
  } finally {
    await played.close();
  }
}

describe.skipIf(missing !== '')(`confined agents${missing && ` (skipped: ${missing})`}`, () => {
  test.each<Harness>([
    {
      name: 'confined',
      package: 'small@1.0.0',
      confines: true,
      run(job) {
        return runProgram(this, [process.execPath, join(here, 'agent.js'), job.tools!, job.ask], job);
      },
    },
    acpAgent({
      name: 'confined-acp',
      package: 'small@1.0.0',
      program: [process.execPath, join(here, 'acp-program.js')],
    }),
  ])('$name plays to the end', async (harness) => {
    const trajectories = await play(harness, 2);
    expect(trajectories.map(({ reward }) => reward)).toEqual([1, 1]);
  });

  test('an agent that looks for the answer finds its tools and its model only', async () => {
    const other = createServer((_, response) => response.end('answers'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const looks = `
      import { readdirSync, readFileSync } from 'node:fs';
      const { OPENAI_BASE_URL, OPENAI_API_KEY } = process.env;
      const tried = async (work) => { try { return await work(); } catch (error) { return error.cause?.code ?? error.code; } };
      const post = async (url, body, headers = {}) =>
        (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })).status;
      const [tools] = process.argv.slice(1);
      const model = await post(OPENAI_BASE_URL + '/chat/completions',
        { model: 'policy', messages: [{ role: 'user', content: 'q' }] }, { authorization: 'Bearer ' + OPENAI_API_KEY });
      console.log(JSON.stringify({
        model,
        tools: (await fetch(tools)).status !== 404,
        episodes: await post(new URL('/episodes', tools), { task: 1 }),
        tasks: await tried(() => readFileSync(${JSON.stringify(join(root, 'examples/bank.ts'))}, 'utf8')),
        other: await tried(async () => (await fetch('http://127.0.0.1:${port}')).text()),
        processes: readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).length,
        folder: readdirSync('.'),
      }));
    `;
    let found: unknown;
    const curious: Harness = {
      ...{ name: 'curious', package: 'curious@1.0.0', confines: true },
      async run(job) {
        const words = [process.execPath, '--input-type=module', '-e', looks, job.tools!] as const;
        found = JSON.parse(await runProgram(this, [...words], job));
        return 'Done.';
      },
    };
    try {
      await play(curious, 1);
    } finally {
      other.close();
    }
    expect(found).toEqual({
      model: 200,
      tools: true,
      // It has no token for other episodes.
      episodes: 401,
      tasks: 'ENOENT',
      other: 'ECONNREFUSED',
      processes: 3,
      folder: [],
    });
  });
});

test('an agent that runs in this process is refused', async () => {
  const inProcess = sdkAgent({ name: 'sdk', package: 'sdk@1.0.0', agent: () => Promise.reject(new Error()) });
  const env = await openEnv(bank);
  await expect(withHarness(env, inProcess, { confine: true })).rejects.toMatchObject({
    code: 'usage.agent_confine',
    message: expect.stringMatching(/sdk@1\.0\.0 cannot be confined.*container/),
  });
  await env.close();
});
