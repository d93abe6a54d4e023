/** Evaluations that are run again without a request: `--cache`, and `--record` with `--replay`, of models on a server of loopback. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startWireServer } from '../../../openai/test/wire-server.ts';
import { fixture } from '../fixture.ts';
import { runCli } from '../run-cli.ts';

const served = join(import.meta.dirname, '../authored/served.ts');
const policies = {
  openai: (url: string) => ['--policy', `openai:${url}#tiny`, '--tool-calls', 'text'],
  'AI SDK': (url: string) => ['--policy', served, '--url', url],
};

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-again-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

function play(policy: readonly string[], ...flags: string[]) {
  const plan = ['--count', '6', '--temperature', '1', '--max-tokens', '8', '--concurrency', '3'];
  return runCli('eval', fixture.env, ...policy, ...plan, ...flags);
}

/** The episodes of a folder, without their times and without what their turns asked for. */
async function episodesOf(folder: string): Promise<string[]> {
  const lines = (await readFile(join(folder, 'trajectories.jsonl'), 'utf8')).trimEnd().split('\n');
  return lines.map((line) => line.replaceAll(/"milliseconds":[\d.e-]+|"usage":\{[^}]*\}/g, '')).sort();
}

it.each(Object.entries(policies))(
  '%s: a second evaluation with --cache asks for nothing, and its episodes are equal',
  async (_, policyAt) => {
    const folder = await scratch();
    await using server = await startWireServer();
    const cache = ['--cache', join(folder, 'cache')];
    await play(policyAt(server.url), ...cache, '--out', join(folder, 'first'));
    const asked = server.requests.length;
    expect(asked).toBeGreaterThanOrEqual(6);
    const { code } = await play(policyAt(server.url), ...cache, '--out', join(folder, 'second'));
    expect(code).toBe(0);
    expect(server.requests).toHaveLength(asked);
    expect(await episodesOf(join(folder, 'second'))).toEqual(await episodesOf(join(folder, 'first')));
    const { turnUsage } = JSON.parse(await readFile(join(folder, 'second/summary.json'), 'utf8'));
    expect(turnUsage).toMatchObject({ requests: 0, inputTokens: 0, outputTokens: 0, cost: 0 });
    expect(turnUsage.cachedReplies).toBeGreaterThanOrEqual(6);
    for (const name of await readdir(join(folder, 'cache'), { recursive: true }))
      expect(name).toMatch(/^[0-9a-f]{2}(\/[0-9a-f]{64}\.json)?$/);
  },
);

it.each(Object.entries(policies))(
  '%s: --replay plays what --record has, and the server is asked for nothing',
  async (_, policyAt) => {
    const folder = await scratch();
    const file = join(folder, 'calls.jsonl');
    await using server = await startWireServer();
    const policy = policyAt(server.url);
    await play(policy, '--record', file, '--out', join(folder, 'first'));
    const asked = server.requests.length;
    const budget = ['--budget', '0.01'];
    const again = await play(policy, '--replay', file, '--out', join(folder, 'second'), ...budget);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/\d+ replies from disk/) });
    expect(await episodesOf(join(folder, 'second'))).toEqual(await episodesOf(join(folder, 'first')));
    expect(server.requests).toHaveLength(asked);
  },
);

it('a replay that would ask for something else says what differs, and asks for nothing', async () => {
  const folder = await scratch();
  const file = join(folder, 'calls.jsonl');
  await using server = await startWireServer();
  const policy = policies['AI SDK'](server.url);
  await play(policy, '--record', file);
  const asked = server.requests.length;
  const replay = (...flags: string[]) => play(policy, '--replay', file, ...flags);
  const [seed, tokens, model] = [
    await replay('--seed', '2'),
    await replay('--max-tokens', '9'),
    await replay('--model', 'other'),
  ];
  expect(seed).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('recorded nothing, now an answer to'),
  });
  expect(tokens.stderr).toMatch(/another request:\n {2}\/sampling\/maxTokens: recorded 8, now 9/);
  expect(model.code).toBe(2);
  expect(model.stderr).toMatch(/with another policy\. .* \/options\/model: recorded "tiny", now "other"\n$/);
  expect(server.requests).toHaveLength(asked);
});

it('recordings that are pipes, torn or without turns are refused, and nothing is played', async () => {
  const folder = await scratch();
  await using server = await startWireServer();
  const policy = policies['AI SDK'](server.url);
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const piped = await play(policy, '--replay', pipe);
  expect(piped).toMatchObject({ code: 2, stderr: expect.stringContaining('is not a regular file: record') });
  const file = join(folder, 'calls.jsonl');
  await play(policy, '--record', file);
  const asked = server.requests.length;
  const whole = await readFile(file, 'utf8');
  await writeFile(file, whole.slice(0, -9));
  expect(await play(policy, '--replay', file)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('not a complete JSON record'),
  });
  const { policy: _, ...header } = JSON.parse(whole.split('\n')[0]!);
  await writeFile(file, JSON.stringify(header));
  expect(await play(policy, '--replay', file)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('has no turns of wire.chat/tiny'),
  });
  expect(server.requests).toHaveLength(asked);
});
