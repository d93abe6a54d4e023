/** Demonstrations of safe-v1, the environment of the template: the bounds of the code, then a try halfway between them. */
import type { Script } from '@toolenv/core';
import safeEnv from '../../../templates/env/src/safe-v1.ts';
import type { LibraryPlayer } from './player.ts';

interface Task {
  code: number;
}

export const safe: LibraryPlayer<Task> = {
  ref: safeEnv,
  options: {},
  maxTokens: 48,
  success: 'opened',
  /** The code without its last digit. */
  goal: ({ code }) => String(Math.floor(code / 10)),
  play: (task) => tries(task, () => false),
  /** Answers too early in most episodes, so that a first run has something to learn. */
  playByHabit: (task, rng) => tries(task, () => rng.float() < 1 / 8),
};

/** Where bounds are farther apart than this, the try is a multiple of ten. */
const far = 40;

/** Tries the code halfway, until it is found. Who loses patience answers with it instead. */
function tries({ code }: Task, losesPatience: () => boolean): Script {
  let [above, below] = [99, 1000];
  let tried: number | undefined;
  return () => {
    if (tried === code) return String(code);
    if (tried !== undefined) [above, below] = tried < code ? [tried, below] : [above, tried];
    const middle = (above + below) / 2;
    tried = below - above > far ? 10 * Math.round(middle / 10) : Math.floor(middle);
    if (losesPatience()) return String(tried);
    const toolCalls = [{ id: 'try', name: 'try_code', arguments: { code: tried } }];
    return { text: `${above} to ${below}`, stopReason: 'tool_call', toolCalls };
  };
}
