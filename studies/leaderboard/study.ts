/**
 * What a study is: its rows, what all rows share, and which rows the others are compared with.
 *
 * Every agent plays 128 episodes a step and makes one update from them, so that a step costs all of them the same number of
 * episodes.
 */
import type { Family } from '../../workshop/tiny-policy/families.ts';

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

/** Test questions of each dataset. */
export function testQuestionsOf({ count = 256 }: Study): number {
  return count;
}

/** The metric that chooses the best evaluation. */
export const exactMatch = 'rewards/em/mean';

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
    bestMetric: exactMatch,
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
