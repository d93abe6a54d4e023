/** `--budget`, `--budget-tokens`, `--prices` and `--cache` of `toolenv eval` and `toolenv rollout`, with a model on a server of loopback. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TrajectoryStep, TurnUsage } from '@toolenv/core';
import { expect, it, onTestFinished } from 'vitest';
import { startWireServer } from '../../../openai/test/wire-server.ts';
import { fixture } from '../fixture.ts';
import { runCli } from '../run-cli.ts';

const prices = ['--input-price', '1000', '--output-price', '1000'];

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-budget-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

function play(url: string, ...flags: string[]) {
  const policy = ['--policy', `openai:${url}#tiny`, '--tool-calls', 'text', '--max-tokens', '4'];
  return runCli('eval', fixture.env, ...policy, '--count', '12', '--concurrency', '2', ...flags);
}

it.each([
  ['--budget', '0.5', '$0.5000'],
  ['--budget-tokens', '500', '500 tokens'],
])('%s %s ends before the next call, and says what is left', async (flag, value, budget) => {
  const out = await scratch();
  await using server = await startWireServer({ delay: 5 });
  const { code, stderr } = await play(server.url, ...prices, flag, value, '--out', join(out, 'run'));
  const line = stderr.split('\n').find((each) => each.startsWith('toolenv:'))!;
  const [, finished, left] = /(\d+) of 12 episodes are finished: .* plays the other (\d+)\.$/.exec(line)!;
  expect(line).toContain(`The budget of ${budget} is spent. `);
  expect(code).toBe(1);
  const episodes = (await readFile(join(out, 'run/trajectories.jsonl'), 'utf8')).trim().split('\n');
  expect(episodes).toHaveLength(Number(finished));
  expect(Number(finished) + Number(left)).toBe(12);
  // What a call costs; two are in flight.
  const costs = server.replies.flatMap(({ usage }) =>
    usage ? [usage.prompt_tokens + usage.completion_tokens] : [],
  );
  const spent = costs.reduce((sum, each) => sum + each, 0);
  expect(spent).toBeGreaterThanOrEqual(500);
  expect(spent).toBeLessThan(500 + 2 * Math.max(...costs));

  const resumed = await play(server.url, ...prices, '--out', join(out, 'run'), '--resume', '--json');
  expect(resumed.code).toBe(0);
  expect(JSON.parse(resumed.stdout).episodes).toBe(12);
});

it('a local policy is counted by its tokens, and has no price', async () => {
  const local = ['eval', fixture.env, '--policy', fixture.policy, '--count', '12', '--concurrency', '1'];
  const { stderr, code } = await runCli(...local, '--budget-tokens', '50');
  expect(stderr).toMatch(
    /The budget of 50 tokens is spent\. \d+ of 12 episodes are finished: raise the budget; with --out/,
  );
  expect(code).toBe(1);
  const player = await runCli(
    'eval',
    fixture.env,
    '--policy',
    'fixture-plugin/idle-v1',
    '--budget-tokens',
    '50',
  );
  expect(player.stderr).toMatch(/does not say how many tokens a reply has, so no budget can be kept\. 0 of/);
  const dollars = await runCli(...local, '--budget', '1');
  expect(dollars.stderr).toContain('it computes here and costs nothing');
  expect(dollars.code).toBe(2);
});

it('a server that counts no tokens is left after its first reply', async () => {
  const message = { role: 'assistant', content: 'Hi' };
  const body = { choices: [{ message, finish_reason: 'stop' }] };
  await using server = await startWireServer({ intercept: () => ({ status: 200, body }) });
  const { stderr, code } = await play(server.url, ...prices, '--budget', '1');
  expect(stderr).toMatch(
    /does not say how many tokens a reply has, so no budget can be kept\. 0 of 12 episodes/,
  );
  expect(code).toBe(1);
});

it('a worker that spent its budget leaves the rest to others', async () => {
  const out = join(await scratch(), 'shared');
  const worker = (...flags: string[]) =>
    runCli(
      'rollout',
      fixture.env,
      '--policy',
      fixture.policy,
      '--split',
      'test',
      '--count',
      '12',
      '--out',
      out,
      ...flags,
    );
  const first = await worker('--budget-tokens', '50', '--concurrency', '1');
  const groups = Number(
    /The budget of 50 tokens is spent\. This worker has played (\d+) groups?: /.exec(first.stderr)![1],
  );
  expect(groups).toBeGreaterThan(0);
  expect(first.code).toBe(1);
  const second = JSON.parse((await worker('--json')).stdout);
  expect(second).toMatchObject({ episodes: 12, aborted: 0, worker: { groups: 12 - groups } });
});

it('dollars need a price of the model, in the file of --prices or in flags', async () => {
  const file = join(await scratch(), 'prices.json');
  await using server = await startWireServer();
  const { stderr, code } = await play(server.url, '--budget', '1');
  expect(stderr).toContain('#tiny is known: name its model in the file of --prices, give --input-price and');
  expect(code).toBe(2);
  await writeFile(file, '{"other": {"input": 1, "output": 1}}');
  const missing = await play(server.url, '--budget', '1', '--prices', file);
  expect(missing.stderr).toContain('#tiny is known: name its model in the file of --prices');
  expect(missing.code).toBe(2);
  await writeFile(file, '{"tin*": {"input": 1000, "output": 1000}}');
  const ended = await play(server.url, '--budget', '0.5', '--prices', file);
  expect(ended.stderr).toContain('The budget of $0.5000 is spent. ');
  await writeFile(file, '{"tiny": ');
  const torn = await play(server.url, '--prices', file);
  expect(torn.stderr).toMatch(/^toolenv: The prices in .* are not JSON: write it as [^\n]+\n$/);
  expect(torn.code).toBe(2);
});

it('turns have what they asked for, in the records, the table and after --resume', async () => {
  const out = join(await scratch(), 'run');
  await using server = await startWireServer();
  await play(server.url, ...prices, '--budget', '0.5', '--out', out);
  const { stdout } = await play(server.url, ...prices, '--out', out, '--resume');
  const records = (await readFile(join(out, 'trajectories.jsonl'), 'utf8')).trim().split('\n');
  const usages: TurnUsage[] = records.flatMap((line) =>
    JSON.parse(line).steps.map(({ action }: TrajectoryStep) => action.usage),
  );
  const { turnUsage, usage } = JSON.parse(await readFile(join(out, 'summary.json'), 'utf8'));
  const sum = (name: 'inputTokens' | 'outputTokens' | 'requests') =>
    usages.reduce((total, each) => total + each[name], 0);
  expect(turnUsage).toMatchObject({ inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') });
  expect(turnUsage.cost).toBeCloseTo((sum('inputTokens') + sum('outputTokens')) / 1000);
  // The episodes of both runs; `usage` is of the second run.
  expect(turnUsage.requests).toBe(sum('requests'));
  expect(turnUsage.requests).toBeGreaterThan(usage.requests);
  const mean = (total: number) => Math.round(total / 12).toLocaleString('en-US');
  expect(stdout).toMatch(
    new RegExp(`per episode +${mean(sum('inputTokens'))} tokens in \\(1 cached\\) and `),
  );
});

it('--cache makes a second evaluation free, and equal', async () => {
  const cache = await scratch();
  await using server = await startWireServer();
  const flags = [...prices, '--cache', cache, '--temperature', '1', '--samples', '2', '--json'];
  const first = JSON.parse((await play(server.url, ...flags)).stdout);
  const asked = server.requests.length;
  const second = JSON.parse((await play(server.url, ...flags, '--budget', '0.001')).stdout);
  expect(server.requests).toHaveLength(asked);
  expect(first.usage.cost).toBeGreaterThan(0.001);
  expect(second.usage).toMatchObject({ requests: 0, cost: 0 });
  expect(second.tasks).toEqual(first.tasks);
  const table = await play(server.url, '--cache', cache, '--temperature', '1');
  expect(table.stdout).toMatch(/requests +0: 0 tokens in and 0 out, \d+ replies from disk/);
});
