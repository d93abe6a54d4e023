/** judge: a reward that a model scores, its options, its cost, and what it does when the judge fails. */
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  collect,
  defineToolEnv,
  type EpisodeRequest,
  type OpenedEnv,
  openEnv,
  type Policy,
  playTask,
  rollout,
  scriptedPolicy,
  ToolEnvError,
} from '@toolenv/core';
import { encodeTrajectory, recordEnv, replayEnv } from '@toolenv/core/recording';
import { assertConforms, checkEnv, checkTool } from '@toolenv/testing';
import { evaluate } from '@toolenv/training';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type JudgeOptions, judge } from '../src/judge.ts';
import judgeV1, { judgeTool } from '../src/judge-v1.ts';
import { linesOf, startJudgeServer } from '../test/judge-server.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'judge-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Plays one episode, and not again if it is aborted. */
async function playOnce(definition: ReturnType<typeof poems>, task: { topic: string }, turns: string[]) {
  await using env = await openEnv(definition);
  return await playTask(env, task, turns, { retries: 0 });
}

/** What the judge was asked, and how often it said what. */
interface Script {
  judge: Policy;
  asked: { system: string; material: string }[];
}

function script(verdict: (asked: { system: string; material: string }, number: number) => string): Script {
  const asked: Script['asked'] = [];
  const policy = scriptedPolicy(({ messages: [system, material] }) => {
    const question = { system: system!.content, material: material!.content };
    asked.push(question);
    return `Because.\n${linesOf(question)[0]} ${verdict(question, asked.length)}`;
  });
  return { judge: policy, asked };
}

function poems(options: Partial<JudgeOptions<never>> = {}) {
  return defineToolEnv({
    name: 'poems-v1',
    description: 'Write a poem.',
    capabilities: { networked: true },
    limits: { maxTurns: 2 },
    tasks: { train: [{ topic: 'rain' }, { topic: 'snow' }] },
    rewards: {
      fine: {
        kind: 'outcome',
        score: judge({
          prompt: ({ task }) => `Is it about ${task.topic}?`,
          scale: [1, 5],
          ...(options as object),
        }),
      },
    },
    episode: ({ task: { topic } }) => ({
      messages: `Write about ${topic}.`,
      onAnswer: (text) => ({ end: 'said', info: { text } }),
    }),
  });
}

test('a verdict is scaled to the range of the reward, and its record has the reason', async () => {
  const { judge: model, asked } = script(() => '4');
  const { outcome, rewards, reward, steps } = await playOnce(poems({ model }), { topic: 'rain' }, [
    'It rains.',
  ]);
  expect(outcome).toEqual({ kind: 'terminated', reason: 'said' });
  expect([rewards, reward]).toEqual([{ fine: 0.75 }, 0.75]);
  expect(asked[0]!.system).toContain('Is it about rain?');
  expect(asked[0]!.material).toContain('\nIt rains.\n');
  const [call] = steps[0]!.environmentCalls!;
  expect(call).toMatchObject({
    call: { name: 'judge', arguments: { judged: 'It rains.', scale: [1, 5] } },
    result: { structuredContent: { verdict: '4', score: 0.75, reason: 'Because.' } },
    text: '4: Because.',
  });
  expect(call!.result!.usage).toEqual({ requests: 1, inputTokens: 0, outputTokens: 0 });
});

test('words have their own scores, and another text may be judged', async () => {
  const { judge: model, asked } = script(() => 'fair');
  const env = poems({ model, scale: { good: 1, fair: 0.4, bad: 0 }, judged: () => 'THE POEM' });
  expect((await playOnce(env, { topic: 'rain' }, ['It rains.'])).reward).toBe(0.4);
  expect(asked[0]!.system).toContain('one of these words, best first: good, fair, bad');
  expect(asked[0]!.material).toContain('THE POEM');
});

test('a text of any length is judged, without its middle; a prompt that is too long is a bug', async () => {
  const { judge: model, asked } = script(() => '5');
  const { reward } = await playOnce(poems({ model }), { topic: 'rain' }, [
    `begin ${'x'.repeat(300_000)} end`,
  ]);
  expect(reward).toBe(1);
  expect(asked[0]!.material).toMatch(/begin x+\n\[260010 characters left out\]\nx+ end/);
  const long = playOnce(poems({ model, prompt: 'x'.repeat(20_001) }), { topic: 'rain' }, ['x']);
  await expect(long).rejects.toMatchObject({ code: 'bug.judge' });
});

test('nothing to judge is not scored, and asks nobody', async () => {
  const { judge: model, asked } = script(() => '4');
  const { reward, rewards } = await playOnce(poems({ model, judged: () => undefined }), { topic: 'rain' }, [
    'It rains.',
  ]);
  expect([reward, rewards, asked.length]).toEqual([null, { fine: null }, 0]);
});

test('an odd reply is asked for once more, with a reminder; two abort the episode', async () => {
  const once = script((_, number) => (number === 1 ? 'four' : '4'));
  expect((await playOnce(poems({ model: once.judge }), { topic: 'rain' }, ['It rains.'])).reward).toBe(0.75);
  expect(once.asked.map(({ system }) => /asked before/.test(system))).toEqual([false, true]);
  const never = script(() => 'four');
  const lost = await playOnce(poems({ model: never.judge }), { topic: 'rain' }, ['It rains.']);
  expect(lost).toMatchObject({
    reward: null,
    outcome: { kind: 'aborted', cause: { code: 'infrastructure.judge_verdict' } },
  });
  expect(never.asked).toHaveLength(2);
});

test('the options are those of the environment; the user chooses the judge', async () => {
  const { options, roles } = poems({ model: 'openai:http://127.0.0.1:9/v1#none' });
  expect(roles).toEqual({ judge: '@toolenv/judge/judge-v1' });
  expect(Object.keys(options.properties as object)).toEqual(
    expect.arrayContaining(['judge', 'judgeCalls', 'judgeCache', 'judgeConcurrency']),
  );
  const chosen = { judge: '@toolenv/judge/stand-in-v1' } as object;
  await using env = await openEnv(poems({ model: 'openai:http://127.0.0.1:9/v1#none' }), chosen);
  expect(env.options).toMatchObject({ judge: '@toolenv/judge/stand-in-v1', judgeConcurrency: 16 });
  expect((await playTask(env, { topic: 'rain' }, ['one two three'])).reward).toBeGreaterThan(0);
  await expect(openEnv(poems())).rejects.toMatchObject({ code: 'usage.no_judge' });
  await expect(openEnv(poems(), { judge: '@toolenv/none/none-v1' } as object)).rejects.toMatchObject({
    code: 'usage.unknown_plugin',
  });
  expect(() => poems({ scale: [5, 1] })).toThrow('give [low, high]');
});

test('an option of the author with the name of one of the judge is refused', () => {
  const score = judge({ prompt: '', scale: [0, 1] });
  const declare = (options: { properties: object }, rewards: object) => () =>
    defineToolEnv({
      name: 'x-v1',
      description: 'x',
      options: options as { properties: Record<never, never> },
      tasks: { train: [{}] },
      rewards: rewards as never,
      episode: () => ({ messages: 'x' }),
    });
  const good = { kind: 'outcome', score };
  expect(declare({ properties: { judge: { type: 'string' } } }, { good })).toThrow('rename yours');
  const other = { kind: 'outcome', score: judge({ model: 'a', prompt: '', scale: [0, 1] }) };
  expect(declare({ properties: {} }, { good, other })).toThrow('give it another role');
  expect(
    declare(
      { properties: {} },
      { good, other: { ...other, score: judge({ model: 'a', role: 'critic', prompt: '', scale: [0, 1] }) } },
    ),
  ).not.toThrow();
});

/** Plays so many episodes of the same answer, and others of their own. */
async function play(env: OpenedEnv<{ topic: string }>, answers: readonly string[], concurrency = 4) {
  const episodes = answers.map(
    (_, sample): EpisodeRequest<{ topic: string }> => ({ task: { topic: 'rain' }, group: 0, sample }),
  );
  const policy: Policy = {
    spec: { name: 'answers', contextLength: 1000 },
    act: async (_, { episodeId }) => ({
      text: answers[Number(/(\d+)$/.exec(episodeId!)![1])]!,
      toolCalls: [],
      stopReason: 'stop',
    }),
  };
  const sampling = { maxTokens: 10, temperature: 1 };
  return collect(rollout({ env, policy, episodes, sampling, seed: 1, concurrency, retries: 0 }));
}

test('equal questions are asked once, also at the same time', async () => {
  const { judge: model, asked } = script((_, number) => String(number));
  await using env = await openEnv(poems({ model }));
  const played = await play(env, ['a', 'b', 'a', 'a', 'b']);
  expect(asked).toHaveLength(2);
  const [a, b] = [played[0]!.reward, played[1]!.reward];
  expect(played.map(({ reward }) => reward)).toEqual([a, b, a, a, b]);
  expect(a).not.toBe(b);
});

test('a file keeps the verdicts for other processes and later runs, whatever was written into it', async () => {
  const judgeCache = join(folder, 'verdicts.jsonl');
  const first = script(() => '2');
  const second = script(() => '5');
  await using one = await openEnv(poems({ model: first.judge }), { judgeCache } as object);
  await using other = await openEnv(poems({ model: second.judge }), { judgeCache } as object);
  expect((await play(one, ['a']))[0]!.reward).toBe(0.25);
  // The other process has been open since before.
  expect((await play(other, ['a', 'b'])).map(({ reward }) => reward)).toEqual([0.25, 1]);
  await appendFile(judgeCache, '{"key":"x","verdicts":["1"],"sco');
  expect((await play(one, ['b', 'c'])).map(({ reward }) => reward)).toEqual([1, 0.25]);
  await using later = await openEnv(poems({ model: second.judge }), { judgeCache } as object);
  expect((await play(later, ['a', 'b', 'c'])).map(({ reward }) => reward)).toEqual([0.25, 1, 0.25]);
  expect([first.asked.length, second.asked.length]).toEqual([2, 1]);
  expect((await readFile(judgeCache, 'utf8')).split('\n').filter((line) => line.endsWith('}'))).toHaveLength(
    3,
  );
});

test('of two verdicts at the same time, the first in the file counts for both', async () => {
  const judgeCache = join(folder, 'verdicts.jsonl');
  let waiting = 0;
  let go = () => {};
  const both = new Promise<void>((resolve) => (go = resolve));
  const slow = (verdict: string): Policy => {
    const { judge: quick } = script(() => verdict);
    return {
      ...quick,
      act: async (...asked) => {
        waiting += 1;
        if (waiting === 2) go();
        await both;
        return quick.act(...asked);
      },
    };
  };
  await using one = await openEnv(poems({ model: slow('2') }), { judgeCache } as object);
  await using other = await openEnv(poems({ model: slow('5') }), { judgeCache } as object);
  const rewards = (await Promise.all([play(one, ['a']), play(other, ['a'])])).map(
    ([episode]) => episode!.reward,
  );
  expect(waiting).toBe(2);
  expect(rewards[0]).toBe(rewards[1]);
});

test('a recording has the verdicts, and a replay needs no judge', async () => {
  const file = join(folder, 'calls.jsonl');
  const { judge: model } = script((_, number) => (number > 2 ? 'none' : String(number)));
  const tap = recordEnv(file);
  const env = await openEnv(poems({ model }), {}, { tap });
  const recorded = await play(env, ['a', 'b', 'c'], 1);
  await env.close();
  await tap.finish();
  const replayed = await replayEnv(file);
  // No such server is asked.
  const options = { judge: 'openai:http://127.0.0.1:9/v1#none' } as object;
  await using again = await openEnv(poems(), options, { tap: replayed });
  const played = await play(again, ['a', 'b', 'c'], 1);
  await replayed.finish();
  expect(played.map(({ reward }) => reward)).toEqual([0, 0.25, null]);
  expect(played.map(({ reward, outcome }) => [reward, outcome])).toEqual(
    recorded.map(({ reward, outcome }) => [reward, outcome]),
  );
});

test('beyond its calls the judge is not asked, and the error names the remedy', async () => {
  const { judge: model, asked } = script(() => '3');
  await using env = await openEnv(poems({ model }), { judgeCalls: 2 } as object);
  const played = await play(env, ['a', 'b', 'c', 'a', 'd'], 1);
  expect(asked).toHaveLength(2);
  expect(played.map(({ reward }) => reward)).toEqual([0.5, 0.5, null, 0.5, null]);
  const outcome = played[2]!.outcome;
  expect(outcome).toMatchObject({ cause: { code: 'infrastructure.judge_budget' } });
  expect(outcome).toHaveProperty('cause.message', expect.stringContaining('--judge-calls'));
  await using other = await openEnv(poems({ model }), { judgeCalls: 3 } as object);
  const atOnce = await play(other, [...'abcdefgh'], 8);
  expect(atOnce.filter(({ reward }) => reward === 0.5)).toHaveLength(3);
  expect(atOnce.filter(({ reward }) => reward === null)).toHaveLength(5);
});

test('no more requests at a time than allowed, and a judge that is silent is not waited for', async () => {
  let [now, most] = [0, 0];
  const { judge: quick } = script(() => '3');
  const model: Policy = {
    ...quick,
    act: async (...asked) => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 2));
      now -= 1;
      return quick.act(...asked);
    },
  };
  await using env = await openEnv(poems({ model }), { judgeConcurrency: 3 } as object);
  await play(env, [...'abcdefghijkl'], 12);
  expect(most).toBe(3);
  const signals: AbortSignal[] = [];
  const silent: Policy = {
    spec: { name: 'silent', contextLength: 1000 },
    act: (_, { signal }) => {
      signals.push(signal!);
      return new Promise(() => {});
    },
  };
  const { outcome } = await playOnce(poems({ model: silent, timeout: 20 }), { topic: 'rain' }, ['x']);
  expect(outcome).toMatchObject({ kind: 'aborted', cause: { code: 'infrastructure.judge_timeout' } });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

test('a key that the server of the judge repeats, in reasons and in errors, is in no record and in no cache', async () => {
  const key = 'sk-judge-0123456789abcdef';
  vi.stubEnv('JUDGE_TEST_KEY', key);
  let count = 0;
  await using server = await startJudgeServer((asked) => {
    count += 1;
    if (count % 2 === 0) return `I was sent Bearer ${key}.\n${linesOf(asked)[0]} 3`;
    return (response) =>
      void response.writeHead(400).end(JSON.stringify({ error: { message: `Bad key ${key}` } }));
  });
  const judgeCache = join(folder, 'verdicts.jsonl');
  const chosen = { judge: `${server.model}&apiKey=JUDGE_TEST_KEY`, judgeCache } as object;
  await using env = await openEnv(poems(), chosen);
  const played = await play(env, [...'abcdefgh'], 1);
  expect(new Set(played.map(({ outcome }) => outcome.kind))).toEqual(new Set(['aborted', 'terminated']));
  for (const text of [...played.map(encodeTrajectory), await readFile(judgeCache, 'utf8')]) {
    expect(text).toContain('[redacted]');
    expect(text).not.toContain(key);
  }
});

test('a judge may take longer than the tools of the policy', async () => {
  const { judge: quick } = script(() => '3');
  const model: Policy = {
    ...quick,
    act: (...asked) => new Promise((resolve) => setTimeout(() => resolve(quick.act(...asked)), 30)),
  };
  await using env = await openEnv(poems({ model }), { toolTimeout: 5 });
  expect((await play(env, ['a']))[0]!.reward).toBe(0.5);
});

test('the tokens of the judge are in the numbers of an evaluation', async () => {
  await using server = await startJudgeServer((asked) => `${linesOf(asked)[0]} 5`);
  await using env = await openEnv(poems(), { judge: server.model } as object);
  const policy = scriptedPolicy(['It rains.']);
  const { reward, toolUsage } = await evaluate({ env, policy, split: 'train', count: 2 });
  expect(reward).toBe(1);
  expect(toolUsage).toEqual({ requests: 2, inputTokens: 200, outputTokens: 20 });
  expect(server.asked).toHaveLength(2);
});

test('what a policy throws aborts the episode, and is never a score', async () => {
  const broken: Policy = {
    spec: { name: 'broken', contextLength: 10 },
    act: async () => {
      throw new ToolEnvError('context.overflow', 'The prompt is too long.');
    },
  };
  const { outcome, reward } = await playOnce(poems({ model: broken }), { topic: 'rain' }, ['x']);
  expect([outcome.kind, reward]).toEqual(['aborted', null]);
});

test('the environment and the tool conform', async () => {
  const env = poems({ model: '@toolenv/judge/stand-in-v1' });
  const report = await checkEnv(env);
  expect(report.findings).toEqual([]);
  await assertConforms(checkTool(judgeV1, { calls: 20 }));
  await expect(judgeTool({})).rejects.toMatchObject({ code: 'usage.no_judge' });
});
