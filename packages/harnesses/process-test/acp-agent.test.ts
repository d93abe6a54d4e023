/** Programs that speak the Agent Client Protocol. Those of registries: `npm run interop -- harnesses`. */
import { join } from 'node:path';
import { type EnvHandle, openEnv, scriptedPolicy, type Trajectory } from '@toolenv/core';
import { expect, test } from 'vitest';
import bank from '../../../examples/bank.ts';
import { acpAgent, type HarnessOptions, harnessNamed, withHarness } from '../src/index.ts';
import { type BankTask, bankPlayer, playTasks } from './bank-player.ts';
import quiz from './quiz-env.ts';

const program = join(import.meta.dirname, 'acp-program.js');

async function play(way?: string, options?: HarnessOptions): Promise<Trajectory[]> {
  const env = (await openEnv(bank)) as EnvHandle<BankTask>;
  const tasks = await Promise.all([0, 1, 2].map((index) => env.tasks.test.get(index)));
  const small = acpAgent({
    ...{ name: 'speaking', package: 'small@1.0.0' },
    program: [process.execPath, program, ...(way ? [way] : [])],
  });
  const played = await withHarness(env, small, options);
  try {
    return await playTasks(played, bankPlayer(tasks), tasks);
  } finally {
    await played.close();
  }
}

test('an agent that asks for permission gets it, and the environment scores what it has done', async () => {
  const trajectories = await play();
  expect(trajectories.map(({ reward }) => reward)).toEqual([1, 1, 1]);
  for (const { steps } of trajectories)
    expect(steps.at(-1)!.info!.requests).toEqual({ first: 1, continued: steps.length - 1 });
});

test('the answer is what the agent says after its last call', async () => {
  const env = await openEnv(quiz);
  const agent = harnessNamed(`acp:${process.execPath} ${program}`);
  const played = await withHarness(env, agent);
  const task = await env.tasks.test.get(0);
  const rewardOf = async (turns: (string | { name: string; arguments: object }[])[]) => {
    const policy = scriptedPolicy((_, turn) => turns[turn] as string);
    const [trajectory] = await playTasks(played as EnvHandle<unknown>, policy, [task as unknown]);
    return trajectory!.reward;
  };
  const waits = [{ name: 'wait', arguments: {} }];
  expect(await rewardOf([waits, '42'])).toBe(1);
  expect(await rewardOf([waits, '41'])).toBe(0);
  // Without a call, the words before the answer count too.
  expect(await rewardOf(['42'])).toBe(0);
  await played.close();
});

test.each([
  ['dies', 'exit code 3: no licence'],
  ['exits', 'ended before its answer'],
  ['floods', 'exceeds the configured 16777216 byte limit'],
])('an agent that %s aborts its episode, which says why', async (way, message) => {
  const begun = process.memoryUsage().rss;
  const trajectories = await play(way, { toolTimeout: 2000 });
  for (const { outcome } of trajectories)
    expect(outcome).toMatchObject({ kind: 'aborted', cause: { message: expect.stringContaining(message) } });
  expect(process.memoryUsage().rss - begun).toBeLessThan(500 * 2 ** 20);
});

test('an agent that stays silent is cut off', async () => {
  const trajectories = await play('stays silent', { toolTimeout: 1000 });
  for (const { outcome } of trajectories) expect(outcome).toEqual({ kind: 'truncated', reason: 'deadline' });
});

test('a program that is not installed is named', async () => {
  const env = (await openEnv(bank)) as EnvHandle<BankTask>;
  const played = await withHarness(env, harnessNamed('acp:nowhere-agent --acp'));
  const task = await env.tasks.test.get(0);
  await expect(playTasks(played, bankPlayer([task]), [task])).rejects.toMatchObject({
    code: 'usage.agent_missing',
    message: 'The program nowhere-agent is not installed: install it, or give its path.',
  });
  await played.close();
});

test('an agent without MCP over HTTP is refused by name', async () => {
  await expect(play('without HTTP')).rejects.toMatchObject({
    code: 'usage.agent_mcp',
    message: expect.stringContaining('small@1.0.0'),
  });
});

test('an agent that writes what is no JSON beside the protocol plays', async () => {
  expect((await play('no JSON')).map(({ reward }) => reward)).toEqual([1, 1, 1]);
});
