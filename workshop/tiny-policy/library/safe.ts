/** Demonstrations of safe-v1, the environment of the template: the bounds of the code, then a try between them. */
import type { Rng, Script } from '@toolenv/core';
import safeEnv from '../../../templates/env/src/safe-v1.ts';
import type { LibraryPlayer } from './player.ts';

interface Task {
  code: number;
}

type Choose = (above: number, below: number) => number;

export const safe: LibraryPlayer<Task> = {
  ref: safeEnv,
  options: {},
  maxTokens: 48,
  success: 'opened',
  /** The code without its last digit. */
  goal: ({ code }) => String(Math.floor(code / 10)),
  play: (task) => tries(task, halfway),
  /** Tries any code that may be right, and runs out of turns in half of the episodes, so that a first run has something to learn. */
  playByHabit: (task, rng) => tries(task, anywhere(rng)),
};

function tries({ code }: Task, choose: Choose): Script {
  let [above, below] = [99, 1000];
  let tried: number | undefined;
  return () => {
    if (tried === code) return String(code);
    if (tried !== undefined) [above, below] = tried < code ? [tried, below] : [above, tried];
    tried = choose(above, below);
    const toolCalls = [{ id: 'try', name: 'try_code', arguments: { code: tried } }];
    return { text: `${above} to ${below}`, stopReason: 'tool_call', toolCalls };
  };
}

/** Where bounds are farther apart than this, the try is a multiple of ten. */
const far = 40;

function halfway(above: number, below: number): number {
  const middle = (above + below) / 2;
  return below - above > far ? 10 * Math.round(middle / 10) : Math.floor(middle);
}

function anywhere(rng: Rng): Choose {
  return (above, below) => above + 1 + rng.int(below - above - 1);
}
