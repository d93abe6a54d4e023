/** bridge-v1 by an agent through the gateway, compared with bridge-v1 in this process. AGENT_EPISODES sets how many episodes are compared. */
import { collect, type EnvHandle, rollout, type Trajectory } from '@toolenv/core';
import type { QaRecord } from '@toolenv/envs-qa';
import { loadPolicy } from '@toolenv/policy';
import { toTrainingRows } from '@toolenv/training';
import { expect, test } from 'vitest';
import { openBridge } from '../agent-trials/bridge-agents.ts';
import { plainAgent } from '../agent-trials/plain-agent.ts';

const count = Number(process.env.AGENT_EPISODES ?? 32);

async function played(env: EnvHandle<QaRecord>, temperature: number): Promise<Trajectory[]> {
  const policy = await loadPolicy('packages/tiny-policy/checkpoint');
  try {
    const tasks = await Promise.all(Array.from({ length: count }, (_, i) => env.tasks.train.get(i)));
    const episodes = tasks.map((task, group) => ({ task, group, sample: 0 }));
    return await collect(
      rollout({
        env,
        policy,
        episodes,
        concurrency: count,
        seed: 3,
        sampling: { maxTokens: 64, temperature },
      }),
    );
  } finally {
    await policy.close();
  }
}

const rowsOf = (trajectory: Trajectory) =>
  toTrainingRows(trajectory).map(({ tokens, mask }) => [[...tokens], [...mask]]);

test.each([0, 1])(
  'at temperature %s an agent gives the token rows and rewards of the environment in process',
  async (temperature) => {
    const { inProcess, byAgent, close } = await openBridge(plainAgent, { malformed: 'correct' });
    try {
      const [own, agents] = [await played(inProcess, temperature), await played(byAgent, temperature)];
      let [equal, mistaken] = [0, 0];
      for (const [i, one] of own.entries()) {
        const other = agents[i]!;
        expect(other.outcome.kind).not.toBe('aborted');
        // The agent answers an unknown tool and wrong arguments in its own words.
        if (
          one.steps.some(({ calls }) =>
            calls.some(({ mistake }) => mistake && mistake.code !== 'malformed_call'),
          )
        ) {
          mistaken += 1;
          continue;
        }
        expect(rowsOf(other), one.episodeId).toEqual(rowsOf(one));
        expect(other.outcome).toEqual(one.outcome);
        expect(other.reward).toBeCloseTo(one.reward!, 12);
        expect(other.rewards.em).toBe(one.rewards.em);
        equal += 1;
      }
      console.log(
        `temperature ${temperature}: ${equal} of ${count} episodes equal, ${mistaken} with a mistaken call`,
      );
      expect(equal + mistaken).toBe(count);
      expect(equal).toBeGreaterThan(count / 2);
    } finally {
      await close();
    }
  },
  600_000,
);
