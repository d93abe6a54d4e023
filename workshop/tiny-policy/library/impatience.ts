/** impatient: a player who loses patience now and then, and ends the episode too early. */
import type { Rng, Script, Scripted } from '@toolenv/core';

export interface Impatience {
  /** Probability in each turn. Below 1/2, so that the likeliest turn is the right turn. */
  chance: number;
  /**
   * What the player says then. `undefined`: it goes on.
   * @param next What the player would have said.
   * @param last The text of the last message.
   */
  end(next: Scripted, last: string, turn: number): Scripted | undefined;
}

export function impatient(play: Script, { chance, end }: Impatience, rng: Rng): Script {
  return async (observation, turn) => {
    const next = await play(observation, turn);
    const ended = rng.float() < chance ? end(next, observation.messages.at(-1)!.content, turn) : undefined;
    return ended ?? next;
  };
}
