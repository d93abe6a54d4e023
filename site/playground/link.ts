/** The address of the playground with everything that a reader can set, so that a link shows another reader the same. */

/** What a link carries. */
export interface Setup {
  /** Number of the question. */
  question: number;
  /** Steps that the button "Train" trains. */
  steps: number;
  /** Seeds the tasks and samples of training. */
  seed: number;
  /** TypeScript of the reward; empty for the rewards of the environment. */
  reward: string;
  /** TypeScript of the environment; empty for that of the playground. */
  environment: string;
}

export const maxSteps = 200;
const maxSeed = 2 ** 31 - 1;

const first: Setup = { question: 0, steps: 10, seed: 1, reward: '', environment: '' };

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
    reward: fields.get('reward') ?? '',
    environment: fields.get('environment') ?? '',
  };
}

/** The hash of an address, with `#`. Defaults are left out. */
export function writeSetup(setup: Setup): string {
  const fields = Object.entries(setup).filter(([name, value]) => value !== first[name as keyof Setup]);
  return `#${new URLSearchParams(fields.map(([name, value]): [string, string] => [name, String(value)]))}`;
}
