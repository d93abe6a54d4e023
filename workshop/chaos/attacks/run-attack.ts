/** Runs one attack, in a process that can be ended. */
import type { Attack } from './attack.ts';

export interface AttackInput {
  area: string;
  name: string;
  folder: string;
}

export async function run({ area, name, folder }: AttackInput): Promise<void> {
  // Only the module of the area: to load all of them takes longer than most attacks.
  const attacks: Record<string, readonly Attack[]> = await import(`./${area}.ts`);
  await attacks[area]!.find((attack) => attack.name === name)!.run(folder);
}
