/** `toolenv score`: recorded episodes under other rewards. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../run-cli.ts';

const arithmetic = '@toolenv/envs-classic/arithmetic-v1';
let folder: string;
let run: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-score-'));
  run = join(folder, 'oracle');
  const flags = ['--policy', 'oracle', '--count', '20', '--max-steps', '3', '--seed', '5', '--out', run];
  expect(await runCli('eval', arithmetic, ...flags)).toMatchObject({ code: 0 });
});
afterAll(() => rm(folder, { recursive: true }));

async function module(name: string, text: string): Promise<string> {
  const file = join(folder, `${name}.mjs`);
  await writeFile(file, text);
  return file;
}

const long = `export default {
  long: { kind: 'outcome', weight: 0.1, range: [0, 1000], score: ({ answer }) => answer.length },
};`;

test('adds rewards to those of the environment, with the options of the run, and reports the differences', async () => {
  const out = join(folder, 'long.jsonl');
  const { code, stdout } = await runCli('score', run, '--rewards', await module('long', long), '--out', out);
  expect(code).toBe(0);
  expect(stdout).toContain('20 episodes, scored again by');
  expect(stdout).toMatch(/correct +1\.000 +1\.000 +0\.000 \(0\.000 to 0\.000\)/);
  expect(stdout).toMatch(/reward +1\.000 +\d\.\d{3} +\+\d\.\d{3} \(\d/);
  expect(stdout).toContain('20 of 20 episodes have another reward');
  const lines = (await readFile(out, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const { steps, rewards, reward } of lines) {
    expect(rewards.long).toBe(steps.at(-1).action.text.length);
    expect(reward).toBeCloseTo(1 + rewards.long / 10, 9);
  }
  // Supervised learning, the page of a run and the check read the file as that of a run.
  expect(await runCli('check', out)).toMatchObject({ code: 0 });
  const again = await runCli('score', out, '--rewards', await module('long', long), '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ episodes: 20, changed: 0, aborted: 0 });
});

test('a function replaces all rewards, and unchanged rewards give the same file', async () => {
  const half = await module(
    'half',
    'export default ({ correct }) => ({ correct: { ...correct, weight: 0.5 } });',
  );
  const { stdout } = await runCli('score', run, '--rewards', half, '--json');
  const summary = JSON.parse(stdout);
  expect(summary).toMatchObject({
    changed: 20,
    reward: { before: 1, after: 0.5, difference: { mean: -0.5 } },
  });
  expect(summary.components.format).toEqual({ before: 1, after: null, difference: null });
  const [same, out] = [
    await module('same', 'export default (rewards) => rewards;'),
    join(folder, 'same.jsonl'),
  ];
  await runCli('score', run, '--rewards', same, '--out', out);
  expect(await readFile(out, 'utf8')).toBe(await readFile(join(run, 'trajectories.jsonl'), 'utf8'));
});

test('leaves no half of a file behind', async () => {
  const [first, ...others] = (await readFile(join(run, 'trajectories.jsonl'), 'utf8')).trimEnd().split('\n');
  const changed = join(folder, 'changed.jsonl');
  const last = others.at(-1)!.replace('"terminated","reason":"answered"', '"terminated","reason":"tired"');
  await writeFile(changed, `${[first, last].join('\n')}\n`);
  const out = join(folder, 'half.jsonl');
  const rewards = ['--rewards', await module('long', long)];
  const { code, stderr } = await runCli('score', changed, ...rewards, '--out', out);
  expect(code).toBe(2);
  expect(stderr).toContain('/reason: recorded "tired", now "answered"');
  expect(existsSync(out)).toBe(false);
});

describe('is refused', () => {
  test.each<[string, () => Promise<string[]>, RegExp]>([
    ['without rewards', async () => [run], /Required option '--rewards <file>' not specified/],
    [
      'for a missing module',
      async () => [run, '--rewards', 'no.mjs'],
      /--rewards no\.mjs: there is no such file/,
    ],
    [
      'for a module of something else',
      async () => [run, '--rewards', await module('number', 'export default 3;')],
      /its default export must be the rewards by name/,
    ],
    [
      'for a reward that cannot be',
      async () => [run, '--rewards', await module('odd', "export default { a: { kind: 'sometimes' } };")],
      /arithmetic-v1 breaks ENV-4/,
    ],
    [
      'for a file that exists',
      async () => [run, '--rewards', await module('long', long), '--out', join(run, 'trajectories.jsonl')],
      /trajectories\.jsonl exists: give another file/,
    ],
    [
      'for another environment',
      async () => [run, '--rewards', await module('long', long), '--env', '@toolenv/envs-classic/wordle-v1'],
      /wordle-v1 has no option "maxSteps"/,
    ],
  ])('%s', async (_, argumentsOf, message) => {
    const { code, stderr } = await runCli('score', ...(await argumentsOf()));
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});
