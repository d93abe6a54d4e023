import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEnv, type Policy, ToolEnvError } from '@toolenv/core';
import { type GepaOptions, gepaWith } from '@toolenv/trainer-gepa';
import { type RunOptions, train } from '@toolenv/training';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { obedient, order, reflecting } from './missing-rules.ts';

/** Counts the episodes that begin, whatever becomes of them. */
async function spent(
  options: Partial<GepaOptions & RunOptions> & { seed: number },
  { policy = obedient, useless = 0.3 }: { policy?: Policy; useless?: number } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-budget-'));
  try {
    await using env = await openEnv(order);
    let episodes = 0;
    const counted = {
      ...env,
      episode: () => {
        const inner = env.episode();
        return {
          spec: inner.spec,
          reset: (begin: Parameters<typeof inner.reset>[0]) => {
            episodes += 1;
            return inner.reset(begin);
          },
          step: inner.step.bind(inner),
          close: inner.close.bind(inner),
        };
      },
    };
    const reflection = reflecting({ useless });
    const trainer = gepaWith(reflection);
    let said = 0;
    for await (const event of train({ ...options, env: counted, policy, trainer, out: join(folder, 'run') }))
      if (event.type === 'update') said = event.metrics['prompts/episodes']!;
    return { episodes, requests: reflection.requests, said };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test('no episode and no reflection is beyond its budget', async () => {
  const cases = fc.record({
    seed: fc.integer({ min: 0, max: 1000 }),
    minibatch: fc.integer({ min: 1, max: 4 }),
    paretoTasks: fc.integer({ min: 1, max: 8 }),
    extra: fc.integer({ min: 0, max: 30 }),
    reflections: fc.integer({ min: 1, max: 3 }),
  });
  let asked = 0;
  await fc.assert(
    fc.asyncProperty(cases, async ({ extra, ...options }) => {
      const episodes = 2 * options.paretoTasks + 2 * options.minibatch + extra;
      const used = await spent({ ...options, episodes });
      expect(used.episodes).toBeLessThanOrEqual(episodes);
      expect(used.requests).toBeLessThanOrEqual(options.reflections);
      expect(used.said).toBe(used.episodes);
      asked += used.requests;
    }),
    { numRuns: 8 },
  );
  expect(asked).toBeGreaterThan(0);
});

test('aborted episodes are not repeated, count towards the budget, and decide nothing', async () => {
  let turn = 0;
  const failing: Policy = {
    ...obedient,
    act(observation, options) {
      turn += 1;
      if (turn % 3 === 0) throw new ToolEnvError('infrastructure.test', 'The server is gone.');
      return obedient.act(observation, options);
    },
  };
  const options = { seed: 1, episodes: 40, paretoTasks: 4, minibatch: 2, maxAborted: 1 };
  const used = await spent(options, { policy: failing });
  expect(used.episodes).toBeLessThanOrEqual(40);
  expect(used.said).toBe(used.episodes);
  const broken: Policy = {
    ...obedient,
    act: () => Promise.reject(new ToolEnvError('infrastructure.test', 'The server is gone.')),
  };
  expect(await spent(options, { policy: broken })).toMatchObject({ requests: 0 });
  await expect(
    spent({ ...options, episodes: 200, maxAborted: 0.1 }, { policy: broken }),
  ).rejects.toMatchObject({
    code: 'infrastructure.too_many_aborted',
  });
});

test('a minibatch without a fault costs no reflection', async () => {
  const perfect: Policy = {
    ...obedient,
    act: ({ messages, ...rest }, options) =>
      obedient.act(
        {
          ...rest,
          messages: [{ role: 'system', content: 'Call check before submit.' }, ...messages.slice(1)],
        },
        options,
      ),
  };
  const used = await spent({ seed: 1, episodes: 30, paretoTasks: 4, minibatch: 2 }, { policy: perfect });
  expect(used.requests).toBe(0);
});
