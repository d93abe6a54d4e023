/** The part `attacks`: each known attack, for real, in a process of its own. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChildEnd, inChild } from '../in-child.ts';
import { type Check, check, type PartInput, type Reporter } from '../part.ts';
import { areas } from './areas.ts';
import type { Attack } from './attack.ts';
import type { AttackInput } from './run-attack.ts';

/** Milliseconds of an attack, after which it counts as hung. */
const limit = 60_000;
/** Megabytes of JavaScript heap. */
const heap = 1_024;

export async function run({ quick }: PartInput, { say, report }: Reporter): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'toolenv-attacks-'));
  const all = Object.entries(areas).flatMap(([area, attacks]) =>
    attacks.filter(({ slow }) => !quick || !slow).map((attack) => ({ area, attack })),
  );
  const waiting = all.entries();
  const results = new Map<number, Check>();
  let reported = 0;
  try {
    // More at once than there are cores, because most attacks wait for a time-out; reported in the order of the table.
    await Promise.all(
      Array.from({ length: 2 * availableParallelism() }, async () => {
        for (const [index, { area, attack }] of waiting) {
          const folder = join(root, String(index));
          await mkdir(folder);
          const started = performance.now();
          results.set(index, await attempt(area, attack, folder));
          const seconds = ((performance.now() - started) / 1000).toFixed(1);
          say(`${area}: ${attack.name} (${seconds} s)`);
          for (; results.has(reported); reported++) report(results.get(reported)!);
        }
      }),
    );
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function attempt(area: string, { name, attack, expected }: Attack, folder: string): Promise<Check> {
  const input: AttackInput = { area, name, folder };
  const end = await inChild(join(import.meta.dirname, 'run-attack.ts'), input, { limit, heap });
  const instead = resultOf(end);
  const what = `${attack[0]!.toUpperCase()}${attack.slice(1)}`;
  return check(`${area}: ${name}`, instead === undefined, `${what}: ${instead ?? expected}.`);
}

/** What happened instead of what must; `undefined` if the attack came to nothing. */
function resultOf(end: ChildEnd): string | undefined {
  if (end.kind === 'hung') return `nothing happened for ${end.limit / 1000} s`;
  if (end.kind === 'died') return `the process died (${end.how})`;
  if (end.kind === 'threw') return end.message.slice(0, 300);
  return end.escapes.length > 0 ? `escaped: ${end.escapes[0]}` : undefined;
}
