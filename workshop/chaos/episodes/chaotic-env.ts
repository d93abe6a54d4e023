/** An environment and a policy that do what an episode's plan says is to go wrong, and note what they did. */
import {
  defineTool,
  defineToolEnv,
  type Policy,
  scriptedPolicy,
  type Tool,
  ToolEnvError,
} from '@toolenv/core';
import type { Fault } from './faults.ts';
import type { EpisodePlan } from './plan.ts';

export interface ChaoticTask {
  number: number;
}

/** What has gone wrong in each episode so far, by the number of its task. */
export type Injected = Map<number, string[]>;

/** Process reward of each turn with tool results. */
export const turnReward = 0.25;

/** Milliseconds of a tool call and of an episode. */
export interface ChaoticLimits {
  toolTimeout: number;
}

/** The environment of the plans, and a policy that plays its episodes. */
export function chaos(plans: readonly EpisodePlan[], { toolTimeout }: ChaoticLimits) {
  const injected: Injected = new Map();
  const note = (number: number, what: string) => {
    const noted = injected.get(number);
    if (noted) noted.push(what);
    else injected.set(number, [what]);
  };
  const tasks = plans.map((_plan, number): ChaoticTask => ({ number }));

  const env = defineToolEnv({
    name: 'chaos-v1',
    description: 'Does everything wrong.',
    limits: { toolTimeout },
    tasks: { train: tasks },
    rewards: {
      right: { kind: 'outcome' },
      turns: { kind: 'process', range: [0, 1] },
    },
    episode({ task: { number } }) {
      const { turns, episodeFault } = plans[number]!;
      if (episodeFault === 'reset fails') {
        note(number, episodeFault);
        throw new ToolEnvError('infrastructure.chaos', 'The database is gone.');
      }
      return {
        messages: `Task ${number}.`,
        tools: [workTool(turns, (fault) => note(number, fault.name))],
        onToolResults() {
          if (episodeFault !== 'reward is NaN' && episodeFault !== 'reward is a text')
            return { rewards: { turns: turnReward } };
          note(number, episodeFault);
          return { rewards: { turns: episodeFault === 'reward is NaN' ? Number.NaN : ('1' as never) } };
        },
        onAnswer(answer) {
          if (episodeFault === 'onAnswer throws') {
            note(number, episodeFault);
            throw new TypeError('a bug of the environment');
          }
          return { end: 'answered', rewards: { right: Number(answer === 'right') } };
        },
        close() {
          if (episodeFault === 'close hangs') return new Promise<void>(() => {});
          if (episodeFault === 'close throws') throw new Error('a bug of close');
          return undefined;
        },
      };
    },
  });

  return { env, policy: player(plans), injected };
}

/** A tool whose faults stand in the plan at the turn and the place that its arguments name. */
function workTool(turns: EpisodePlan['turns'], noteFault: (fault: Fault) => void): Tool<never> {
  return defineTool({
    name: 'work',
    description: 'Works.',
    inputSchema: {
      type: 'object',
      properties: { turn: { type: 'integer' }, place: { type: 'integer' } },
      required: ['turn', 'place'],
    } as const,
    execute({ turn, place }, context) {
      const fault = turns[turn]![place];
      if (!fault) return 'done';
      noteFault(fault);
      return fault.act(context) as never;
    },
  });
}

/** Plays the plan: its calls turn by turn, then the answer. */
function player(plans: readonly EpisodePlan[]): Policy {
  const numberOf = (text: string) => Number(/\d+/.exec(text)![0]);
  const numbers = new Map<string, number>();
  const script = scriptedPolicy(({ messages }, turn) => {
    const { turns, right } = plans[numberOf(messages[0]!.content)]!;
    const calls = turns[turn];
    if (!calls) return right ? 'right' : 'wrong';
    return calls.map((_fault, place) => ({ name: 'work', arguments: { turn, place } }));
  });
  return {
    ...script,
    act(observation, options) {
      numbers.set(options.episodeId!, numberOf(observation.messages[0]!.content));
      return script.act(observation, options);
    },
    endEpisode(episodeId) {
      const { episodeFault } = plans[numbers.get(episodeId) ?? -1] ?? {};
      numbers.delete(episodeId);
      script.endEpisode!(episodeId);
      if (episodeFault === 'endEpisode throws') throw new Error('a bug of endEpisode');
      // The type allows no promise, but nothing stops an author's async function.
      if (episodeFault === 'endEpisode rejects')
        return Promise.reject(new Error('a bug of endEpisode')) as never;
      if (episodeFault === 'endEpisode hangs') return new Promise(() => {}) as never;
    },
  };
}
