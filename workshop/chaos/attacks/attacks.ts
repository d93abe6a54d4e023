/** The part `attacks`: each known attack, for real, in a process that it can harm. */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChildEnd, inChild } from '../in-child.ts';
import { type Check, check, type PartInput, type Reporter } from '../part.ts';
import { areas, sharing } from './areas.ts';
import type { Attack } from './attack.ts';
import type { AttackInput } from './run-attack.ts';

/** Milliseconds of an attack, after which it counts as hung. */
const limit = 60_000;
/** Megabytes of JavaScript heap. */
const heap = 1_024;

interface Planned {
  /** Its place in the report. */
  index: number;
  area: string;
  attack: Attack;
}

export async function run({ quick }: PartInput, { say, report }: Reporter): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'toolenv-attacks-'));
  const all = Object.entries(areas).flatMap(([area, attacks]) =>
    attacks.filter(({ slow }) => !quick || !slow).map((attack) => ({ area, attack })),
  );
  const groups = groupsOf(
    all.map((each, index) => ({ index, ...each })),
    quick,
  ).values();
  const results = new Map<number, Check>();
  let reported = 0;
  try {
    // More at once than there are cores, because most attacks wait for a time-out; reported in the order of the table.
    await Promise.all(
      Array.from({ length: 2 * availableParallelism() }, async () => {
        for (const group of groups) {
          const started = performance.now();
          for (const [index, result] of await attemptAll(group, root)) results.set(index, result);
          const seconds = ((performance.now() - started) / 1000).toFixed(1);
          const names = group.map(({ attack }) => attack.name).join(', ');
          say(`${group[0]!.area}: ${names} (${seconds} s)`);
          for (; results.has(reported); reported++) report(results.get(reported)!);
        }
      }),
    );
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** The attacks of each process. A process takes longer to start than most attacks, so that they share it in --quick where they can. */
function groupsOf(planned: readonly Planned[], quick: boolean): Planned[][] {
  const shares = ({ area, attack }: Planned) => quick && sharing.has(area) && !attack.alone;
  const shared = [...sharing].map((name) => planned.filter((each) => shares(each) && each.area === name));
  const others = planned.filter((each) => !shares(each)).map((each) => [each]);
  return [...shared.filter(({ length }) => length > 0), ...others];
}

/** If anything happens in a process that several attacks share, each of them has a process of its own, which shows whose fault it is. */
async function attemptAll(group: readonly Planned[], root: string): Promise<[index: number, Check][]> {
  const instead = await resultOfAll(group, root);
  if (group.length === 1 || instead === undefined)
    return group.map((each) => [each.index, checkOf(each, instead)]);
  const results: [number, Check][] = [];
  for (const each of group) results.push([each.index, checkOf(each, await resultOfAll([each], root))]);
  return results;
}

function checkOf({ area, attack: { name, attack, expected } }: Planned, instead: string | undefined): Check {
  const what = `${attack[0]!.toUpperCase()}${attack.slice(1)}`;
  return check(`${area}: ${name}`, instead === undefined, `${what}: ${instead ?? expected}.`);
}

/** What happened instead of what must in a process with these attacks; `undefined` if all of them came to nothing. */
async function resultOfAll(group: readonly Planned[], root: string): Promise<string | undefined> {
  const attacks: AttackInput['attacks'] = [];
  for (const { attack } of group)
    attacks.push({ name: attack.name, folder: await mkdtemp(join(root, 'attack-')) });
  const input: AttackInput = { area: group[0]!.area, attacks };
  const limits = { limit: limit * group.length, patience: limit, heap };
  return resultOf(await inChild(join(import.meta.dirname, 'run-attack.ts'), input, limits));
}

/** What happened instead of what must; `undefined` if the attack came to nothing. */
function resultOf(end: ChildEnd): string | undefined {
  if (end.kind === 'hung') return `nothing happened for ${end.limit / 1000} s`;
  if (end.kind === 'died') return `the process died (${end.how})`;
  if (end.kind === 'threw') return end.message.slice(0, 300);
  return end.escapes.length > 0 ? `escaped: ${end.escapes[0]}` : undefined;
}
