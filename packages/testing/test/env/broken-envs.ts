/** Environments that break one rule each. All are changes of one valid environment. */
import { lookup } from 'node:dns/promises';
import {
  type Action,
  aborted,
  createRng,
  defineEnv,
  type Env,
  type EnvDefinition,
  type EnvHandle,
  type EnvLimits,
  type RewardSpec,
  type Tool,
  ToolEnvError,
  type Transition,
  text,
} from '@toolenv/core';
import { climb, LadderEnv, ladderLimits, ladderSpec, type Rung } from '../../../core/test/ladder-env.ts';
import type { RuleId } from '../../src/index.ts';

type Definition = EnvDefinition<Rung, { toolTimeout?: number }>;

/** Climbs to the task's goal, then answers. */
const oracle: Definition['oracle'] =
  ({ goal }) =>
  (_, turn) =>
    turn === 0 ? [{ name: 'climb', arguments: { rungs: goal } }] : 'done';

/** Rewards of the valid environment. `close` is declared but never scored, so its weight must be 0. */
const rewards: RewardSpec = { ...ladderSpec.rewards, close: { kind: 'outcome', range: [0, 1], weight: 0 } };
/** `right` counts up to 100, and `climbed` up to 1. */
const wide: RewardSpec = {
  ...rewards,
  right: { kind: 'outcome', range: [0, 100], weight: 1 },
  climbed: { kind: 'process', range: [0, 1], weight: 1 },
};
const limits: EnvLimits = { ...ladderLimits, toolTimeout: 5000 };

/** A ladder environment with the tool of its role. */
function ladder(tool: Tool, toolTimeout: number): Env<Rung> {
  const env = new LadderEnv(tool, { ...limits, toolTimeout });
  return Object.assign(env, { spec: { ...env.spec, rewards } });
}

export interface Changes {
  definition?: Partial<Definition>;
  /** Methods that replace those of the valid Env. */
  env?(good: Env<Rung>, tool: Tool): Partial<Env<Rung>>;
  open?(good: EnvHandle<Rung>): Partial<EnvHandle<Rung>>;
}

export function ladderDefinition({ definition, env: change, open: reopen }: Changes = {}): Definition {
  const good = defineEnv<Rung, { toolTimeout?: number }>({
    name: 'ladder-v1',
    description: 'Climb.',
    // checkEnv sets a short toolTimeout to check hanging tools.
    options: { type: 'object', properties: { toolTimeout: { type: 'number' } } },
    rewards,
    limits,
    roles: { climbing: 'none' },
    async open({ options: { toolTimeout = limits.toolTimeout }, tools }) {
      const tool = await tools.climbing!({});
      const tasks = (first: number) => ({
        length: 5,
        get: (index: number): Rung => ({ goal: index + first }),
      });
      const open: EnvHandle<Rung> = {
        tasks: { train: tasks(2), validation: tasks(7), test: tasks(12) },
        episode() {
          const good = ladder(tool, toolTimeout);
          const own: Env<Rung> = {
            spec: good.spec,
            reset: (options) => good.reset(options),
            step: (action, options) => good.step(action, options),
            close: () => good.close(),
          };
          return { ...own, ...change?.(good, tool) };
        },
        close: async () => {},
      };
      return { ...open, ...reopen?.(open) };
    },
    oracle,
    label: ({ goal }) => `height ${goal}`,
  });
  // Not given to defineEnv, which refuses some of what is to be checked.
  return { ...good, ...definition };
}

export const climbing = { climbing: async () => climb };

/** Changes the transition of every step. */
function stepping(change: (transition: Transition, action: Action) => unknown): Changes {
  return {
    env: (good) => ({
      step: async (action, options) => {
        const transition = await good.step(action, options);
        return change(transition, action) as Transition;
      },
    }),
  };
}

/** Changes the transition of every step that does not end the episode. */
function whileRunning(change: (transition: Transition) => object): Changes {
  return stepping((transition) =>
    transition.outcome.kind === 'running' ? { ...transition, ...change(transition) } : transition,
  );
}

/** The user says a text at the end. */
function said({ observation: { messages, tools } }: Transition, content: string): object {
  return { observation: { messages: [...messages, { role: 'user', content }], tools } };
}

const noBoolean = { seedable: 'no' };
let shared = 0;
let drawn = 0;
/** Not Math.random, so that a failure of these tests repeats. */
const unseeded = createRng(1, 'unseeded');

export const brokenEnvs: readonly [what: string, rule: RuleId, changes: Changes][] = [
  [
    'a spec whose rewards differ from the definition',
    'ENV-1',
    { env: (good) => ({ spec: { ...good.spec, rewards: ladderSpec.rewards } }) },
  ],
  [
    'a default that its schema refuses',
    'ENV-2',
    {
      definition: {
        options: { type: 'object', properties: { size: { type: 'integer', default: 'large' } } },
      },
    },
  ],
  [
    'options with an invalid schema',
    'ENV-2',
    { definition: { options: { type: 'object', properties: { size: { type: 'integre' } } } } },
  ],
  [
    'a bug in open()',
    'ENV-2',
    { definition: { open: () => Promise.reject(new TypeError('x is not a function')) } },
  ],
  [
    'tasks that differ each time the environment is opened',
    'ENV-3',
    {
      open: () => {
        drawn += 1;
        const goal = drawn;
        const tasks = { length: 3, get: () => ({ goal }) };
        return { tasks: { train: tasks, validation: tasks, test: tasks } };
      },
    },
  ],
  [
    'a task that JSON cannot hold',
    'ENV-3',
    {
      open: ({ tasks }) => ({
        tasks: { ...tasks, test: { length: 1, get: () => ({ goal: 1, born: new Date(0) }) } },
      }),
    },
  ],
  [
    'a range with low above high',
    'ENV-4',
    { definition: { rewards: { right: { kind: 'outcome', range: [1, 0], weight: 1 } } } },
  ],
  [
    'an infinite weight',
    'ENV-4',
    {
      definition: {
        rewards: { right: { kind: 'outcome', range: [0, 1], weight: Number.POSITIVE_INFINITY } },
      },
    },
  ],
  ['a limit of 0 turns', 'ENV-5', { definition: { limits: { ...limits, maxTurns: 0 } } }],
  ['a capability that is not a boolean', 'ENV-36', { definition: { capabilities: noBoolean as object } }],
  [
    'an undeclared DNS lookup',
    'ENV-36',
    {
      env: (good) => ({
        async reset(options) {
          await lookup('localhost').catch(() => {});
          return good.reset(options);
        },
      }),
    },
  ],
  [
    'a step that resets the environment',
    'ENV-6',
    {
      env: (good) => ({
        step: async (action, options) => {
          try {
            return await good.step(action, options);
          } catch (error) {
            if (!ToolEnvError.isInstance(error) || error.code !== 'bug.step_before_reset') throw error;
            await good.reset({ task: { goal: 1 }, seed: 0 });
            return good.step(action, options);
          }
        },
      }),
    },
  ],
  [
    'steps after the end',
    'ENV-7',
    {
      env: (good) => {
        let end: Transition | undefined;
        return {
          reset: (options) => {
            end = undefined;
            return good.reset(options);
          },
          step: async (action, options) => {
            if (end) return end;
            const transition = await good.step(action, options);
            if (transition.outcome.kind !== 'running') end = transition;
            return transition;
          },
          close: () => {
            end = undefined;
            return good.close();
          },
        };
      },
    },
  ],
  [
    'concurrent steps that are queued',
    'ENV-8',
    {
      env: (good) => {
        let last: Promise<unknown> = Promise.resolve();
        return {
          step: (action, options) => {
            const next = last.then(() => good.step(action, options));
            last = next.catch(() => {});
            return next;
          },
        };
      },
    },
  ],
  [
    'a reset that depends on earlier episodes',
    'ENV-9',
    {
      env: (good) => {
        let resets = 0;
        return {
          reset: async (options) => {
            const observation = await good.reset(options);
            resets += 1;
            return resets === 1
              ? observation
              : { ...observation, messages: [...observation.messages, { role: 'user', content: 'Again.' }] };
          },
        };
      },
    },
  ],
  [
    'a second close() that throws',
    'ENV-10',
    {
      env: (good) => {
        let open = true;
        return {
          close: async () => {
            if (!open) throw new Error('already closed');
            open = false;
            await good.close();
          },
        };
      },
    },
  ],
  [
    'unseeded randomness',
    'ENV-11',
    stepping((transition) => ({ ...transition, info: { roll: unseeded.float() } })),
  ],
  [
    'state shared by episodes',
    'ENV-12',
    {
      env: (good) => ({
        reset: (options) => {
          shared = 0;
          return good.reset(options);
        },
        step: async (action, options) => {
          const transition = await good.step(action, options);
          shared += 1;
          return { ...transition, info: { shared } } as Transition;
        },
      }),
    },
  ],
  [
    'an observation that is changed after it was returned',
    'ENV-13',
    {
      env: (good) => {
        let messages: unknown[] = [];
        return {
          reset: async (options) => {
            const observation = await good.reset(options);
            messages = observation.messages;
            return observation;
          },
          step: async (action, options) => {
            const transition = await good.step(action, options);
            messages.push({ role: 'user', content: 'and' });
            messages = transition.observation.messages;
            return transition;
          },
        };
      },
    },
  ],
  [
    'a task that is changed',
    'ENV-13',
    {
      env: (good) => ({
        reset: (options) => {
          const observation = good.reset({ ...options, task: { ...options.task } });
          Object.assign(options.task, { used: true });
          return observation;
        },
      }),
    },
  ],
  [
    'an action that is changed',
    'ENV-13',
    {
      env: (good) => ({
        step: (action, options) => {
          const copy = { ...action };
          action.text = action.text.trim().slice(0, 1);
          return good.step(copy, options);
        },
      }),
    },
  ],
  [
    'no messages',
    'ENV-14',
    { env: (good) => ({ reset: async (options) => ({ ...(await good.reset(options)), messages: [] }) }) },
  ],
  [
    'two tools with the same name',
    'ENV-14',
    {
      env: (good) => ({
        reset: async (options) => {
          const { messages, tools } = await good.reset(options);
          return { messages, tools: [...tools, ...tools] };
        },
      }),
    },
  ],
  [
    'a first observation that contains the answer',
    'ENV-15',
    { definition: { label: ({ goal }) => `climb to ${goal}` } },
  ],
  [
    'a hint that contains the answer',
    'ENV-15',
    {
      env: (good) => {
        let goal = 0;
        return {
          reset: (options) => {
            goal = options.task.goal;
            return good.reset(options);
          },
          step: async (action, options) => {
            const transition = await good.step(action, options);
            const { observation, calls, outcome } = transition;
            if (outcome.kind !== 'running' || !calls.every(({ mistake }) => mistake)) return transition;
            const hint = { role: 'user' as const, content: `No. It is height ${goal}.` };
            return {
              ...transition,
              observation: { ...observation, messages: [...observation.messages, hint] },
            };
          },
        };
      },
    },
  ],
  [
    'a Map in info',
    'ENV-16',
    stepping((transition) => ({ ...transition, info: { seen: new Map([['a', 1]]) } })),
  ],
  [
    'a bigint in a message',
    'ENV-16',
    stepping(({ observation, ...rest }) => ({
      ...rest,
      observation: { ...observation, messages: [{ role: 'user', content: 3n }] },
    })),
  ],
  [
    'booleans instead of an outcome',
    'ENV-17',
    stepping(({ outcome: _, ...rest }) => ({ ...rest, done: true })),
  ],
  [
    'an unknown truncation reason',
    'ENV-17',
    stepping((transition) =>
      transition.outcome.kind === 'truncated'
        ? { ...transition, outcome: { kind: 'truncated', reason: 'bored' } }
        : transition,
    ),
  ],
  [
    'a reward for an aborted episode',
    'ENV-18',
    stepping((transition, { toolCalls }) =>
      toolCalls.length > 1
        ? {
            ...transition,
            rewards: { right: 0 },
            outcome: {
              kind: 'aborted',
              cause: new ToolEnvError('infrastructure.server', 'down'),
              retryable: true,
            },
          }
        : transition,
    ),
  ],
  [
    'no rewards at all',
    'ENV-18',
    stepping((transition) => {
      const { rewards: _, ...rest } = transition;
      return rest;
    }),
  ],
  ['an outcome reward before the end', 'ENV-19', whileRunning(() => ({ rewards: { right: 0.5 } }))],
  ['an undeclared reward', 'ENV-20', whileRunning(() => ({ rewards: { bonus: 1 } }))],
  ['a reward out of range', 'ENV-21', whileRunning(() => ({ rewards: { climbed: 2 } }))],
  ['a reward of NaN', 'ENV-21', whileRunning(() => ({ rewards: { climbed: Number.NaN } }))],
  [
    'a truncation that leaves outcome components unscored',
    'ENV-22',
    stepping((transition) =>
      transition.outcome.kind === 'truncated' ? { ...transition, rewards: { climbed: 1 } } : transition,
    ),
  ],
  [
    'an ignored turn limit',
    'ENV-23',
    stepping((transition) =>
      transition.outcome.kind === 'truncated' && transition.outcome.reason === 'max_turns'
        ? { ...transition, rewards: {}, outcome: { kind: 'running' } }
        : transition,
    ),
  ],
  [
    'a cut-off action whose calls are executed',
    'ENV-24',
    { env: (good) => ({ step: (action, options) => good.step({ ...action, stopReason: 'stop' }, options) }) },
  ],
  [
    'arguments that are not validated',
    'ENV-25',
    {
      env: (good, tool) => ({
        step: async (action, options) => {
          const transition = await good.step(action, options);
          const calls = transition.calls.map(({ mistake, ...record }) =>
            mistake?.code === 'invalid_arguments'
              ? { ...record, result: text(`called ${tool.name}`) }
              : { ...record, mistake },
          );
          return { ...transition, calls };
        },
      }),
    },
  ],
  [
    'a mistake without a hint',
    'ENV-25',
    stepping(({ calls, ...rest }) => ({
      ...rest,
      calls: calls.map(({ mistake, ...record }) => ({
        ...record,
        mistake: mistake && { ...mistake, hint: '' },
      })),
    })),
  ],
  [
    'a word for what is learned',
    'ENV-38',
    stepping((transition) => ({ ...transition, learn: 'no' as unknown as boolean })),
  ],
  [
    'rewards of a player whom nobody knows',
    'ENV-39',
    stepping((transition) => ({ ...transition, playerRewards: { ghost: {} } }) as Transition),
  ],
  [
    'a record of the last call only',
    'ENV-26',
    stepping(({ calls, ...rest }) => ({ ...rest, calls: calls.slice(-1) })),
  ],
  [
    'an exception for a malformed call',
    'ENV-27',
    {
      env: (good) => ({
        step: async (action, options) => {
          const transition = await good.step(action, options);
          if (transition.calls.some(({ mistake }) => mistake?.code === 'malformed_call')) {
            throw new SyntaxError('Unexpected token');
          }
          return transition;
        },
      }),
    },
  ],
  [
    'a step that never settles',
    'ENV-28',
    {
      env: (good) => ({
        step: (action, options) =>
          action.text.includes('<answer>') ? new Promise(() => {}) : good.step(action, options),
      }),
    },
  ],
  ['a step that ignores its signal', 'ENV-29', { env: (good) => ({ step: (action) => good.step(action) }) }],
  [
    'a reset that ignores its signal',
    'ENV-29',
    { env: (good) => ({ reset: ({ signal: _, ...options }) => good.reset(options) }) },
  ],
  [
    'a step that ignores its signal while a tool hangs',
    'ENV-29',
    {
      env: (good) => ({
        step: async (action, options) => {
          options?.signal?.throwIfAborted();
          return good.step(action);
        },
      }),
    },
  ],
  [
    'a tool without a deadline',
    'ENV-30',
    { env: (_, tool) => ladderWithLimits(tool, { toolTimeout: 100_000 }) },
  ],
  [
    'a tool failure that is reported to the model',
    'ENV-31',
    {
      env: (_, tool) => {
        const patient: Tool = {
          ...tool,
          execute: (args, context) =>
            tool.execute(args, context).catch((error) => ({ ...text(String(error)), isError: true })),
        };
        return ladderWithLimits(patient, {});
      },
    },
  ],
  ['an oracle that answers wrongly', 'ENV-32', { definition: { oracle: () => () => 'done' } }],
  [
    'an oracle that never answers',
    'ENV-32',
    { definition: { oracle: () => () => [{ name: 'climb', arguments: { rungs: 1 } }] } },
  ],
  [
    'a full reward for an empty answer',
    'ENV-33',
    stepping((transition) =>
      transition.outcome.kind === 'aborted'
        ? transition
        : { ...transition, rewards: transition.outcome.kind === 'running' ? {} : { right: 1, close: 1 } },
    ),
  ],
  [
    'a timer that is never cleared',
    'ENV-34',
    {
      env: (good) => ({
        reset: (options) => {
          leaks.push(setInterval(() => {}, 100_000));
          return good.reset(options);
        },
      }),
    },
  ],
  [
    'a tool text that is not cut',
    'ENV-35',
    { env: (_, tool) => ladderWithLimits(tool, { maxToolCharacters: 1_000_000 }) },
  ],
  [
    'an answer that nobody replies to',
    'ENV-37',
    {
      env: (good) => ({
        async step(action, options) {
          const transition = await good.step(action, options);
          if (transition.outcome.kind !== 'running') return transition;
          const { messages, tools } = transition.observation;
          const thought = { role: 'assistant' as const, content: 'Let me think.' };
          return { ...transition, observation: { messages: [...messages, thought], tools } };
        },
      }),
    },
  ],
  ['an oracle that earns less than the best that is declared', 'ENV-32', { definition: { best: () => 40 } }],
  [
    'only the new message as the context',
    'WARN-1',
    whileRunning(({ observation: { messages, tools } }) => ({
      observation: { messages: messages.slice(-1), tools },
    })),
  ],
  [
    'an empty reply',
    'WARN-2',
    whileRunning(({ observation: { messages, tools } }) => ({
      observation: { messages: [{ role: 'user', content: ' ' }, ...messages], tools },
    })),
  ],
  ['one reply to everything', 'WARN-3', whileRunning((transition) => said(transition, 'Go on.'))],
  [
    'a reward that is always 0',
    'WARN-4',
    stepping((transition) =>
      transition.rewards ? { ...transition, rewards: { ...transition.rewards, climbed: 0 } } : transition,
    ),
  ],
  [
    'tests that are in the training split',
    'WARN-9',
    { open: ({ tasks }) => ({ tasks: { ...tasks, test: tasks.train } }) },
  ],
  [
    'a named split without tasks',
    'WARN-12',
    {
      open: ({ tasks }) => ({
        splits: ['train', 'test'],
        tasks: { ...tasks, test: { length: 0, get: () => ({ goal: 1 }) } },
      }),
    },
  ],
  ['no oracle', 'WARN-5', { definition: { oracle: undefined } }],
  [
    'a wide reward beside a narrow one',
    'WARN-10',
    { definition: { rewards: wide }, env: (good) => ({ spec: { ...good.spec, rewards: wide } }) },
  ],
  [
    'a field of the task that is not there',
    'WARN-11',
    {
      env: (good) => ({
        reset: async (options) => {
          const seen = await good.reset(options);
          const messages = [...seen.messages, { role: 'user' as const, content: 'The floor is undefined.' }];
          return { ...seen, messages };
        },
      }),
    },
  ],
  [
    'calls with a comment that abort',
    'WARN-6',
    stepping((transition, { text: said, toolCalls }) => {
      if (said === '' || toolCalls.length === 0) return transition;
      const cause = new ToolEnvError('infrastructure.tool_failed', 'Tool "climb" failed: slipped');
      return { observation: transition.observation, calls: [], info: {}, outcome: aborted(cause) };
    }),
  ],
  [
    'a call that waits on after it is cancelled',
    'WARN-7',
    {
      env: (good) => ({
        step(action, options) {
          if (action.toolCalls.length > 0 && options?.signal) leaks.push(setTimeout(() => {}, 5000));
          return good.step(action, options);
        },
      }),
    },
  ],
  [
    'a step that asks for chance and time',
    'WARN-8',
    {
      env: (good) => ({
        step(action, options) {
          if (Math.random() > 1 || Date.now() < 0) throw new Error('never');
          return good.step(action, options);
        },
      }),
    },
  ],
];

/** Timers left by a broken environment, for the test to clear. */
export const leaks: ReturnType<typeof setInterval>[] = [];

/** An Env that does not apply the limits of its spec. */
function ladderWithLimits(tool: Tool, wrong: Partial<EnvLimits>): Partial<Env<Rung>> {
  const short = { ...limits, toolTimeout: 200 };
  const env = new LadderEnv(tool, { ...short, ...wrong });
  const spec = { ...env.spec, rewards };
  Object.assign(env, { spec });
  return {
    spec: { ...spec, limits: short },
    reset: (options) => env.reset(options),
    step: (action, options) => env.step(action, options),
    close: () => env.close(),
  };
}
