/** The matchers and the reporter on each version of Vitest that they support, and beside vitest-evals. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt } from './attempt.ts';
import type { Sandbox } from './sandbox.ts';

/** vitest-evals needs Vitest 4. */
const versions = [
  { vitest: '3.2.7', others: [] },
  { vitest: '4.1.12', others: ['vitest-evals@0.16.1', 'tinyrainbow@3.1.0'] },
];

const agent = `import { defineToolEnv, openEnv, scriptedPolicy } from '@toolenv/core';
import { evaluate, readEvaluation } from '@toolenv/testing/vitest';
import { expect, test } from 'vitest';

const sums = defineToolEnv({
  name: 'sums-v1',
  description: 'Add 3 to a number.',
  limits: { maxTurns: 1 },
  tasks: { test: Array.from({ length: 16 }, (_, a) => ({ a })) },
  rewards: { em: { kind: 'outcome' } },
  episode: ({ task: { a } }) => ({
    messages: \`What is \${a} + 3?\`,
    onAnswer: (text) => ({ rewards: { em: Number(text === String(a + 3)) }, end: 'answered' }),
  }),
  oracle: ({ a }) => [String(a + 3)],
});
const adds = (known: number) =>
  scriptedPolicy(({ messages }) => {
    const a = Number(/\\d+/.exec(messages.at(-1)!.content)![0]);
    return a < known ? String(a + 3) : 'no';
  });
const played = async (known: number) => evaluate({ env: await openEnv(sums), policy: adds(known) });

test('a good agent', async () => {
  const result = await played(16);
  expect(result).toScore({ em: { atLeast: 0.8 } });
  expect(result).toKeepUpWith(await readEvaluation(result.out));
  expect(result).toBeat(await played(4), { metric: 'em', margin: 0.1 });
  await expect(sums).toPass('ENV-7');
});

test('an agent that forgets', async () => {
  expect(await played(10)).toScore({ em: { atLeast: 0.8 } });
});
`;

const beside = `import { defineToolEnv, openEnv, scriptedPolicy } from '@toolenv/core';
import { evaluate } from '@toolenv/testing/vitest';
import { expect } from 'vitest';
import { createHarness, createJudge, describeEval } from 'vitest-evals';

const echo = createHarness<string, string>({
  name: 'echo',
  run: async ({ input }) => ({ output: input, messages: [{ role: 'assistant', content: input }] }),
});
const exact = createJudge('exact', async ({ output }) => ({ score: output === 'hello' ? 1 : 0 }));
const greet = defineToolEnv({
  name: 'greet-v1',
  description: 'Say hello.',
  limits: { maxTurns: 1 },
  tasks: { test: [{}] },
  rewards: { em: { kind: 'outcome' } },
  episode: () => ({
    messages: 'Say hello.',
    onAnswer: (text) => ({ rewards: { em: Number(text === 'hello') }, end: 'answered' }),
  }),
});

describeEval('an echo', { harness: echo }, (it) => {
  it('answers', async ({ run }) => {
    const result = await run('hello');
    await expect(result).toSatisfyJudge(exact, { threshold: 1 });
    const played = await evaluate({ env: await openEnv(greet), policy: scriptedPolicy(() => result.output) });
    expect(played).toScore({ em: { atLeast: 1 } });
  });
});
`;

/** What the run of `agent` prints. */
const printed = [
  'em is 0.625 (95 % interval 0.386 to 0.815), and must be at least 0.8.',
  '6 of 16 tasks are beyond it:',
  'task 10: 0.000  What is 10 + 3?',
  'Transcripts: node_modules/.toolenv/evaluations/agent.test.ts-an-agent-that-forgets/trajectories.jsonl',
  'Evaluations',
  'scripted in sums-v1, 16 tasks',
  'reward 1.000',
  'em 0.625 (0.386 to 0.815)',
  '6 tasks failed by em:',
];

export async function checkVitest(sandbox: Sandbox): Promise<void> {
  for (const { vitest, others } of versions) {
    const folder = join(sandbox.folder, `vitest-${vitest}`);
    await mkdir(folder);
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2023',
      strict: true,
      skipLibCheck: true,
      noEmit: true,
    };
    const files: Record<string, string> = {
      'package.json': '{"type":"module","private":true}',
      '.npmrc': 'ignore-scripts=true\n',
      'tsconfig.json': JSON.stringify({ compilerOptions, include: ['*.ts'] }),
      'agent.test.ts': agent,
      ...(others.length > 0 && { 'beside.test.ts': beside }),
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const names = ['@toolenv/core', '@toolenv/testing', `vitest@${vitest}`, ...others];
    const types = ['typescript@7.0.2', '@types/node@20.19.43'];
    const at = (step: string) => `Vitest ${vitest}: ${step}`;
    const installed = await attempt(at('npm install'), () =>
      sandbox.run('npm', ['install', ...names, ...types], folder),
    );
    if (!installed) continue;
    await attempt(at('tsc'), () => sandbox.run('npx', ['tsc'], folder));
    await attempt(at('matchers and reporter'), () => checkRun(folder, sandbox));
    if (others.length === 0) continue;
    await attempt(at('beside vitest-evals'), () =>
      sandbox.run('npx', ['vitest', 'run', 'beside.test.ts', '--reporter=vitest-evals/reporter'], folder),
    );
  }
}

/** Runs a test that passes and a test that fails, and compares what is printed. */
async function checkRun(folder: string, { run }: Sandbox): Promise<void> {
  const reporters = ['--reporter=default', '--reporter=@toolenv/testing/vitest-reporter'];
  const { message } = await run(
    'npx',
    ['vitest', 'run', 'agent.test.ts', '--no-color', ...reporters],
    folder,
  ).then(
    () => new Error('every test passed'),
    (error: Error) => error,
  );
  const missing = [...printed, '1 failed | 1 passed'].find((line) => !message.includes(line));
  if (missing !== undefined) throw new Error(`"${missing}" is missing in:\n${message}`);
  if (message.includes('deprecated')) throw new Error(message);
  const file = /transcripts: (\S+forgets\S+)/.exec(message)![1]!;
  const episodes = (await readFile(join(folder, file), 'utf8')).trim().split('\n');
  if (episodes.length !== 16) throw new Error(`${file} has ${episodes.length} episodes`);
}
