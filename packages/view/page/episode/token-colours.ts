/** What the colour of a sampled token can show. */
import type { RecordedEpisode } from '@toolenv/view/recorded';
import type { Answers } from '../../src/view/routes.ts';

type Step = RecordedEpisode['steps'][number];
type Learned = Answers['/api/episode']['learned'][number];

/** A turn of an episode. */
export interface ColouredTurn {
  step: Step;
  /** What an update said of its tokens. */
  learned?: Learned;
  rewardSpec: RecordedEpisode['rewardSpec'];
}

export interface TokenColour {
  name: string;
  /** What the colours mean. */
  legend: string;
  /** Of a sampled token: a number for the tooltip. */
  value(token: number, turn: ColouredTurn): number | undefined;
  /** A CSS background. */
  colour(value: number): string;
  /** Tells signs apart without colours: a line above or below the token. */
  mark?(value: number): 'above' | 'below' | undefined;
}

/** JSON has no NaN: the file has it as a string. */
function logprobOf({ action }: Step, token: number): number | undefined {
  const value = action.tokens?.logprobs[token];
  return value === undefined ? undefined : Number(value);
}

const shades: readonly [from: number, colour: string][] = [
  [0.9, 'var(--shade-1)'],
  [0.5, 'var(--shade-2)'],
  [0.1, 'var(--shade-3)'],
  [0.01, 'var(--shade-4)'],
  [0, 'var(--shade-5)'],
];

const mask: TokenColour = {
  name: 'mask',
  legend: 'sampled by the policy and learned from; the rest has mask 0',
  value: () => 1,
  colour: () => 'var(--shade-1)',
};

const probability: TokenColour = {
  name: 'probability',
  legend: 'blue: the policy was sure; orange: it was a surprise (above 0.9, 0.5, 0.1, 0.01, below)',
  value: (token, { step }) => {
    const logprob = logprobOf(step, token);
    return logprob === undefined ? undefined : Math.exp(logprob);
  },
  colour: (value) => shades.find(([from]) => value >= from)?.[1] ?? 'none',
};

const reward: TokenColour = {
  name: 'reward',
  legend:
    'weighted reward of the turn: blue with a line above it if it is above 0, orange with a line below it if it is below',
  value: (_, { step, rewardSpec }) => weightedReward(step, rewardSpec),
  colour: signed,
  mark: markOf,
};

const advantage: TokenColour = {
  name: 'advantage',
  legend: 'what the trainer raised (blue, a line above) and lowered (orange, a line below)',
  value: (token, { learned }) => learned?.advantages?.[token],
  colour: signed,
  mark: markOf,
};

const entropy: TokenColour = {
  name: 'entropy',
  legend: 'nats before the update: the stronger, the more the policy could have said instead',
  value: (token, { learned }) => learned?.entropies?.[token],
  colour: (value) => `color-mix(in srgb, var(--shade-4) ${percent(value / 2)}, transparent)`,
};

const all = [mask, probability, reward, advantage, entropy];

/** The colours that an episode has values for. */
export function coloursOf({
  episode,
  learned,
}: Pick<Answers['/api/episode'], 'episode' | 'learned'>): TokenColour[] {
  const { steps, rewardSpec } = episode;
  return all.filter((colour) =>
    steps.some(
      (step, index) =>
        step.action.tokens && colour.value(0, { step, learned: learned[index], rewardSpec }) !== undefined,
    ),
  );
}

/** The weighted sum of a turn's rewards; `undefined` if it scored none. */
export function weightedReward(
  { rewards = {} }: Step,
  spec: RecordedEpisode['rewardSpec'],
): number | undefined {
  const scored = Object.entries(rewards).flatMap(([name, value]) =>
    value === null ? [] : [value * (spec[name]?.weight ?? 0)],
  );
  return scored.length === 0 ? undefined : scored.reduce((sum, value) => sum + value, 0);
}

function signed(value: number): string {
  const side = value > 0 ? 'var(--shade-1)' : 'var(--shade-5)';
  return value === 0
    ? 'none'
    : `color-mix(in srgb, ${side} ${percent(0.25 + Math.abs(value) / 1.5)}, transparent)`;
}

function markOf(value: number): 'above' | 'below' | undefined {
  return value > 0 ? 'above' : value < 0 ? 'below' : undefined;
}

function percent(share: number): string {
  return `${Math.round(100 * Math.min(1, share))}%`;
}
