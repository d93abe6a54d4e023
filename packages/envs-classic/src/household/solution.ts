/** The commands that reach a goal, for an agent that knows where everything is. */
import type { Goal } from './goal.ts';
import { type House, isClosable, kindOf, treatments } from './house.ts';

export function solution(
  { receptacles, objects }: House,
  { object, count, treatment, target }: Goal,
): string[] {
  const reach = (place: string) => [`go to ${place}`, ...(isClosable(place) ? [`open ${place}`] : [])];
  const appliance = treatment && `${treatments[treatment].appliance} 1`;
  const goal = receptacles.find((name) => kindOf(name) === target)!;
  return Object.entries(objects)
    .filter(([name]) => kindOf(name) === object)
    .slice(0, count)
    .flatMap(([name, place]) => [
      ...reach(place),
      `take ${name} from ${place}`,
      ...(appliance ? [`go to ${appliance}`, `${treatment} ${name} with ${appliance}`] : []),
      ...reach(goal),
      `put ${name} in/on ${goal}`,
    ]);
}
