/** The address of the playground with everything that a reader can set, so that a link shows another reader the same. */

import type { Training } from './messages.ts';

/** What a link carries. */
export interface Setup {
  /** Number of the question. */
  question: number;
  /** Steps that the button "Train" trains. */
  steps: number;
  /** Seeds the tasks and samples of training. */
  seed: number;
  /** Trainings that made the policy of the link; `8.1_4.1` are 8 steps with seed 1, and 4 more. */
  trained: readonly Training[];
  /** A short name of the weights that they made. */
  weights: string;
  /** TypeScript of the reward; empty for the rewards of the environment. */
  reward: string;
  /** TypeScript of the environment; empty for that of the playground. */
  environment: string;
}

export const maxSteps = 200;
const maxSeed = 2 ** 31 - 1;

const first: Setup = {
  question: 0,
  steps: 10,
  seed: 1,
  trained: [],
  weights: '',
  reward: '',
  environment: '',
};

/** @param hash Of an address, with `#`. What is missing or out of its range has its default. */
export function readSetup(hash: string): Setup {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const number = (name: 'question' | 'steps' | 'seed', least: number, most: number) => {
    const text = fields.get(name);
    const value = Number(text);
    return text !== null && Number.isInteger(value) && value >= least && value <= most ? value : first[name];
  };
  return {
    question: number('question', 0, maxSeed),
    steps: number('steps', 1, maxSteps),
    seed: number('seed', 0, maxSeed),
    trained: readTrainings(fields.get('trained') ?? ''),
    weights: /^[0-9a-f]{12}$/.exec(fields.get('weights') ?? '')?.[0] ?? '',
    reward: fields.get('reward') ?? '',
    environment: fields.get('environment') ?? '',
  };
}

/** None if a reader cannot have set one of them, or they are too long for a reader who did not ask for them. */
function readTrainings(text: string): Training[] {
  const read = text
    .split('_')
    .map((each) => /^(\d{1,3})\.(\d{1,10})$/.exec(each)?.slice(1).map(Number) ?? []);
  const trainings = read.map(([steps = 0, seed = 0]) => ({ steps, seed }));
  const isSound = trainings.every(({ steps, seed }) => steps >= 1 && steps <= maxSteps && seed <= maxSeed);
  const sum = trainings.reduce((total, { steps }) => total + steps, 0);
  return isSound && sum <= maxSteps ? trainings : [];
}

/** The hash of an address, with `#`. Defaults are left out. */
export function writeSetup({ trained, ...setup }: Setup): string {
  const trainings = trained.map(({ steps, seed }) => `${steps}.${seed}`).join('_');
  const fields = Object.entries({ ...setup, trained: trainings }).filter(
    ([name, value]) => value !== '' && value !== first[name as keyof Setup],
  );
  return `#${new URLSearchParams(fields.map(([name, value]): [string, string] => [name, String(value)]))}`;
}
