/** The parts of the soak by name, in the order in which they run. */
import { join } from 'node:path';

export interface Part {
  name: string;
  /** What the part does, for the help and the report. */
  does: string;
  /** Minutes after which the part counts as hung, in full and with --quick. */
  minutes: { full: number; quick: number };
}

export const parts: readonly Part[] = [
  {
    name: 'episodes',
    does: 'plays episodes whose tools, servers, agents and environment fail in every way',
    minutes: { full: 8, quick: 2 },
  },
  {
    name: 'parsers',
    does: 'reads 200,000 fuzzed texts in each format of tool calls',
    minutes: { full: 12, quick: 3 },
  },
  {
    name: 'files',
    does: 'reads a thousand damaged checkpoints, adapters, files of trajectories, manifests and notes of runs',
    minutes: { full: 10, quick: 2 },
  },
  {
    name: 'hunt',
    does: 'lets programs that are agents look for the answers of their tasks, wherever they get to',
    minutes: { full: 5, quick: 2 },
  },
  {
    name: 'code',
    does: 'plays episodes of code-v1, two at a time, whose models attack and whose interpreters fail',
    minutes: { full: 30, quick: 2 },
  },
  {
    name: 'harbor',
    does: 'plays episodes of harbor-v1 in containers, two at a time, whose agents attack or leave',
    minutes: { full: 60, quick: 4 },
  },
  {
    name: 'kills',
    does: 'kills training of GRPO and PPO at random moments, resumes it, and compares the results bit for bit',
    minutes: { full: 15, quick: 3 },
  },
  {
    name: 'engine',
    does: "kills, stops and starves libtorch's process while a run learns on it, and compares the results bit for bit; skipped without PyTorch",
    minutes: { full: 20, quick: 3 },
  },
  {
    name: 'pauses',
    does: 'starts a second process in the folder of the first, whose process it may not see, and holds the first up meanwhile',
    minutes: { full: 10, quick: 3 },
  },
  {
    name: 'dodges',
    does: 'plays policies that try to abort their own episode, in each tool and sandbox that runs their code',
    minutes: { full: 20, quick: 4 },
  },
];

/** The module that exports the part's `run`. */
export function moduleOf({ name }: Part): string {
  return join(import.meta.dirname, name, `${name}.ts`);
}
