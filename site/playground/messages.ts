/** What the page and its worker tell each other. */
import type { RewardSpec, Trajectory } from '@toolenv/core';
import type { TokenReport } from '@toolenv/core/plugins';
import type { MetricsLine } from '@toolenv/training';
import type { WrittenTurn } from '../../packages/view/src/play/play-by-hand.ts';
import type { PlayState } from '../../packages/view/src/play/play-session.ts';
import type { EpisodeTexts } from '../../packages/view/src/view/token-texts.ts';

export type Order =
  /** Begins an episode of the question with this number. */
  | { type: 'choose'; question: number }
  /** One turn: the person's, or the policy's if none was written. */
  | { type: 'turn'; written?: WrittenTurn }
  /** The policy's turns up to the end of the episode. */
  | { type: 'play' }
  /** One training after another. */
  | { type: 'train'; trainings: readonly Training[] }
  /** Ends training. Finished steps are kept. */
  | { type: 'stop' }
  /** Loads the weights with which the playground began. */
  | { type: 'reset' }
  /** Opens an environment: the reader's TypeScript, or the playground's own where it is empty. Checks what the reader wrote. */
  | { type: 'use'; environment: string; reward: string };

export interface Training {
  steps: number;
  /** Seeds its tasks and samples. */
  seed: number;
}

/** The score on questions that no training sees. */
export interface HeldOut {
  /** What is scored: a component, or `reward`. */
  score: string;
  mean: number;
  interval?: readonly [low: number, high: number] | undefined;
  questions: number;
}

/** What the worker is doing; the page sends no other order meanwhile. */
export type Work = 'loading' | 'acting' | 'training' | 'checking' | 'nothing';

/** An episode that the policy was trained on, with what the update said of its tokens. */
export interface LearnedEpisode {
  trajectory: Trajectory;
  texts: EpisodeTexts;
  learned: TokenReport['turns'];
}

/** The chosen question, answered greedily before and after a training. */
export interface Compared {
  question: string;
  /** Training steps of the policy before. */
  from: number;
  before: Trajectory;
  /** Training steps of the policy after. */
  to?: number;
  after?: Trajectory;
}

/** What the checks of `@toolenv/testing` say of the reader's environment. */
export interface CheckResult {
  ok: boolean;
  /** Rules that hold. */
  passed: number;
  /** Broken rules and warnings, each with its remedy. */
  findings: readonly string[];
}

export interface PlaygroundState {
  work: Work;
  /** Parameters of the policy. */
  parameters: number;
  /** The questions of the test split. */
  questions: readonly string[];
  /** The chosen question's number. */
  question: number;
  rewardSpec: RewardSpec;
  /** The code in use; empty for the playground's own. */
  code: { environment: string; reward: string };
  checked?: CheckResult;
  episode?: PlayState;
  /** The right answer, once the episode is over. */
  rightAnswer?: string;
  /** Training steps since the weights were loaded. */
  steps: number;
  /** The metrics of these steps. */
  lines: readonly MetricsLine[];
  /** These steps as trainings, with which another tab makes the same weights. */
  trainings: readonly Training[];
  /** A short name of the weights after them; absent before the first. */
  weights?: string;
  /** With the first weights, and with those of now. */
  heldOut: { before?: HeldOut; after?: HeldOut };
  /** Seconds of the last step. */
  secondsPerStep?: number;
  /** The best and the worst episode of a group of the last step. */
  learned: readonly LearnedEpisode[];
  compared?: Compared;
  /** What went wrong. */
  problem: string;
}
