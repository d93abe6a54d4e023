/** Goals: objects of a kind that must come, cleaned, hot or cold, to a receptacle of a kind. */
import { kindOf, objectKinds, preposition, receptacleKinds, type Treatment, treatments } from './house.ts';
import type { World } from './world.ts';

export interface Goal {
  /** Kind of the objects. */
  object: string;
  /** Number of objects: 1 or 2. */
  count: number;
  treatment?: Treatment;
  /** Kind of the receptacle. */
  target: string;
}

/** All goals, as in ALFWorld: pick and place, pick two and place, and clean, heat or cool and place. */
export const goals: readonly Goal[] = Object.entries(objectKinds).flatMap(([object, allowed]) =>
  receptacleKinds.flatMap((target): Goal[] => [
    { object, count: 1, target },
    { object, count: 2, target },
    ...allowed
      .filter((treatment) => treatments[treatment].appliance !== target)
      .map((treatment) => ({ object, count: 1, treatment, target })),
  ]),
);

export function describeGoal({ object, count, treatment, target }: Goal): string {
  const state = treatment ? `${treatments[treatment].state} ` : '';
  const plural = object.endsWith('o') ? `${object}es` : `${object}s`;
  const article = /^[aeiou]/.test(`${state}${object}`) ? 'an' : 'a';
  const what = count === 2 ? `two ${plural}` : `${article} ${state}${object}`;
  return `put ${what} ${preposition(target)} the ${target}`;
}

/** The sub-goals of an object: it was taken, it has the state, it lies where it should. */
function achieved({ treatment, target }: Goal, world: World, object: string): number {
  const isReady = !treatment || world.stateOf(object) === treatments[treatment].state;
  const isPlaced = isReady && kindOf(world.placeOf(object)) === target;
  return Number(world.taken.has(object)) + Number(treatment !== undefined && isReady) + Number(isPlaced);
}

/** The share of the sub-goals that are achieved now; 1 if the goal is reached. */
export function progress(goal: Goal, world: World): number {
  const each = world.objects
    .filter((object) => kindOf(object) === goal.object)
    .map((object) => achieved(goal, world, object))
    .sort((a, b) => b - a)
    .slice(0, goal.count);
  const all = (goal.treatment ? 3 : 2) * goal.count;
  return each.reduce((sum, count) => sum + count, 0) / all;
}
