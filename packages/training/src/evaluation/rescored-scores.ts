/** RescoredScores: what other rewards change in the scores of recorded episodes. */
import type { Trajectory } from '@toolenv/core';
import { mean } from '../rows/averages.ts';
import type { Estimate } from './confidence-interval.ts';
import { digestOf } from './evaluated-task.ts';
import { pairedDifference } from './paired-difference.ts';

/** A component, or the weighted reward. Means are over episodes that have a score. */
export interface RescoredScore {
  /** `null` if no episode was scored. */
  before: number | null;
  after: number | null;
  /** after − before, over tasks. `null` unless both have scores of a task. */
  difference: Estimate | null;
}

export interface RescoredSummary {
  episodes: number;
  /** Episodes that infrastructure faults ended. They have no scores. */
  aborted: number;
  /** Episodes whose weighted reward changed. */
  changed: number;
  reward: RescoredScore;
  /** The recorded components first, then the new components. */
  components: Record<string, RescoredScore>;
}

type Sides = Record<'before' | 'after', Map<string, number[]>>;

export class RescoredScores {
  readonly #reward: Sides = newSides();
  readonly #components: Map<string, Sides> = new Map();
  #episodes = 0;
  #aborted = 0;
  #changed = 0;

  /** @param after The same episode, scored again. */
  add(before: Trajectory<unknown>, after: Trajectory<unknown>): void {
    this.#episodes += 1;
    if (after.outcome.kind === 'aborted') {
      this.#aborted += 1;
      return;
    }
    if (!Object.is(before.reward, after.reward)) this.#changed += 1;
    const task = digestOf(after.task);
    for (const [side, { reward, rewards }] of Object.entries({ before, after })) {
      note(this.#reward[side as keyof Sides], task, reward);
      for (const [name, value] of Object.entries(rewards)) {
        const sides = this.#components.get(name) ?? newSides();
        this.#components.set(name, sides);
        note(sides[side as keyof Sides], task, value);
      }
    }
  }

  summary(): RescoredSummary {
    const components = [...this.#components].map(([name, sides]) => [name, scoreOf(sides)] as const);
    return {
      ...{ episodes: this.#episodes, aborted: this.#aborted, changed: this.#changed },
      reward: scoreOf(this.#reward),
      components: Object.fromEntries(components),
    };
  }
}

const newSides = (): Sides => ({ before: new Map(), after: new Map() });

function note(scores: Map<string, number[]>, task: string, value: number | null): void {
  if (value === null) return;
  const values = scores.get(task);
  if (values) values.push(value);
  else scores.set(task, [value]);
}

function scoreOf({ before, after }: Sides): RescoredScore {
  const tasks = [...new Set([...before.keys(), ...after.keys()])];
  const meanOf = (scores: Map<string, number[]>) =>
    scores.size === 0 ? null : mean([...scores.values()].flat());
  const paired = (scores: Map<string, number[]>) => tasks.map((task) => scores.get(task));
  return {
    before: meanOf(before),
    after: meanOf(after),
    difference: pairedDifference(paired(before), paired(after)),
  };
}
