/** withToldPrice: an environment in which each question says what a search costs, and the reward subtracts it. */
import { createRng, type EnvHandle, type Message } from '@toolenv/core';
import { transformObservation, transformReward } from '@toolenv/core/wrappers';

const told = / A search costs ([\d.]+)\.$/;

/** The price that the conversation tells; `undefined` where none is told. */
export function toldPrice(messages: readonly Message[]): number | undefined {
  const [, digits] = told.exec(questionIn(messages)) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** The question, without the price. */
export function bareQuestion(messages: readonly Message[]): string {
  return questionIn(messages).replace(told, '');
}

/**
 * The reward is `utility`: the exact match minus the price of the searches.
 * @param prices A question always has the same of these.
 */
export function withToldPrice(env: EnvHandle<unknown>, prices: readonly number[]): EnvHandle<unknown> {
  const tell = (message: Message): Message => {
    if (message.role !== 'user') return message;
    const price = createRng(0, 'price', message.content).pick(prices);
    return { ...message, content: `${message.content} A search costs ${price}.` };
  };
  const telling = transformObservation(env, ({ messages, ...rest }) => ({
    ...rest,
    messages: messages.map(tell),
  }));
  const { rewards } = env.episode().spec;
  const unweighted = Object.entries(rewards).map(([name, component]) => [name, { ...component, weight: 0 }]);
  const most = Math.max(...prices) * rewards.searches!.range![1]!;
  return transformReward(telling, {
    rewards: {
      ...Object.fromEntries(unweighted),
      utility: { kind: 'outcome', range: [-most, 1], weight: 1 },
    },
    transform(given, { observation }) {
      const { em, searches } = given;
      if (em === undefined || em === null || typeof searches !== 'number') return given;
      return { ...given, utility: em - toldPrice(observation.messages)! * searches };
    },
  });
}

function questionIn(messages: readonly Message[]): string {
  return messages.find(({ role }) => role === 'user')?.content ?? '';
}
