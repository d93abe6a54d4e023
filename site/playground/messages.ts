/** What the page and its worker tell each other. */
import type { RewardSpec } from '@toolenv/core';
import type { MetricsLine } from '@toolenv/training';
import type { WrittenTurn } from '../../packages/view/src/play/play-by-hand.ts';
import type { PlayState } from '../../packages/view/src/play/play-session.ts';

export type Order =
  /** Begins an episode of the question with this number. */
  | { type: 'choose'; question: number }
  /** One turn: the person's, or the policy's if none was written. */
  | { type: 'turn'; written?: WrittenTurn }
  /** The policy's turns up to the end of the episode. */
  | { type: 'play' }
  | { type: 'train'; steps: number }
  /** Ends training. Finished steps are kept. */
  | { type: 'stop' }
  /** Loads the weights with which the playground began. */
  | { type: 'reset' };

/** What the worker is doing; the page sends no other order meanwhile. */
export type Work = 'loading' | 'acting' | 'training' | 'nothing';

export interface PlaygroundState {
  work: Work;
  /** Parameters of the policy. */
  parameters: number;
  /** The questions of the test split. */
  questions: readonly string[];
  /** The chosen question's number. */
  question: number;
  rewardSpec: RewardSpec;
  episode?: PlayState;
  /** The right answer, once the episode is over. */
  rightAnswer?: string;
  /** Training steps since the weights were loaded. */
  steps: number;
  /** The metrics of these steps. */
  lines: readonly MetricsLine[];
  /** Seconds of the last step. */
  secondsPerStep?: number;
  /** What went wrong. */
  problem: string;
}
