/** Demonstrations of household-v1: look into one receptacle after another, then treat and place what was found. */
import type { Rng, Script } from '@toolenv/core';
import { describeGoal, type Goal } from '../../../packages/envs-classic/src/household/goal.ts';
import { type House, kindOf, treatments } from '../../../packages/envs-classic/src/household/house.ts';
import type { LibraryPlayer } from './player.ts';

interface HouseholdTask {
  goal: Goal;
  house: House;
}

export const household: LibraryPlayer<HouseholdTask> = {
  ref: '@toolenv/envs-classic/household-v1',
  // The whole episode is one row of tokens.
  options: { keptTurns: 30 },
  maxTokens: 24,
  success: 'done',
  goal: ({ goal }) => describeGoal(goal),
  play: ({ goal, house }, careless, rng): Script => {
    const commands = agent(careless ? mistaken(goal, rng) : goal, house.receptacles);
    return ({ messages }) => commands.next(messages.at(-1)!.content).value ?? 'look';
  },
};

/** Forgets the treatment or one of two objects, or takes another receptacle. */
function mistaken(goal: Goal, rng: Rng): Goal {
  const { object, count, target } = goal;
  if (goal.treatment && rng.float() < 0.7) return { object, count, target };
  if (count === 2 && rng.float() < 0.5) return { ...goal, count: 1 };
  return { ...goal, target: rng.pick(['countertop', 'desk', 'diningtable', 'shelf']) };
}

/** The commands of an agent that reads each reply. */
function* agent({ object, count, treatment, target }: Goal, receptacles: readonly string[]) {
  const places = receptacles.filter((name) => kindOf(name) !== target);
  const goal = receptacles.find((name) => kindOf(name) === target)!;
  const appliance = treatment && `${treatments[treatment].appliance} 1`;
  let left = count;
  let reply = '';
  /** Goes to a receptacle and opens it if it is closed. */
  function* visit(place: string): Generator<string, void, string> {
    reply = yield `go to ${place}`;
    if (reply.endsWith('It is closed.')) reply = yield `open ${place}`;
  }
  for (const place of places) {
    yield* visit(place);
    for (;;) {
      const found = new RegExp(`\\b${object} \\d+`).exec(reply)?.[0];
      if (!found) break;
      const rest = reply.replace(found, '');
      yield `take ${found} from ${place}`;
      if (appliance) {
        yield `go to ${appliance}`;
        yield `${treatment} ${found} with ${appliance}`;
      }
      yield* visit(goal);
      yield `put ${found} in/on ${goal}`;
      left -= 1;
      if (left === 0) return;
      if (!new RegExp(`\\b${object} \\d+`).test(rest)) break;
      yield* visit(place);
    }
  }
}
