/** Turns of a policy that asks a server: recorded, replayed without it, and refused where anything differs. */

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Action, type EnvDefinition, openEnv, type Policy, ToolEnvError } from '../../src/index.ts';
import type { PolicyHandle, PolicyUsage } from '../../src/plugins/index.ts';
import { encodeTrajectory, recordEnv, replayEnv } from '../../src/recording/index.ts';
import type { RunTap } from '../../src/recording/run-tap.ts';
import { ladderSpec, openLadder, type Rung } from '../ladder-env.ts';
import { climber, play } from '../ladder-play.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-record-turns-'));
});
afterAll(() => rm(folder, { recursive: true }));

let files = 0;
const newFile = () => join(folder, `recording-${files++}.jsonl`);

const { name, rewards, limits } = ladderSpec;
/** It makes its tools itself, so that only the policy can be recorded. */
const ladder: EnvDefinition<Rung> = {
  ...{ name, description: name, options: { type: 'object' }, rewards, limits, roles: {} },
  open: async () => openLadder(),
};
const identity = { name: 'served-v1', options: { model: 'm' } };

/** A model that answers something new each time, as a server does. */
function served(of: Policy = climber()): PolicyHandle & { asked: number } {
  const handle = {
    spec: { name: 'served', contextLength: 100, capabilities: { images: true } },
    asked: 0,
    async act(...given: Parameters<Policy['act']>): Promise<Action> {
      handle.asked += 1;
      const action = await of.act(...given);
      const tokens = {
        prompt: Int32Array.of(1, 2),
        action: Int32Array.of(3),
        logprobs: Float32Array.of(-Math.random()),
      };
      const usage = {
        requests: 1,
        inputTokens: 2,
        cachedTokens: 0,
        outputTokens: 1,
        cost: 1,
        milliseconds: 5,
      };
      return { ...action, text: `${action.text}${Math.random()}`, tokens, usage };
    },
    endEpisode: (episodeId: string) => of.endEpisode!(episodeId),
    get usage(): PolicyUsage {
      return { requests: handle.asked, retries: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0 };
    },
  };
  return handle;
}

const never = async () => {
  throw new Error('a replay opened the policy');
};

async function run(tap: RunTap, open: () => Promise<PolicyHandle>, goals = [1, 3, 2], named = identity) {
  const policy = await tap.policy(named, open);
  const env = await openEnv(ladder, {}, { tap });
  // The same episodes twice: two takes.
  const played = [...(await play(env, policy, goals)), ...(await play(env, policy, goals))];
  await env.close();
  await tap.finish();
  const lines = played.map((each) =>
    encodeTrajectory(each).replaceAll(/"milliseconds":[\d.e-]+|"usage":\{[^}]*\}/g, ''),
  );
  return { played, lines, usage: policy.usage };
}

test('a replay says the same without the policy, and costs nothing', async () => {
  const file = newFile();
  const policy = served();
  const recorded = await run(recordEnv(file), async () => policy);
  expect(policy.asked).toBe(18);
  const [header, first] = (await readFile(file, 'utf8')).split('\n').map((line) => JSON.parse(line || '{}'));
  expect(header.policy).toEqual({ ...identity, spec: policy.spec });
  expect(first.request).toMatchObject({ messages: [{}], sampling: { maxTokens: 9, temperature: 1 } });

  const replayed = await run(await replayEnv(file), never);
  expect(replayed.lines).toEqual(recorded.lines);
  expect(replayed.usage).toMatchObject({ requests: 0, inputTokens: 0, cost: 0, cachedReplies: 18 });
  for (const { steps } of replayed.played)
    for (const { action } of steps)
      expect(action.usage).toMatchObject({ requests: 0, outputTokens: 0, cost: 0, cachedReplies: 1 });
});

test('what was not asked, was asked otherwise or is not asked again is named', async () => {
  const file = newFile();
  await run(recordEnv(file), async () => served());
  await expect(run(await replayEnv(file), never, [1, 3, 2, 1])).rejects.toThrow(
    /episode 1-3-0, turn 0: recorded nothing, now an answer to user "Climb to 1\."/,
  );
  await expect(run(await replayEnv(file), never, [1, 3, 5])).rejects.toThrow(
    /turn 0: another request:\n {2}\/messages\/0\/content: recorded "Climb to 2\.", now "Climb to 5\."/,
  );
  await expect(run(await replayEnv(file), never, [1, 3])).rejects.toThrow(
    'recorded turns that were not made: 6\n  episode 1-2-0, turn 0: an answer to user "Climb to 2."',
  );
});

test('errors of a policy end the same episodes again', async () => {
  const file = newFile();
  const failing = () => {
    const of = climber();
    const act: Policy['act'] = async (observation, options) => {
      if (observation.messages[0]!.content.includes('3'))
        throw new ToolEnvError('context.overflow', 'too long');
      return of.act(observation, options);
    };
    return served({ ...of, act });
  };
  const recorded = await run(recordEnv(file), async () => failing());
  expect(recorded.played[1]!.outcome).toMatchObject({ kind: 'truncated', reason: 'context' });
  expect((await run(await replayEnv(file), never)).lines).toEqual(recorded.lines);
});

test('a policy of this machine is not recorded, and an environment without recordable tools is refused', async () => {
  const file = newFile();
  const local: PolicyHandle = { ...climber() };
  const tap = recordEnv(file);
  expect(await tap.policy(identity, async () => local)).toBe(local);
  await expect(run(recordEnv(file), async () => local)).rejects.toMatchObject({
    code: 'usage.not_recordable',
  });
  expect(existsSync(file)).toBe(false);
});

test('recordings of another policy or without turns are refused before anything is asked', async () => {
  const file = newFile();
  await run(recordEnv(file), async () => served());
  const other = { ...identity, options: { model: 'n' } };
  await expect(run(await replayEnv(file), never, [1], other)).rejects.toMatchObject({
    code: 'usage.other_recording',
    message: expect.stringContaining('/options/model: recorded "m", now "n"'),
  });
  const lines = (await readFile(file, 'utf8')).split('\n');
  const { policy, ...header } = JSON.parse(lines[0]!);
  await writeFile(file, `${JSON.stringify(header)}\n`);
  const untouched = served();
  await expect((await replayEnv(file)).policy(identity, async () => untouched)).rejects.toMatchObject({
    code: 'usage.other_recording',
    message: expect.stringContaining('has no turns of served'),
  });
  expect(untouched.asked).toBe(0);
});

test.each([
  ['torn', (line: string) => line.slice(0, -9), /not a complete JSON record/],
  [
    'without an action',
    (line: string) => JSON.stringify({ ...JSON.parse(line), action: undefined }),
    /expected/,
  ],
  ['of negative turns', (line: string) => line.replace('"turn":0', '"turn":-1'), /\/turn: expected/],
  ['of wrong tokens', (line: string) => line.replace('"prompt":[1,2]', '"prompt":["1"]'), /prompt/],
])('a line %s is refused', async (_, damage, message) => {
  const file = newFile();
  await run(recordEnv(file), async () => served());
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  await writeFile(file, [...lines.slice(0, 1), damage(lines[1]!)].join('\n'));
  await expect(replayEnv(file)).rejects.toMatchObject({
    code: 'usage.broken_record',
    message: expect.stringMatching(message),
  });
});

test('a recorded request of 100,000 levels is another request', async () => {
  const file = newFile();
  await run(recordEnv(file), async () => served());
  const deep = `"request":{"a":${'['.repeat(1e5)}${']'.repeat(1e5)},`;
  await writeFile(file, (await readFile(file, 'utf8')).replace('"request":{', deep));
  const error = await run(await replayEnv(file), never).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: expect.stringMatching(/^(usage|bug)\./) });
  expect((error as Error).message.length).toBeLessThan(2_000);
});

test('a pipe and a gigabyte are refused', async () => {
  const [pipe, huge] = [newFile(), newFile()];
  execFileSync('mkfifo', [pipe]);
  await expect(replayEnv(pipe)).rejects.toThrow('is not a regular file');
  await writeFile(huge, '');
  await truncate(huge, 2 ** 30);
  await expect(replayEnv(huge)).rejects.toMatchObject({ code: expect.stringMatching(/^usage\./) });
});
