import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  type Action,
  type Episode,
  type Tool,
  type ToolCallRecord,
  ToolEnvError,
  type ToolResult,
  terminated,
  text,
} from '../../src/index.ts';
import { climb, LadderEnv } from '../ladder-env.ts';

const start = { task: { goal: 3 }, seed: 1 };

function calling(...rungs: number[]): Action {
  const toolCalls = rungs.map((n, i) => ({ id: `c${i}`, name: 'climb', arguments: { rungs: n } }));
  return { text: `<${rungs}>`, toolCalls, stopReason: 'tool_call' };
}

const answer: Action = { text: 'done', toolCalls: [], stopReason: 'stop' };

test('plays an episode: calls, their messages in order, then the answer', async () => {
  const env = new LadderEnv();
  const first = await env.reset(start);
  expect(first.messages).toEqual([{ role: 'user', content: 'Climb to 3.' }]);
  expect(first.tools).toEqual([
    { name: 'climb', description: climb.description, inputSchema: climb.inputSchema },
  ]);

  const turn = await env.step(calling(1, 2));
  expect(turn).toMatchObject({ rewards: { climbed: 1 }, outcome: { kind: 'running' } });
  expect(turn.observation.messages.slice(1)).toEqual([
    { role: 'assistant', content: '<1,2>', toolCalls: calling(1, 2).toolCalls },
    { role: 'tool', content: 'climbed 1', toolCallId: 'c0', name: 'climb' },
    { role: 'tool', content: 'climbed 2', toolCallId: 'c1', name: 'climb' },
  ]);
  expect(first.messages).toHaveLength(1);

  const end = await env.step(answer);
  expect(end).toMatchObject({ rewards: { right: 1 }, outcome: { kind: 'terminated', reason: 'answered' } });
  await expect(env.step(answer)).rejects.toMatchObject({ code: 'bug.step_after_end' });
});

test('answers every call with one tool message, in order, mistaken calls included', async () => {
  const env = new LadderEnv(climb, { maxCallsPerTurn: 9 });
  await env.reset(start);
  const broken = { parseFailure: 'not JSON', text: '{' };
  const toolCalls = [broken, ...calling(1).toolCalls, { id: 'x', name: 'fly', arguments: {} }];
  const { observation, calls } = await env.step({ text: '', toolCalls, stopReason: 'tool_call' });
  expect(calls.map(({ call }) => call)).toEqual(toolCalls);
  expect(
    observation.messages.slice(2).map((message) => 'toolCallId' in message && message.toolCallId),
  ).toEqual(['', 'c0', 'x']);
});

test('truncates at limits and scores 0 in the outcome components left unscored', async () => {
  const env = new LadderEnv(climb, { maxTurns: 2 });
  await env.reset(start);
  await env.step(calling(1));
  expect(await env.step(calling(1))).toMatchObject({
    rewards: { climbed: 1, right: 0, close: 0 },
    outcome: { kind: 'truncated', reason: 'max_turns' },
  });

  await env.reset(start);
  const { rewards, outcome, calls } = await env.step({ ...calling(1), stopReason: 'length' });
  expect({ rewards, outcome, calls }).toEqual({
    rewards: { right: 0, close: 0 },
    outcome: { kind: 'truncated', reason: 'max_tokens' },
    calls: [],
  });
});

test('does not score an answer that the length limit cut off', async () => {
  const env = new LadderEnv(climb);
  await env.reset(start);
  const { rewards, outcome } = await env.step({ ...answer, stopReason: 'length' });
  expect({ rewards, outcome }).toEqual({
    rewards: { right: 0, close: 0 },
    outcome: { kind: 'truncated', reason: 'max_tokens' },
  });
});

test('leaves components unscored if the author ends the episode, even on the last turn', async () => {
  const env = new LadderEnv(climb, { maxTurns: 1 });
  await env.reset(start);
  const { rewards, outcome } = await env.step(answer);
  expect({ rewards, outcome }).toEqual({ rewards: { right: 0 }, outcome: terminated('answered') });
});

test('ends the episode as aborted if a tool fails', async () => {
  const broken: Tool = { ...climb, execute: () => Promise.reject(new Error('boom')) };
  const env = new LadderEnv(broken);
  await env.reset(start);
  const transition = await env.step(calling(1));
  expect(transition.outcome).toMatchObject({
    kind: 'aborted',
    retryable: true,
    cause: { code: 'infrastructure.tool_failed' },
  });
  expect(transition.rewards).toBeUndefined();
  await expect(env.step(answer)).rejects.toMatchObject({ code: 'bug.step_after_end' });
  expect((await env.reset(start)).messages).toHaveLength(1);
});

test('refuses a step before reset or during another step', async () => {
  const env = new LadderEnv();
  await expect(env.step(answer)).rejects.toMatchObject({ code: 'bug.step_before_reset' });
  await env.reset(start);
  const first = env.step(calling(1));
  await expect(env.step(calling(1))).rejects.toMatchObject({ code: 'bug.concurrent_step' });
  expect((await first).outcome.kind).toBe('running');
  expect((await env.step(answer)).outcome.kind).toBe('terminated');
});

test('awaits hooks, aborts on their infrastructure faults and throws their bugs', async () => {
  const judge = async (onAnswer: NonNullable<Episode['onAnswer']>) => {
    const env = new LadderEnv(climb, {}, { onAnswer });
    await env.reset(start);
    return env.step(answer);
  };
  expect(await judge(async () => ({ rewards: { right: 1 }, end: 'judged' }))).toMatchObject({
    rewards: { right: 1 },
  });
  const down = new ToolEnvError('infrastructure.judge', 'The judge is down.');
  expect((await judge(() => Promise.reject(down))).outcome).toMatchObject({ kind: 'aborted', cause: down });
  await expect(judge(() => Promise.reject(new TypeError('bug')))).rejects.toThrow('bug');
});

/** Takes a step whose tool returns `result`. Returns the transition and the records that the hook saw. */
async function answeredWith(result: ToolResult) {
  let seen: readonly ToolCallRecord[] = [];
  const onToolResults = (calls: readonly ToolCallRecord[]) => {
    seen = calls;
    return undefined;
  };
  const env = new LadderEnv({ ...climb, execute: async () => result }, {}, { onToolResults });
  await env.reset(start);
  return { transition: await env.step(calling(1)), seen };
}

test('passes a long result to the hook whole and records only its length and digest', async () => {
  const long: ToolResult = { ...text('x'.repeat(10_000_000)), structuredContent: { rows: 3 }, isError: true };
  const { transition, seen } = await answeredWith(long);
  expect(seen[0]!.result).toEqual(long);
  const [record] = transition.calls;
  const json = JSON.stringify(long);
  expect(record!.result).toEqual({ content: [], isError: true });
  expect(record!.cut).toEqual({
    characters: json.length,
    sha256: createHash('sha256').update(json).digest('hex'),
  });
  expect(record!.text).toHaveLength('x'.repeat(60).length + ' […9999947 characters cut]'.length);
  expect(JSON.stringify(transition).length).toBeLessThan(2000);
});

test('records a short result unchanged', async () => {
  const short = { ...text('x'.repeat(1000)), structuredContent: { rows: 3 } };
  const { transition } = await answeredWith(short);
  expect(transition.calls[0]!.result).toEqual(short);
  expect(transition.calls[0]).not.toHaveProperty('cut');
});

test('treats a result that JSON cannot hold as a failure of the tool', async () => {
  const { transition } = await answeredWith({ content: [], structuredContent: { rows: 3n } });
  expect(transition.outcome).toMatchObject({
    kind: 'aborted',
    cause: { code: 'infrastructure.tool_failed', message: expect.stringContaining('"climb" failed') },
  });
});
