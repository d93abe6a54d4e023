/** The part `files`: a thousand damaged checkpoints, adapters, files of trajectories, manifests and notes of runs. Each is accepted, or refused in one line. */
import { join } from 'node:path';
import { scratchFolder } from '../../scratch-folder.ts';
import { type ChildEnd, inChild } from '../in-child.ts';
import { check, checkNone, type PartInput, type Reporter } from '../part.ts';
import type { FileCounts, FileRange } from './use-files.ts';

const kinds = ['checkpoints', 'adapters', 'trajectories', 'manifests', 'notes'] as const;
const count = { full: 1_000, quick: 60 };
/** Milliseconds for one file, after which it hangs. */
const patience = 20_000;
/** Megabytes of JavaScript heap, and of resident memory. The files have less than one. */
const [heap, mostMemory] = [1_024, 2_048];
/** Files that may end their process before the part gives up. */
const enough = 20;

export async function run({ quick, seed }: PartInput, { say, report }: Reporter): Promise<void> {
  const to = quick ? count.quick : count.full;
  await using root = await scratchFolder();
  for (const kind of kinds) {
    const started = performance.now();
    const { accepted, refused, wrong, memory } = await useAll({ kind, seed, from: 0, to, root: root.path });
    const seconds = (performance.now() - started) / 1000;
    say(`${kind}: ${accepted + refused} used`);
    const detail = `${accepted} accepted, ${refused} refused in one line, in ${seconds.toFixed(0)} s`;
    report(checkNone(`damaged ${kind}`, wrong, detail));
    report(check(`memory of ${kind}`, memory < mostMemory, `at most ${memory.toFixed(0)} MB`));
  }
}

type Totals = Omit<FileCounts, 'number' | 'damage'>;

/** Goes on in another process after a file that hangs or ends the process. */
async function useAll(range: FileRange): Promise<Totals> {
  const all: Totals = { accepted: 0, refused: 0, wrong: [], memory: 0 };
  const use = join(import.meta.dirname, 'use-files.ts');
  let from = range.from;
  for (let ended = 0; from < range.to && ended < enough; ended++) {
    let last: FileCounts | undefined;
    const say = (line: string) => {
      last = JSON.parse(line);
    };
    const limits = { limit: 600_000, patience, heap, say };
    const end = await inChild<FileCounts>(use, { ...range, from }, limits);
    const counts = end.kind === 'returned' ? end.value : last;
    if (counts) {
      all.accepted += counts.accepted;
      all.refused += counts.refused;
      all.wrong.push(...counts.wrong);
      all.memory = Math.max(all.memory, counts.memory);
    }
    if (end.kind === 'returned') {
      all.wrong.push(...end.escapes);
      return all;
    }
    all.wrong.push(`number ${counts?.number ?? from} (${counts?.damage}) ${endText(end)}`);
    from = (counts?.number ?? from) + 1;
  }
  return all;
}

function endText(end: Exclude<ChildEnd, { kind: 'returned' }>): string {
  if (end.kind === 'hung') return `hangs for ${end.limit / 1000} s`;
  if (end.kind === 'died') return `ends the process: ${end.how} ${end.output.slice(-200)}`;
  return `throws out of the harness: ${end.message}`;
}
