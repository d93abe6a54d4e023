/** An agent that is a program plays an environment whose tools reach it over MCP. The agents of registries: `npm run interop -- harnesses`. */
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Action, type EnvHandle, openEnv, scriptedPolicy } from '@toolenv/core';
import { expect, test, vi } from 'vitest';
import bank from '../../../examples/bank.ts';
import { type Harness, harnesses, runProgram, withHarness } from '../src/index.ts';
import { type BankTask, bankPlayer, playTasks } from './bank-player.ts';

const agent: Harness = {
  name: 'small',
  package: 'small@1.0.0',
  run(job) {
    const program = join(import.meta.dirname, 'agent.js');
    return runProgram(this, [process.execPath, program, job.tools!, job.ask], job);
  },
};

async function bankOf(count: number): Promise<{ env: EnvHandle<BankTask>; tasks: BankTask[] }> {
  const env = (await openEnv(bank)) as EnvHandle<BankTask>;
  return {
    env,
    tasks: await Promise.all(Array.from({ length: count }, (_, index) => env.tasks.test.get(index))),
  };
}

/** Folders that agents have left. */
const left = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('toolenv-small-'));

test('the agent calls the tools, and the environment scores what it has done', async () => {
  const { env, tasks } = await bankOf(4);
  const played = await withHarness(env, agent);
  const right = await playTasks(played, bankPlayer(tasks), tasks);
  expect(right.map(({ reward }) => reward)).toEqual([1, 1, 1, 1]);
  const calls = right.map(({ steps }) =>
    steps.flatMap((step) => step.calls.map(({ call }) => 'name' in call && call.name)),
  );
  expect(calls).toEqual(tasks.map((task) => task.calls.map(({ name }) => name)));
  expect(right.map(({ steps }) => steps.at(-1)!.info!.requests)).toEqual(
    tasks.map((task) => ({ first: 1, continued: task.calls.length })),
  );
  const idle = await playTasks(
    played,
    scriptedPolicy(() => 'Done.'),
    tasks,
  );
  expect(idle.map(({ reward }) => reward)).toEqual([0, 0, 0, 0]);
  expect(played.identity).toMatchObject({ agent: 'small@1.0.0' });
  await played.close();
  expect(await left()).toEqual([]);
});

test('an environment that plays one episode at a time does so with an agent, and offers no texts to improve', async () => {
  const { env } = await bankOf(1);
  const texts = { question: 'Send money.' };
  const alone = { ...env, capabilities: { concurrent: false }, prompts: texts };
  const played = await withHarness(alone, agent);
  expect(played.capabilities).toMatchObject({ concurrent: 1 });
  expect(played.prompts).toBeUndefined();
  await played.close();
});

test('an agent that is cut off earns nothing, and its process ends', async () => {
  const { env, tasks } = await bankOf(1);
  const played = await withHarness(env, agent, { maxTurns: 2 });
  const asks = [{ name: 'look_up', arguments: { owner: 'Ada' } }];
  const [cut] = await playTasks(
    played,
    scriptedPolicy(() => asks),
    tasks,
  );
  expect(cut).toMatchObject({ reward: 0, outcome: { kind: 'truncated', reason: 'max_turns' } });
  await played.close();
  expect(await left()).toEqual([]);
});

test('the answer counts as the policy says it, whether in words or by the tool', async () => {
  const { env } = await bankOf(1);
  await env.close();
  const quiz = await openEnv((await import('./quiz-env.ts')).default);
  const played = (await withHarness(quiz, agent)) as EnvHandle<unknown>;
  const task = await quiz.tasks.test.get(0);
  const rewardOf = async (act: (turn: number) => Action['toolCalls'] | string) => {
    const policy = scriptedPolicy((_, turn) => act(turn) as string);
    const [trajectory] = await playTasks(played as EnvHandle<BankTask>, policy, [
      task as unknown as BankTask,
    ]);
    return trajectory!.reward;
  };
  expect(await rewardOf(() => '42')).toBe(1);
  expect(await rewardOf(() => '41')).toBe(0);
  const answers = (text: string) => (turn: number) =>
    (turn === 0 ? [{ name: 'answer', arguments: { text } }] : 'The answer is given.') as never;
  expect(await rewardOf(answers('42'))).toBe(1);
  // Words after the answer do not replace it.
  expect(await rewardOf((turn) => (turn === 0 ? answers('41')(turn) : '42'))).toBe(0);
  await played.close();
});

test.each([true, false])(
  'a skill is a part of the run, and of the job or the task (reads skills: %s)',
  async (readsSkills) => {
    const { env, tasks } = await bankOf(1);
    const skill = { name: 'send', text: 'Say quincunx first.' };
    const jobs: { skill?: object | undefined; ask: string }[] = [];
    const reads: Harness = {
      ...{ name: 'small', package: 'small@1.0.0', readsSkills },
      run(job) {
        jobs.push(job);
        return agent.run(job);
      },
    };
    const played = await withHarness(env, reads, { skill });
    await playTasks(played, bankPlayer(tasks), tasks);
    await played.close();
    expect(jobs.map(({ skill, ask }) => [skill, ask.includes('Say quincunx first.')])).toEqual([
      readsSkills ? [skill, false] : [undefined, true],
    ]);
    expect(played.identity).toEqual({
      agent: 'small@1.0.0',
      skill: { name: 'send', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
  },
);

test('an environment that replies to answers is refused by name', async () => {
  const bargain = await openEnv('@toolenv/envs-classic/bank-v1');
  const played = await withHarness(bargain, agent);
  const task = (await bargain.tasks.test.get(0)) as BankTask;
  await expect(
    playTasks(
      played as EnvHandle<BankTask>,
      scriptedPolicy(() => 'Hello.'),
      [task],
    ),
  ).rejects.toMatchObject({ code: 'usage.agent_conversation' });
  await played.close();
});

test.each(harnesses.map((each) => [each.name, each] as const))(
  '%s that is not installed is named, with the command that installs it',
  async (_name, harness) => {
    vi.stubEnv('PATH', '/nowhere');
    const { env, tasks } = await bankOf(1);
    const played = await withHarness(env, harness);
    try {
      await expect(playTasks(played, bankPlayer(tasks), tasks)).rejects.toMatchObject({
        code: 'usage.agent_missing',
        message: expect.stringContaining(`npm install ${harness.package}`),
      });
    } finally {
      vi.unstubAllEnvs();
      await played.close();
    }
  },
);
