/** Runs attacks of an area one after another, in a process that can be ended. */
import type { Reporter } from '../part.ts';
import type { Attack } from './attack.ts';

export interface AttackInput {
  area: string;
  /** Each has an empty folder of its own. */
  attacks: { name: string; folder: string }[];
}

export async function run({ area, attacks }: AttackInput, { say }: Reporter): Promise<void> {
  // Only the module of the area: to load all of them takes longer than most attacks.
  const known: Record<string, readonly Attack[]> = await import(`./${area}.ts`);
  for (const { name, folder } of attacks) {
    await known[area]!.find((attack) => attack.name === name)!.run(folder);
    say(name);
  }
}
