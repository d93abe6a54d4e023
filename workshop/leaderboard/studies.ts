/**
 * The studies: what each row is, and which rows the others are compared with.
 *
 * Every agent plays 128 episodes a step and makes one update from them, so that a step costs all of them the same number of
 * episodes.
 */
import type { Family } from '../tiny-policy/families.ts';

/** A row without training. */
export interface Baseline {
  name: string;
  plays: 'start' | 'base-tool-call' | 'naive-rag' | 'supervised' | 'demonstrator';
  /** What a search costs, for a demonstrator who knows the price. */
  price?: number;
}

export interface Agent {
  name: string;
  /** Reference of the trainer's plugin. */
  trainer: string;
  /** Options that differ from the options of the study. */
  options: Readonly<Record<string, unknown>>;
  /** Learning rates to choose from, in {@link tuningOf}. */
  rates?: readonly number[];
  /** What an agent learns from that does not play by itself: a demonstrator's episodes, or the start policy's. */
  data?: 'demonstrations' | 'habitual-demonstrations' | 'start-episodes';
  /** What a search costs in the rewards or the demonstrations that the agent learns from. Default: the rewards of the environment. */
  price?: number;
  /** Least and most seconds that a search takes while the agent trains. Default: as long as it takes. */
  searchSeconds?: readonly [number, number];
}

export type Row = Baseline | Agent;

/** What a study does with every row. */
export interface Study extends StudyOptions {
  name: string;
  /** Folder of the policy that every agent begins with. */
  policy: string;
  trainsOn: readonly Family[];
  scoredOn: readonly Family[];
  rows: readonly Row[];
  /** Rows that the others are compared with. */
  references: readonly string[];
  /** What a search costs where the rows are compared. The first price chooses the learning rates. */
  prices?: readonly number[];
  /** Turns of an episode, if there are more than the families allow. */
  maxTurns?: number;
  /** Share of the searches that return nothing. Default: none. */
  failures?: number;
  /** Scores sampled answers too. */
  scoresSamples?: boolean;
  /** Test questions of each dataset. Default 256. */
  count?: number;
  /** Worlds in which each row is played. Default 5. */
  worlds?: number;
}

/** Options of training that all agents of a study share. */
export interface StudyOptions {
  steps: number;
  tasksPerStep: number;
  groupSize: number;
  temperature: number;
  maxTokens: number;
  /** Without a metric, nothing is evaluated before the end. */
  bestMetric?: string;
  evaluateEvery?: number;
  evaluationEpisodes?: number;
  patience: number;
}

const grpo = '@toolenv/trainer-grpo/grpo-v1';
const ppo = '@toolenv/trainer-ppo/ppo-v1';
const sft = '@toolenv/trainer-sft/sft-v1';
const rejectionSampling = '@toolenv/trainer-sft/rejection-sampling-v1';
const dpo = '@toolenv/trainer-sft/dpo-v1';
const onlineDpo = '@toolenv/trainer-sft/online-dpo-v1';

const episodes = {
  steps: 30,
  tasksPerStep: 16,
  groupSize: 8,
  temperature: 1,
  maxTokens: 64,
  patience: 0,
};
const group = { learningRate: 1e-4 };
/** The tiny policy's critic learns at a higher rate than that of a large model. */
const actorCritic = { learningRate: 1e-4, criticLearningRate: 3e-4 };
const supervised = { learningRate: 1e-4 };
const sampled = { learningRate: 1e-4 };
/** Of the study with few updates. */
const sampledBriefly = { learningRate: 3e-5 };
const preferences = { learningRate: 1e-4 };

const groupRates = [3e-5, 1e-4, 3e-4];
const supervisedRates = [1e-4, 3e-4, 1e-3];
const samplingRates = [3e-5, 1e-4, 3e-4];
/** Of the study with few updates. */
const budgetRates = [1e-5, 3e-5, 1e-4, 3e-4];

/** Training ends after five evaluations without a new best, and the best is what is scored. */
const untilFlat: StudyOptions = {
  ...episodes,
  steps: 300,
  evaluateEvery: 10,
  evaluationEpisodes: 256,
  bestMetric: 'rewards/em/mean',
  patience: 5,
};

const table: Study = {
  ...untilFlat,
  name: 'table',
  policy: 'workshop/tiny-policy/checkpoint-bridge-comparison',
  trainsOn: ['bridge', 'comparison'],
  scoredOn: ['bridge', 'comparison'],
  rows: [
    { name: 'Demonstrator', plays: 'demonstrator' },
    { name: 'Base Tool Call', plays: 'base-tool-call' },
    { name: 'Naive RAG', plays: 'naive-rag' },
    { name: 'Best supervised phase', plays: 'supervised' },
    {
      name: 'SFT on demonstrations',
      trainer: sft,
      options: { ...supervised, batchSize: 128 },
      rates: supervisedRates,
      data: 'demonstrations',
    },
    { name: 'Rejection sampling', trainer: rejectionSampling, options: sampled, rates: samplingRates },
    { name: 'PPO', trainer: ppo, options: actorCritic, rates: groupRates },
    { name: 'GRPO', trainer: grpo, options: { ...group, algorithm: 'grpo' }, rates: groupRates },
    { name: 'REINFORCE++', trainer: grpo, options: { ...group, algorithm: 'reinforce++' } },
    { name: 'REINFORCE++-baseline', trainer: grpo, options: { ...group, algorithm: 'reinforce++-baseline' } },
    { name: 'RLOO', trainer: grpo, options: { ...group, algorithm: 'rloo' } },
  ],
  references: ['Best supervised phase', 'SFT on demonstrations', 'GRPO'],
};

/** The critic learns alone for five steps, so PPO takes five more. */
const maskedPpo = { ...actorCritic, criticWarmup: 5, steps: 35, gamma: 1, lambda: 0.95 };
const maskedGrpo = { ...group, algorithm: 'grpo' };

/** A row that chooses its own learning rate: its gradients are greater. */
function withoutMasks(name: string, trainer: string, options: Agent['options']): Agent {
  return { name, trainer, options, rates: [1e-5, 3e-5, 1e-4] };
}

const masks: Study = {
  ...episodes,
  name: 'masks',
  policy: table.policy,
  trainsOn: table.trainsOn,
  scoredOn: table.scoredOn,
  rows: [
    { name: 'PPO', trainer: ppo, options: maskedPpo },
    withoutMasks('PPO without action mask', ppo, { ...maskedPpo, learningRate: 3e-5, actionMask: false }),
    withoutMasks('PPO without advantage mask', ppo, { ...maskedPpo, advantageMask: false }),
    withoutMasks('PPO without both masks', ppo, {
      ...maskedPpo,
      learningRate: 1e-5,
      actionMask: false,
      advantageMask: false,
    }),
    { name: 'GRPO', trainer: grpo, options: maskedGrpo },
    withoutMasks('GRPO without action mask', grpo, { ...maskedGrpo, learningRate: 3e-5, actionMask: false }),
  ],
  references: ['PPO', 'GRPO'],
};

const budget: Study = {
  ...episodes,
  name: 'budget',
  policy: 'packages/checkpoints/tiny',
  trainsOn: ['bridge'],
  scoredOn: ['bridge'],
  rows: [
    { name: 'Base Tool Call', plays: 'base-tool-call' },
    { name: 'Rejection sampling', trainer: rejectionSampling, options: sampledBriefly, rates: budgetRates },
    { name: 'DPO', trainer: dpo, options: preferences, rates: budgetRates, data: 'start-episodes' },
    { name: 'Online DPO', trainer: onlineDpo, options: preferences, rates: budgetRates },
    { name: 'GRPO', trainer: grpo, options: { ...group, algorithm: 'grpo' }, rates: budgetRates },
  ],
  references: ['GRPO'],
};

/** At the first, a guess is worth less than one search and more than three; at the second, less than both; at the third, more than both. */
const prices = [0.25, 0.1, 0.6] as const;
const [mainPrice] = prices;
const wide = { learningRate: 1e-4 };

/** A player or trainer that knows what a search costs: a row for each price. */
function atEachPrice(row: Omit<Agent, 'price'> | Omit<Baseline, 'price'>): Row[] {
  return prices.map((price) => ({ ...row, name: nameAt(row.name, price), price })) as Row[];
}

/** The name of a row at another price than the first. */
export function nameAt(name: string, price: number): string {
  return price === mainPrice ? name : `${name} at ${price}`;
}

const price: Study = {
  ...episodes,
  steps: 120,
  name: 'price',
  policy: 'workshop/tiny-policy/checkpoint-price',
  trainsOn: ['one-hop claims', 'three-hop claims'],
  scoredOn: ['one-hop claims', 'three-hop claims'],
  prices,
  scoresSamples: true,
  // Guesses are right by chance, so the study needs more questions.
  count: 800,
  maxTurns: 8,
  rows: [
    ...atEachPrice({ name: 'Demonstrator', plays: 'demonstrator' }),
    { name: 'Start', plays: 'start' },
    {
      name: 'SFT on demonstrations',
      trainer: sft,
      options: { ...wide, batchSize: 128 },
      data: 'habitual-demonstrations',
    },
    {
      name: 'SFT on demonstrations that know the price',
      trainer: sft,
      options: { ...wide, batchSize: 128 },
      data: 'demonstrations',
      price: mainPrice,
    },
    { name: 'All right answers', trainer: rejectionSampling, options: { ...wide, keep: 8 }, price: 0 },
    { name: 'Best 6 of 8', trainer: rejectionSampling, options: { ...wide, keep: 6 }, price: mainPrice },
    { name: 'Best 4 of 8', trainer: rejectionSampling, options: { ...wide, keep: 4 }, price: mainPrice },
    ...atEachPrice({ name: 'Best of 8', trainer: rejectionSampling, options: wide }),
    { name: 'Online DPO', trainer: onlineDpo, options: wide, price: mainPrice },
    { name: 'PPO', trainer: ppo, options: actorCritic, price: mainPrice },
    { name: 'RLOO', trainer: grpo, options: { ...wide, algorithm: 'rloo' }, price: mainPrice },
    { name: 'REINFORCE++', trainer: grpo, options: { ...wide, algorithm: 'reinforce++' }, price: mainPrice },
    ...atEachPrice({
      name: 'GRPO scaled by the batch',
      trainer: grpo,
      options: { ...wide, algorithm: 'grpo', scaleRewards: 'batch' },
    }),
    { name: 'GRPO', trainer: grpo, options: { ...wide, algorithm: 'grpo' }, price: mainPrice },
    {
      name: 'GRPO with shuffled rewards',
      trainer: grpo,
      options: { ...wide, algorithm: 'grpo', shuffleRewards: true },
      price: mainPrice,
    },
  ],
  references: ['Start', 'SFT on demonstrations', 'Best of 8', 'GRPO scaled by the batch'],
};

/** Updates that a rollout may be behind. */
const stalenesses = [1, 2, 4];

/** Least and most seconds of a search. */
export const slow = [0.05, 0.5] as const;
export const slower = [0.2, 2] as const;

/** GRPO whose rollouts may be some updates behind. */
function behind(
  maxStaleness: number,
  name: string,
  searchSeconds: readonly [number, number],
  more: Readonly<Record<string, unknown>> = {},
): Agent {
  const options = { ...group, algorithm: 'grpo', maxStaleness, ...more };
  return { name, trainer: grpo, options, searchSeconds };
}

/** How far rollouts may be behind the learner, with and without the weights that correct it. */
const staleness: Study = {
  ...episodes,
  steps: 60,
  name: 'staleness',
  policy: 'packages/checkpoints/tiny',
  trainsOn: ['bridge'],
  scoredOn: ['bridge'],
  scoresSamples: true,
  worlds: 3,
  rows: [
    { name: 'Fast searches', trainer: grpo, options: { ...group, algorithm: 'grpo', maxStaleness: 0 } },
    behind(0, 'Slow searches', slow),
    ...stalenesses.flatMap((updates) => [
      behind(updates, `${updates} behind`, slow),
      behind(updates, `${updates} behind unweighted`, slow, { mismatchCorrection: 'none' }),
    ]),
    behind(0, 'Slower searches', slower),
    behind(1, 'Slower searches 1 behind', slower),
    behind(2, 'Slower searches 2 behind', slower),
  ],
  references: ['Slow searches'],
};

/** A search that fails: the policy knows the task, and sometimes repeats a search that returned nothing. The gate of a study. */
const failures: Study = {
  ...episodes,
  steps: 150,
  name: 'failures',
  policy: 'runs/tiny-policy/bridge/skills/policy',
  trainsOn: ['bridge'],
  scoredOn: ['bridge'],
  failures: 0.3,
  scoresSamples: true,
  maxTurns: 7,
  worlds: 1,
  rows: [
    { name: 'Demonstrator', plays: 'demonstrator' },
    { name: 'Start', plays: 'start' },
    { name: 'All right answers', trainer: rejectionSampling, options: { ...sampled, keep: 8 } },
    // At 1e-4, the turns were garbled after twenty steps.
    { name: 'GRPO', trainer: grpo, options: { learningRate: 3e-5, algorithm: 'grpo' } },
  ],
  references: ['Start', 'All right answers'],
};

export const studies = { table, masks, budget, price, staleness, failures } as const satisfies Record<
  string,
  Study
>;

/** Test questions of each dataset. */
export function testQuestionsOf({ count = 256 }: Study): number {
  return count;
}

/** The seed of the world in which learning rates are chosen. */
export const tuningSeed = 101;

/** Most training steps of a run that chooses a learning rate: such a run may end before its score is flat. */
export const tuningSteps = 100;

/** The study that chooses the learning rates of another: a row for each rate of each agent, with a validation score. */
export function tuningOf(study: Study): Study {
  const rows = study.rows.flatMap((row) =>
    'rates' in row && row.rates
      ? row.rates.map((rate) => ({
          ...row,
          name: `${row.name} at ${rate}`,
          options: { ...row.options, learningRate: rate },
        }))
      : [],
  );
  const validation = {
    evaluateEvery: study.steps,
    evaluationEpisodes: 256,
    bestMetric: untilFlat.bestMetric!,
  };
  const steps = Math.min(study.steps, tuningSteps);
  return { ...validation, ...study, steps, name: `${study.name}, learning rates`, rows, references: [] };
}

/** The options of an agent's trainer. An agent that learns from data plays no episodes of its own. */
export function optionsOf(study: Study, { options, data }: Agent): Record<string, unknown> {
  const { steps, maxTokens, evaluateEvery, evaluationEpisodes, bestMetric, patience } = study;
  const { tasksPerStep, groupSize, temperature } = study;
  const evaluation = bestMetric ? { evaluateEvery, evaluationEpisodes, bestMetric, patience } : {};
  const rollouts = data ? {} : { tasksPerStep, groupSize, temperature };
  return { steps, maxTokens, ...evaluation, ...rollouts, ...options };
}

/** What makes a row what it is, for the record. */
export function settingsOf(study: Study, row: Row): Record<string, unknown> {
  const priced = row.price !== undefined && { price: row.price };
  if ('plays' in row) return { plays: row.plays, ...priced };
  const { trainer, data, searchSeconds } = row;
  const learned = { trainer, ...optionsOf(study, row), ...(data && { data }) };
  return { ...learned, ...(searchSeconds && { searchSeconds }), ...priced };
}
