/** Bandits of five arms: paid once, by degrees, or twice. */
import {
  type Action,
  defineTool,
  defineToolEnv,
  type EnvHandle,
  type Observation,
  openEnv,
  type SamplingOptions,
  text,
} from '@toolenv/core';
import { BanditModel } from '@toolenv/testing';

const arms = 5;
/** The token of the tool's answer, whatever it says; an arm, so that it has a probability. */
const answer = 0;

const limits = { maxTurns: 1, maxCallsPerTurn: 1, toolTimeout: 1000, maxToolCharacters: 100 };

/** Pays by the arm that was pulled. */
async function openArms(pay: (arm: number) => number): Promise<EnvHandle<unknown>> {
  const tasks = { length: 40, get: () => null };
  const bandit = defineToolEnv({
    name: 'bandit-v1',
    description: 'Pull an arm.',
    rewards: { win: { kind: 'outcome' } },
    limits,
    tasks: { train: tasks, validation: tasks, test: tasks },
    episode: () => ({
      messages: 'Pull an arm.',
      onAnswer: (arm) => ({ rewards: { win: pay(Number(arm)) }, end: 'pulled' }),
    }),
  });
  return openEnv(bandit);
}

/** Pays 1 for one arm, the same in every task. */
export function openBandit(best: number): Promise<EnvHandle<unknown>> {
  return openArms((arm) => Number(arm === best));
}

/** Pays a quarter of the arm's number. */
export function openGradedBandit(): Promise<EnvHandle<unknown>> {
  return openArms((arm) => arm / 4);
}

const pull = defineTool<{ arm: number }>({
  name: 'pull',
  description: 'Pull an arm.',
  inputSchema: { type: 'object', properties: { arm: { type: 'integer' } }, required: ['arm'] },
  execute: async ({ arm }) => text(String(arm)),
});

/** Two pulls, each paid at once: the first by calling a tool, whose answer is one token. */
export async function openTwoPulls(best: number): Promise<EnvHandle<unknown>> {
  const pays = (arm: string) => Number(arm === String(best));
  const twoPulls = defineToolEnv({
    name: 'two-pulls-v1',
    description: 'Pull an arm, twice.',
    rewards: { first: { kind: 'process' }, second: { kind: 'outcome' } },
    limits: { ...limits, maxTurns: 2 },
    tasks: { train: { length: 40, get: () => null } },
    episode: () => ({
      messages: 'Pull an arm, twice.',
      tools: [pull],
      onToolResults: ([call]) => ({ rewards: { first: pays(call!.text) } }),
      onAnswer: (arm) => ({ rewards: { second: pays(arm) }, end: 'pulled' }),
    }),
  });
  return openEnv(twoPulls);
}

/** A policy and learner for all of them. */
export class Softmax extends BanditModel {
  constructor() {
    super(arms);
  }

  /** Plays {@link openTwoPulls}: the second prompt is the first, its action, and the tool's answer. */
  async actTwice(observation: Observation, options: SamplingOptions): Promise<Action> {
    const action = await this.act(observation, options);
    const [called] = observation.messages.flatMap((message) =>
      'toolCalls' in message ? (message.toolCalls ?? []) : [],
    );
    if (called) {
      const first = (called.arguments as { arm: number }).arm;
      return { ...action, tokens: { ...action.tokens!, prompt: Int32Array.of(arms, first, answer) } };
    }
    const toolCalls = [{ id: 'first', name: 'pull', arguments: { arm: Number(action.text) } }];
    return { ...action, toolCalls };
  }
}
