/** scriptedSeats: who plays the other players of an environment while its oracle plays the first. */
import type { EnvHandle } from '@toolenv/core';
import type { AnyEnvDefinition } from './env-subject.ts';

/**
 * An oracle that lists its turns has those of the first player. So each player whom the oracle would play too is played by its first script: options
 * of the environment. `undefined` if there is none.
 */
export function scriptedSeats(
  definition: AnyEnvDefinition,
  opened: EnvHandle<unknown>,
  tasks: readonly unknown[],
): Record<string, string> | undefined {
  const { players = [] } = opened.episode().spec;
  const seats = players.flatMap((player) => {
    const script = definition.players?.[player]?.[0];
    return script === undefined ? [] : [[player, script] as const];
  });
  const isList = tasks.some((task) => Array.isArray(definition.oracle?.(task)));
  return isList && seats.length > 0 ? Object.fromEntries(seats) : undefined;
}
