/** Demonstrations of safe-v1, the environment of the template: the bounds of the code, then a try halfway between them. */
import type { Rng, Script } from '@toolenv/core';
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
  play: tries,
};

/** Where bounds are farther apart than this, the try is a multiple of ten. */
const far = 40;

/** Tries the code halfway, until it is found. A hasty player answers with it instead. */
function tries({ code }: Task, rng: Rng, isHasty = false): Script {
  let [above, below] = [99, 1000];
  let tried: number | undefined;
  return () => {
    if (tried === code) return String(code);
    if (tried !== undefined) [above, below] = tried < code ? [tried, below] : [above, tried];
    const middle = (above + below) / 2;
    tried = below - above > far ? 10 * Math.round(middle / 10) : Math.floor(middle);
    if (isHasty && rng.float() < 1 / 8) return String(tried);
    const toolCalls = [{ id: 'try', name: 'try_code', arguments: { code: tried } }];
    return { text: `${above} to ${below}`, stopReason: 'tool_call', toolCalls };
  };
}
