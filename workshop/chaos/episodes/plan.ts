/** What goes wrong in an episode, drawn from its seed. */
import { createRng } from '@toolenv/core';
import { type Fault, faults } from './faults.ts';

/** Share of the calls with a fault of each kind. */
export const shares = { throws: 0.2, hangs: 0.05, huge: 0.05, malformed: 0.05, reports: 0.05 } as const;

/** Faults of the environment and of the policy, outside of the tools, and the share of the episodes with each. */
export const episodeFaults = {
  'close hangs': 0.01,
  'close throws': 0.01,
  'endEpisode throws': 0.01,
  'endEpisode rejects': 0.01,
  'endEpisode hangs': 0.01,
  'reset fails': 0.01,
  'reward is NaN': 0.01,
  'reward is a text': 0.01,
  'onAnswer throws': 0.01,
} as const;

export type EpisodeFault = keyof typeof episodeFaults;

export interface EpisodePlan {
  /** The calls of each turn. `undefined`: the tool answers as it should. */
  turns: (Fault | undefined)[][];
  episodeFault?: EpisodeFault;
  /** Whether the answer is right. */
  right: boolean;
}

/** One to three turns of one or two calls. */
export function drawPlan(seed: number, number: number): EpisodePlan {
  const rng = createRng(seed, 'plan', number);
  const turns = Array.from({ length: 1 + rng.int(3) }, () =>
    Array.from({ length: 1 + rng.int(2) }, () => drawCall(rng.float(), rng.float())),
  );
  return { turns, episodeFault: drawEpisodeFault(rng.float()), right: rng.float() < 0.5 };
}

function drawCall(kind: number, which: number): Fault | undefined {
  let below = 0;
  for (const [name, share] of Object.entries(shares)) {
    below += share;
    if (kind >= below) continue;
    const ofKind = faults.filter((fault) => fault.kind === name);
    return ofKind[Math.floor(which * ofKind.length)];
  }
  return undefined;
}

function drawEpisodeFault(drawn: number): EpisodeFault | undefined {
  let below = 0;
  for (const [name, share] of Object.entries(episodeFaults)) {
    below += share;
    if (drawn < below) return name as EpisodeFault;
  }
  return undefined;
}
