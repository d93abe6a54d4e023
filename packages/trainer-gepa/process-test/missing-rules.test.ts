/** How often the missing rule is found within 60 episodes, over ten seeds of three environments. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEnv } from '@toolenv/core';
import { readPrompts } from '@toolenv/core/recording';
import { gepaWith } from '@toolenv/trainer-gepa';
import { evaluate, train } from '@toolenv/training';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { environments, obedient, reflecting, units } from '../test/missing-rules.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-rules-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function seedsThatFind(
  definition: (typeof environments)[number],
  { useless, seeds }: { useless: number; seeds: number },
): Promise<number> {
  let found = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    const out = join(folder, `${definition.name}-${useless}-${seed}`);
    await using env = await openEnv(definition);
    const options = { episodes: 60, paretoTasks: 6, minibatch: 3, seed, trajectories: false };
    const trainer = gepaWith(reflecting({ useless }));
    for await (const _ of train({ ...options, env, policy: obedient, trainer, out }));
    const prompts = await readPrompts(join(out, 'prompts.json'));
    await using improved = await openEnv(definition, {}, { prompts });
    const { reward } = await evaluate({ env: improved, policy: obedient, split: 'test', seed });
    found += Number(reward === 1);
  }
  return found;
}

test.each(environments.map((env) => [env.name, env] as const))('%s', async (name, definition) => {
  const found = await seedsThatFind(definition, { useless: 0.3, seeds: 10 });
  process.stdout.write(`${name}: found in ${found} of 10 seeds\n`);
  expect(found).toBeGreaterThanOrEqual(9);
});

test('proposals of no use find nothing', async () => {
  expect(await seedsThatFind(units, { useless: 1, seeds: 3 })).toBe(0);
});
