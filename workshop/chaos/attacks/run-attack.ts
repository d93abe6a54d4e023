/** Runs one attack, in a process that can be ended. */
import { areas } from './areas.ts';

export interface AttackInput {
  area: string;
  name: string;
  folder: string;
}

export async function run({ area, name, folder }: AttackInput): Promise<void> {
  await areas[area]!.find((attack) => attack.name === name)!.run(folder);
}
