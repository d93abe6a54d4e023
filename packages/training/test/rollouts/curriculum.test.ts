/** Curricula: tasks drawn by weights that depend on what was played; also in a run that was killed and goes on. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskResult } from '@toolenv/core';
import type { TrainEvent } from '@toolenv/core/plugins';
import { type Curriculum, mixEnvs, withCurriculum } from '@toolenv/core/wrappers';
import { expect, onTestFinished, test } from 'vitest';
import { type BanditTask, openBandit } from '../../../testing/src/trainer/bandit-model.ts';
import { banditRun } from '../bandit-run.ts';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'curriculum-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'run');
}

/** The tasks that each step played, in order. */
function machinesOf(events: readonly TrainEvent[]): number[][] {
  return events.flatMap((event) =>
    event.type === 'rollout'
      ? [
          event.trajectories
            .filter(({ sample }) => sample === 0)
            .map(({ task }) => (task as BanditTask).machine),
        ]
      : [],
  );
}

/** Prefers tasks that were neither always won nor always lost the last time. */
const uncertain: Curriculum<BanditTask> = ({ tasks, results }) =>
  Array.from({ length: tasks.length }, (_, index) => {
    const last = results.get(index)?.last ?? 0.5;
    return 0.01 + last * (1 - last);
  });

test('draws by the weights, without repetition in a step', async () => {
  const env = withCurriculum(await openBandit({ best: 1 }), ({ tasks }) =>
    Array.from({ length: tasks.length }, (_, index) => [0, 0, 3, 1, 0, 1, 0, 0][index]!),
  );
  const { events } = await banditRun(await newFolder(), { env, steps: 40, learningRate: 0, tasksPerStep: 2 });
  const steps = machinesOf(events);
  for (const step of steps) expect(new Set(step).size).toBe(2);
  const first = steps.map(([machine]) => machine!);
  expect(new Set(steps.flat())).toEqual(new Set([2, 3, 5]));
  // Weight 3 of 5 comes first in three of five steps.
  expect(first.filter((machine) => machine === 2).length / 40).toBeGreaterThan(0.45);
});

test('knows how each task was played, and forgets nothing when the run was killed', async () => {
  const seen: Record<string, Map<number, TaskResult>[]> = { whole: [], parts: [] };
  const curriculum =
    (name: string): Curriculum<BanditTask> =>
    (state) => {
      seen[name]![state.step] = new Map([...state.results].map(([index, result]) => [index, { ...result }]));
      return uncertain(state);
    };
  const open = async (name: string) => withCurriculum(await openBandit({ best: 1 }), curriculum(name));
  const options = { steps: 9, checkpointEvery: 3, tasksPerStep: 3 };
  const [whole, parts] = [await newFolder(), await newFolder()];
  const uninterrupted = await banditRun(whole, { ...options, env: await open('whole') });
  await banditRun(parts, { ...options, env: await open('parts'), killAfter: 'rollout 5' });
  const rest = await banditRun(parts, { ...options, env: await open('parts'), resume: true });
  expect(rest.kinds[0]).toBe('rollout 4');
  expect(machinesOf(rest.events)).toEqual(machinesOf(uninterrupted.events).slice(3));
  expect(rest.model.weights).toEqual(uninterrupted.model.weights);
  expect(seen.parts).toEqual(seen.whole);

  // What the last step knew is what the first eight had played.
  const rewards = new Map<number, number[]>();
  for (const event of uninterrupted.events) {
    if (event.type !== 'rollout' || event.step === 9) continue;
    for (const { task, reward } of event.trajectories) {
      const { machine } = task as BanditTask;
      rewards.set(machine, [...(rewards.get(machine) ?? []), reward!]);
    }
  }
  expect(seen.whole![8]!.size).toBe(rewards.size);
  for (const [machine, own] of rewards) {
    const { episodes, mean } = seen.whole![8]!.get(machine)!;
    expect(episodes).toBe(own.length);
    expect(mean).toBeCloseTo(own.reduce((sum, reward) => sum + reward, 0) / own.length, 12);
  }
  const file = join(parts, 'checkpoints', 'step-9', 'task_results.json');
  expect(JSON.parse(await readFile(file, 'utf8')).length).toBeGreaterThan(0);
  expect(await readdir(join(parts, 'policy'))).not.toContain('task_results.json');
});

test('a run that draws as usual keeps no history', async () => {
  const out = await newFolder();
  await banditRun(out, { steps: 1 });
  expect(await readdir(join(out, 'checkpoints', 'step-1'))).not.toContain('task_results.json');
});

test.each([
  [() => [1, 2], 'there are 2 weights for 8 tasks'],
  [() => new Float64Array(8), 'every weight is 0'],
  [() => [1, 1, 1, -1, 1, 1, 1, 1], 'the weight of task 3 is -1'],
])('names what is wrong with weights', async (weigh, message) => {
  const env = withCurriculum(await openBandit({ best: 1 }), weigh);
  await expect(banditRun(await newFolder(), { env, steps: 1 })).rejects.toMatchObject({
    code: 'usage.curriculum',
    message: expect.stringContaining(message),
  });
});

test('trains on several environments by their weights', async () => {
  const [easy, hard] = [await openBandit({ best: 1 }), await openBandit({ best: 1 })];
  const env = mixEnvs({ easy, hard }, { weights: { easy: 1, hard: 3 } });
  const { events } = await banditRun(await newFolder(), { env, steps: 5, tasksPerStep: 4 });
  const names = events.flatMap((event) =>
    event.type === 'rollout' ? event.trajectories.map(({ task }) => (task as { env: string }).env) : [],
  );
  expect(names.filter((name) => name === 'hard').length / names.length).toBe(0.75);
});
