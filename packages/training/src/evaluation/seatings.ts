/** seatings: who sits where in the games of a tournament. */

/**
 * Every table of entrants, in each rotation of its seats: in each table, every entrant has every seat equally often. Where there are more
 * entrants than seats, each choice of entrants is a table; where there are fewer, they share the seats as evenly as possible.
 * @param entrants At least two.
 * @param seats At least two.
 * @returns The entrant of each seat.
 */
export function seatings(entrants: readonly string[], seats: number): string[][] {
  const each = Math.floor(seats / entrants.length);
  const tables = choices(entrants, seats % entrants.length).map((more) =>
    entrants.flatMap((name) => Array<string>(each + (more.includes(name) ? 1 : 0)).fill(name)),
  );
  const rotations = tables.flatMap((table) =>
    table.map((_, by) => [...table.slice(by), ...table.slice(0, by)]),
  );
  return [...new Map(rotations.map((seating) => [JSON.stringify(seating), seating])).values()];
}

/** Every choice of `count` of the names. */
function choices(names: readonly string[], count: number): string[][] {
  if (count === 0) return [[]];
  return names.flatMap((name, at) =>
    choices(names.slice(at + 1), count - 1).map((others) => [name, ...others]),
  );
}
