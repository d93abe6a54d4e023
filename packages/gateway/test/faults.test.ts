/** Failing machinery is never scored, failing models always; and answers that reach nobody are not learned from. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Action, openEnv, playTask, ToolEnvError, type Trajectory } from '@toolenv/core';
import { expect, test, vi } from 'vitest';
import { Exchange } from '../src/exchange.ts';
import { chatCompletions } from '../src/wire/chat-completions.ts';
import { calling, envOf, play, policyOf, type TestAgent } from './agents.ts';
import { converse, post, type Sent, say } from './chat-client.ts';

const q: Sent[] = [{ role: 'user', content: 'q' }];

/** An error with the name that a framework gives it. */
const named = (name: string) => Object.assign(new Error(name), { name });
const refusedConnection = () =>
  new TypeError('fetch failed', { cause: Object.assign(new Error('no'), { code: 'ECONNREFUSED' }) });

/** Throws after its first answer. */
function failing(error: unknown): TestAgent {
  return async (context) => {
    await say(context, q);
    throw error;
  };
}

const machine: readonly [string, TestAgent, boolean][] = [
  ['throws before its first request', () => Promise.reject(new Error('broken')), true],
  ['ends without a request', async () => 'right', true],
  ['throws what nobody knows', failing(new Error('odd')), false],
  ['throws no error', failing('text'), false],
  [
    'has a bug',
    async (context) => {
      await say(context, q);
      return (undefined as never as string).length;
    },
    false,
  ],
  ['loses its network', failing(refusedConnection()), true],
  ['loses its judge', failing(new ToolEnvError('infrastructure.judge', 'gone')), true],
  ['times out at its tool', failing(new DOMException('late', 'TimeoutError')), true],
];

test.each(machine)('an agent that %s is aborted', async (_title, agent, retryable) => {
  const { outcome, reward } = await play(agent, () => 'x');
  expect(outcome).toMatchObject({ kind: 'aborted', retryable });
  expect(reward).toBeNull();
});

const until = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 10_000, interval: 5 });

/** A policy that thinks until it may answer, and what the gateway sees of the requests to it. No time passes for its own sake. */
function thinking(text: string) {
  const policy = policyOf(async () => {
    await until(() => thought.mayAnswer);
    return text;
  });
  const arrived = vi.spyOn(Exchange.prototype, 'keepAlive').mock;
  const answered = vi.spyOn(Exchange.prototype, 'answer').mock;
  const thought = {
    policy,
    mayAnswer: false,
    /** Asks, and leaves while the policy thinks, until the gateway knows. */
    async leave(context: Parameters<TestAgent>[0]): Promise<void> {
      const leaving = new AbortController();
      const asked = post(context, '/chat/completions', { messages: q }, { signal: leaving.signal });
      await until(() => policy.calls === 1);
      leaving.abort();
      await asked.catch(() => {});
      await until(() => (arrived.contexts[0] as Exchange).isGone);
    },
    /** Waits until the gateway has this many requests. */
    arrived: (requests: number) => until(() => arrived.contexts.length === requests),
    /** Lets the policy answer those who have left. */
    async answerNobody(): Promise<void> {
      thought.mayAnswer = true;
      await until(() => answered.calls.length === 1);
    },
  };
  return thought;
}

test.each([
  ['returns', async () => 'right'],
  ['throws', () => Promise.reject(new Error('odd'))],
])('an agent that leaves before its answer, and then %s, is aborted', async (_title, then) => {
  const thought = thinking('late');
  const { outcome, reward } = await play(async (context) => {
    await thought.leave(context);
    await thought.answerNobody();
    return then();
  }, thought.policy);
  expect(outcome).toMatchObject({ kind: 'aborted', retryable: true });
  expect(reward).toBeNull();
});

test('a judge that fails aborts the episode, and a policy that fails does too', async () => {
  const env = envOf((context) => say(context, q));
  const fails = policyOf(() => Promise.reject(new ToolEnvError('infrastructure.model', 'gone')));
  expect((await playTask(env, {}, fails, { retries: 0 })).outcome).toMatchObject({ kind: 'aborted' });
  const full = policyOf(() => Promise.reject(new ToolEnvError('context.overflow', 'full')));
  expect(await playTask(env, {}, full)).toMatchObject({
    outcome: { kind: 'truncated', reason: 'context' },
    reward: 0,
  });
});

const model: readonly [string, Trajectory['outcome'], TestAgent, Parameters<typeof envOf>[1]?][] = [
  ['asks too often', { kind: 'truncated', reason: 'max_turns' }, (context) => converse(context, 'q')],
  [
    'says that the model took too many turns',
    { kind: 'truncated', reason: 'max_turns' },
    failing(named('GraphRecursionError')),
  ],
  [
    'says so in another framework',
    { kind: 'truncated', reason: 'max_turns' },
    failing(named('MaxTurnsExceededError')),
  ],
  [
    'cannot use what the model wrote',
    { kind: 'terminated', reason: 'agent_failed' },
    failing(named('ModelBehaviorError')),
  ],
  [
    'blames the model',
    { kind: 'terminated', reason: 'agent_failed' },
    failing(new Error('own')),
    { blame: () => 'model' },
  ],
  [
    'takes too long',
    { kind: 'truncated', reason: 'deadline' },
    async (context) => {
      await say(context, q);
      await sleep(60_000, 0, { signal: context.signal });
    },
    { limits: { toolTimeout: 100 } },
  ],
];

test.each(model)('an agent that %s is scored', async (_title, outcome, agent, more = {}) => {
  const played = await play(agent, () => calling('sea'), more);
  expect(played.outcome).toEqual(outcome);
  expect(played.reward).toBe(0);
});

const cut: Action = { ...calling('sea'), text: 'cut', stopReason: 'length' };

test('a turn that is cut off ends the episode', async () => {
  const { outcome, steps } = await play(
    (context) => say(context, q),
    () => cut,
  );
  expect(outcome).toEqual({ kind: 'truncated', reason: 'max_tokens' });
  expect(steps).toHaveLength(1);
});

test('a turn of a helper that is cut off reaches the agent without its calls, and the agent goes on', async () => {
  const { outcome, steps, reward } = await play(
    async (context) => {
      await say(context, q);
      const helped = await say(context, [{ role: 'system', content: 'Help.' }, ...q]);
      expect(helped).toMatchObject({ content: 'cut' });
      expect(helped.tool_calls).toBeUndefined();
      return (await say(context, [...q, { role: 'assistant', content: 'first' }, ...q])).content;
    },
    (_, __, call) => (['first', cut, 'right'] as const)[call]!,
  );
  expect(outcome).toEqual({ kind: 'terminated', reason: 'answered' });
  expect(steps.map(({ calls }) => calls)).toEqual([[], [], []]);
  expect(reward).toBe(1);
});

/** Requests with the model `strange` find a bug there. */
function breakWire(part: 'read' | 'body'): Error {
  const bug = new TypeError('a bug');
  const works = chatCompletions[part] as (...args: unknown[]) => never;
  vi.spyOn(chatCompletions, part).mockImplementation((...args: unknown[]) => {
    if (JSON.stringify(args).includes('"strange"')) throw bug;
    return works.apply(chatCompletions, args);
  });
  return bug;
}

test.each([
  ['reads a request', 'read'],
  ['writes an answer', 'body'],
] as const)(
  'a fault of the gateway while it %s is answered with 500, aborts that episode alone, and is its cause',
  async (_title, part) => {
    const bug = breakWire(part);
    const statuses: number[] = [];
    await using env = await openEnv(
      envOf(async (context) => {
        for (const model of ['usual', Object(context.task).model]) {
          // Its own fetch ends with the episode, before the status arrives.
          const response = await post({ ...context, fetch }, '/chat/completions', { model, messages: q });
          statuses.push(response.status);
          if (response.status === 500)
            expect(await response.json()).toMatchObject({ error: { type: 'server_error' } });
        }
        return 'right';
      }),
    );
    const played = await Promise.all(
      ['strange', 'other'].map((model) =>
        playTask(
          env,
          { model },
          policyOf(() => 'x'),
          { retries: 0 },
        ),
      ),
    );
    expect(statuses.sort()).toEqual([200, 200, 200, 500]);
    expect(played.map(({ outcome, reward }) => [outcome.kind, reward])).toEqual([
      ['aborted', null],
      ['terminated', 1],
    ]);
    const [{ outcome }] = played as [Trajectory];
    expect(outcome).toMatchObject({ cause: { code: 'infrastructure.gateway', cause: bug } });
  },
);

test('a fault of the gateway aborts an episode whose turn is cut off meanwhile', async () => {
  breakWire('read');
  const { outcome, reward } = await play(
    (context) => {
      const ask = (model: string) => post(context, '/chat/completions', { model, messages: q });
      return Promise.all([ask('usual'), ask('strange')]);
    },
    async () => {
      await sleep(30);
      return cut;
    },
  );
  expect([outcome.kind, reward]).toEqual(['aborted', null]);
});

test('an agent that asks for what the policy does not have stops the run, and the error names the field', async () => {
  const wants = (more: object) =>
    play(
      (context) => say(context, q, more),
      () => 'x',
    );
  await expect(wants({ n: 2 })).rejects.toThrow(
    'The agent asks for what the policy does not have. n: the policy gives one answer',
  );
  await expect(wants({ tool_choice: { type: 'function', function: { name: 'other' } } })).rejects.toThrow(
    'tool_choice: there is no tool "other", but lookup.',
  );
  await expect(wants({ response_format: { type: 'json_object' } })).rejects.toThrow('response_format');
  await expect(wants({ stop: Array(65).fill('x') })).rejects.toThrow('stop: give at most 64 texts');
});

test.each([
  ['ends', () => 'right', { kind: 'terminated', reason: 'answered' }, 1],
  [
    'fails for another reason',
    () => {
      throw new Error('odd');
    },
    { kind: 'aborted' },
    null,
  ],
])(
  'a refused request of what the model has written does not stop the run of an agent that then %s',
  async (_, end, outcome, reward) => {
    const played = await play(
      async (context) => {
        await say(context, q);
        expect((await post(context, '/chat/completions', { messages: 7 })).status).toBe(400);
        return end();
      },
      () => 'x',
    );
    expect([played.outcome, played.reward]).toEqual([expect.objectContaining(outcome), reward]);
  },
);

test('a client that asks again while the policy thinks gets that answer, which counts once', async () => {
  const thought = thinking('right');
  const { steps, reward } = await play(async (context) => {
    await thought.leave(context);
    const again = say(context, q, { tools: undefined });
    await thought.arrived(2);
    thought.mayAnswer = true;
    return (await again).content;
  }, thought.policy);
  expect([thought.policy.calls, steps.length, reward]).toEqual([1, 1, 1]);
  expect(steps[0]!.learn).toBeUndefined();
  expect(steps[0]!.info).toEqual({ requests: { first: 1, retry: 1 } });
});

test('an answer that was lost is sent again, and is not sampled again', async () => {
  const thought = thinking('right');
  const { steps, reward } = await play(async (context) => {
    await thought.leave(context);
    await thought.answerNobody();
    return (await say(context, q, { tools: undefined })).content;
  }, thought.policy);
  expect([thought.policy.calls, steps.length, reward]).toEqual([1, 1, 1]);
  expect(steps[0]!.learn).toBeUndefined();
});

test('an answer that reached nobody is not learned from', async () => {
  const thought = thinking('late');
  const { steps } = await play(async (context) => {
    await thought.leave(context);
    await thought.answerNobody();
    return (await say(context, [{ role: 'user', content: 'other' }])).content;
  }, thought.policy);
  expect(steps.map(({ learn }) => learn)).toEqual([false, undefined]);
});

test('a client that says that it tries again gets the same answer, and one that does not asks for another', async () => {
  const twice = (headers: Record<string, string>) =>
    play(
      async (context) => {
        const texts = [];
        for (const header of [{}, headers]) {
          const answer = await post(context, '/chat/completions', { messages: q }, { headers: header });
          texts.push(
            ((await answer.json()) as { choices: { message: { content: string } }[] }).choices[0]!.message
              .content,
          );
        }
        return texts.join();
      },
      (_, __, call) => `${call}`,
    );
  const again = await twice({ 'x-stainless-retry-count': '1' });
  expect([again.steps.length, again.steps.at(-1)!.info]).toEqual([1, { requests: { first: 1, retry: 1 } }]);
  const sampled = await twice({});
  expect([sampled.steps.length, sampled.steps.at(-1)!.info]).toEqual([
    2,
    { requests: { first: 1, sample: 1 } },
  ]);
});

test('when the episode ends the agent is told at once, and late requests are refused', async () => {
  const heard: unknown[] = [];
  let ended = 0;
  const env = await openEnv(
    envOf(async (context) => {
      await say(context, q);
      await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
      ended = performance.now();
      const { baseURL, apiKey } = context;
      heard.push(await say({ baseURL, apiKey, fetch }, q).catch(({ message }) => message));
    }),
  );
  const begun = performance.now();
  const played = await playTask(
    env,
    {},
    policyOf(() => 'x'),
    { deadline: 300, onDeadline: 'truncate' },
  );
  await env.close();
  expect(played.outcome).toEqual({ kind: 'truncated', reason: 'deadline' });
  expect(ended - begun - 300).toBeLessThan(100);
  expect(heard).toEqual(['No episode has this key: it has ended, or the key is not that of the agent.']);
});

test('the time of the policy is not the agent’s', async () => {
  const patient = policyOf(async () => {
    await sleep(250);
    return 'right';
  });
  const { reward } = await play(async (context) => (await say(context, q)).content, patient, {
    limits: { toolTimeout: 150 },
  });
  expect(reward).toBe(1);
});

test('process rewards are those of the turn, and others are refused', async () => {
  const { steps } = await play(
    async (context) => {
      await say(context, q);
      context.reward('steps', 2);
      context.reward('steps', 3);
      await say(context, [{ role: 'user', content: 'more' }]);
      context.reward('steps', -1);
      return 'right';
    },
    () => 'x',
  );
  expect(steps.map(({ rewards }) => rewards)).toEqual([{ steps: 5 }, { steps: -1, right: 1 }]);
  const wrong = play(
    async (context) => {
      await say(context, q);
      context.reward('right', 1);
    },
    () => 'x',
  );
  await expect(wrong).rejects.toThrow(
    'reward("right"): not a process reward of the environment. Process rewards: steps.',
  );
});
