/**
 * Leases: which worker plays which group, so that the groups of a worker that dies are played by another worker.
 *
 * A lease is a file that names its worker. Turn 0 of a group is its first lease. If that worker is gone, turn 1 is the next: making
 * the file of a turn is atomic, so a single worker takes over. A worker is gone if its heartbeat file is gone, or if this process
 * has seen the same heartbeat for the whole expiry. Each process measures that with its own clock, so clocks need not agree.
 *
 * A worker that was only held up may still finish a group that another worker has taken over. Both may play it; only one of them
 * can write it.
 */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomic } from '@toolenv/core/files';
import type { SharedFolder } from './shared-folder.ts';
import { removeGroups, writeOnce } from './shared-folder.ts';

export interface LeaseOptions {
  /** Name of this worker, unlike any other's and unlike that of an earlier start. */
  worker: string;
  /** Milliseconds without a new heartbeat after which a worker counts as gone. */
  expiry: number;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
}

export class Leases {
  readonly #folder: Pick<SharedFolder, 'leases' | 'workers'>;
  readonly #options: Required<LeaseOptions>;
  /** The heartbeats of other workers as they were first seen. */
  readonly #seen: Map<string, { beat: string; since: number }> = new Map();
  /** The turn of each group that this worker holds. */
  readonly #held: Map<number, number> = new Map();
  #beats = 0;
  #beating: Promise<void> | undefined;
  /** Leases of workers that were gone. */
  takenOver = 0;

  constructor(folder: Pick<SharedFolder, 'leases' | 'workers'>, options: LeaseOptions) {
    this.#folder = folder;
    this.#options = { now: () => performance.now(), ...options };
  }

  /** Says that this worker lives. To be called before the first claim, and several times within the expiry. */
  beat(): Promise<void> {
    const file = join(this.#folder.workers, this.#options.worker);
    this.#beating ??= writeAtomic(file, String(++this.#beats)).finally(() => {
      this.#beating = undefined;
    });
    return this.#beating;
  }

  /** Whether this worker now holds the group. `false` if a worker that lives holds it, this worker included. */
  async claim(group: number): Promise<boolean> {
    let turn = 0;
    let holder = await readIfExists(this.#file(group, turn));
    while (holder !== undefined) {
      // Only the worker of the last turn counts.
      const next = await readIfExists(this.#file(group, turn + 1));
      if (next === undefined && (await this.#isAlive(holder))) return false;
      turn += 1;
      holder = next;
    }
    // If it fails, another worker was faster.
    if (!(await writeOnce(this.#file(group, turn), this.#options.worker))) return false;
    this.#held.set(group, turn);
    if (turn > 0) this.takenOver += 1;
    return true;
  }

  /** Gives up a group that is finished, or that another worker may play. */
  async release(group: number): Promise<void> {
    const last = this.#held.get(group);
    if (last === undefined) return;
    for (let turn = 0; turn <= last; turn++) await rm(this.#file(group, turn), { force: true });
    this.#held.delete(group);
  }

  /** Removes the leases of finished groups: a worker that is killed after it wrote a group cannot give it up. */
  async removeFinished(groups: ReadonlySet<number>): Promise<void> {
    // Not what another worker is writing.
    await removeGroups(this.#folder.leases, (group) => groups.has(group), /^(\d+)\.\d+$/);
  }

  /** Ends the heartbeat: other workers take over at once what this worker still holds. */
  async close(): Promise<void> {
    await this.#beating?.catch(() => {});
    await rm(join(this.#folder.workers, this.#options.worker), { force: true });
  }

  async #isAlive(worker: string): Promise<boolean> {
    if (worker === this.#options.worker) return true;
    const beat = worker === '' ? undefined : await readIfExists(join(this.#folder.workers, worker));
    if (beat === undefined) return false;
    const now = this.#options.now();
    const seen = this.#seen.get(worker);
    if (seen?.beat === beat) return now - seen.since <= this.#options.expiry;
    this.#seen.set(worker, { beat, since: now });
    return true;
  }

  #file(group: number, turn: number): string {
    return join(this.#folder.leases, `${group}.${turn}`);
  }
}

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
