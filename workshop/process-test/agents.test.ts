/** bridge-v1 by an agent through the gateway, compared with bridge-v1 in this process. AGENT_EPISODES sets how many episodes are compared. */
import { setTimeout as sleep } from 'node:timers/promises';
import { collect, type EnvHandle, type Policy, rollout, type Trajectory } from '@toolenv/core';
import { encodeTrajectory } from '@toolenv/core/recording';
import type { QaRecord } from '@toolenv/envs-qa';
import { loadPolicy } from '@toolenv/policy';
import { toTrainingRows } from '@toolenv/training';
import { expect, test } from 'vitest';
import { tokenWeights } from '../../packages/training/src/update/losses/token-weights.ts';
import { openBridge } from '../../studies/agent-trials/bridge-agents.ts';
import { plainAgent } from '../../studies/agent-trials/plain-agent.ts';
import { branchingAgent, lossyAgent } from './branching-agent.ts';

const all = Number(process.env.AGENT_EPISODES ?? 16);

async function played(
  env: EnvHandle<QaRecord>,
  temperature: number,
  { count = all, isWhole = false } = {},
): Promise<Trajectory[]> {
  await using loaded = await loadPolicy('packages/checkpoints/tiny');
  const policy = isWhole ? unending(loaded) : loaded;
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
}

/** A turn that is cut off would end an episode in the middle of what is tested. */
function unending(policy: Policy): Policy {
  const act: Policy['act'] = async (observation, options) => {
    const action = await policy.act(observation, options);
    return { ...action, stopReason: action.toolCalls.length > 0 ? 'tool_call' : 'stop' };
  };
  return { spec: policy.spec, act, endEpisode: (id) => policy.endEpisode?.(id) };
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
        `temperature ${temperature}: ${equal} of ${all} episodes equal, ${mistaken} with a mistaken call`,
      );
      expect(equal + mistaken).toBe(all);
      expect(equal).toBeGreaterThan(all / 2);
    } finally {
      await close();
    }
  },
  600_000,
);

const branches = Math.min(all, 32);

/** The tokens of each conversation that were learned from, whatever the order in which conversations took turns. */
function learnedOf({ steps }: Trajectory): string[] {
  const turns = new Map<string, number[][]>();
  for (const { observation, action, learn } of steps) {
    if (learn === false) continue;
    const name = observation.conversation?.split('~')[0] ?? '';
    turns.set(name, [...(turns.get(name) ?? []), [...action.tokens!.prompt, -1, ...action.tokens!.action]]);
  }
  return [...turns].map(([name, tokens]) => `${name} ${tokens.map(String).sort().join(' | ')}`).sort();
}

/** Every sampled token that was delivered has mask 1 in one row, with its log-probability, and no other has. */
function expectLearnedOnce({ steps }: Trajectory, rows: ReturnType<typeof toTrainingRows>): void {
  const learned = steps.flatMap(({ action, learn }, turn) =>
    learn === false ? [] : Array.from(action.tokens!.logprobs, (logprob) => `${turn} ${logprob}`),
  );
  const inRows = rows.flatMap(({ mask, turns, logprobs }) =>
    [...mask.keys()].filter((t) => mask[t] === 1).map((t) => `${turns[t]} ${logprobs[t]}`),
  );
  expect(inRows.sort()).toEqual(learned.sort());
}

test('an agent that loses a tenth of its answers has no token learned twice', async () => {
  const { byAgent, close } = await openBridge(lossyAgent(0.1), { maxTurns: 30 });
  const episodes = await played(byAgent, 1, { count: branches, isWhole: true });
  await close();
  let [asked, again] = [0, 0];
  for (const trajectory of episodes) {
    expect(trajectory.outcome.kind).toBe('terminated');
    expectLearnedOnce(trajectory, toTrainingRows(trajectory));
    const {
      first = 0,
      continued = 0,
      retry = 0,
      sample = 0,
    } = trajectory.steps.at(-1)!.info.requests as Record<string, number>;
    // The conversation goes on for ten turns, whatever was lost.
    expect(first + continued + sample).toBeGreaterThanOrEqual(10);
    asked += first + continued;
    again += retry + sample;
  }
  console.log(`${again} answers of ${asked} asked for again`);
  expect(again).toBeGreaterThan(asked / 50);
}, 600_000);

test('helpers, a compaction, best of three and a retry: each answer is learned from once', async () => {
  const { byAgent, close } = await openBridge(branchingAgent(), { maxTurns: 20 });
  try {
    const episodes = await played(byAgent, 1, { count: branches, isWhole: true });
    for (const trajectory of episodes) {
      expect(trajectory.outcome.kind).toBe('terminated');
      const rows = toTrainingRows(trajectory);
      const { steps } = trajectory;
      expectLearnedOnce(trajectory, rows);
      const conversations = new Set(
        steps.filter(({ learn }) => learn !== false).map(({ observation }) => observation.conversation),
      );
      expect(
        rows.length,
        JSON.stringify(steps.map(({ observation, info }) => [observation.conversation, info])),
      ).toBe(conversations.size);
      const {
        continued = 0,
        sample = 0,
        ...requests
      } = steps.at(-1)!.info.requests as Record<string, number>;
      expect(requests).toMatchObject({ first: 1, helper: 3, compaction: 1 });
      // A client that leaves while its answer is under way gets that answer again, or another.
      expect([7, 8]).toContain(continued + sample);
    }
    const tokens = episodes.map((each) =>
      toTrainingRows(each).reduce((sum, { mask }) => sum + mask.reduce((total, bit) => total + bit, 0), 0),
    );
    for (const [n, weight] of tokenWeights('episode-mean', tokens, {}).entries())
      expect(Math.abs(weight * tokens[n]! - 1 / branches)).toBeLessThan(1e-12);
  } finally {
    await close();
  }
}, 600_000);

test('tools and helpers with random delays change no token', async () => {
  const twice = [];
  for (let run = 0; run < 2; run++) {
    const { byAgent, close } = await openBridge(branchingAgent({ pause: 20, retries: false }), {
      maxTurns: 20,
    });
    twice.push((await played(byAgent, 1, { count: branches, isWhole: true })).map(learnedOf));
    await close();
  }
  expect(twice[1]!.map(String)).toEqual(twice[0]!.map(String));
  const plain = [];
  for (let run = 0; run < 2; run++) {
    const { byAgent, close } = await openBridge(plainAgent, { onSearch: () => sleep(20 * Math.random()) });
    const episodes = await played(byAgent, 1, { count: 2 * branches });
    plain.push(episodes.map((each) => encodeTrajectory(each).replaceAll(/"milliseconds":[\d.e-]+/g, '')));
    await close();
  }
  expect(plain[1]).toEqual(plain[0]);
}, 600_000);
