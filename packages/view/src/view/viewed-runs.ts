/** ViewedRuns: the runs of a page, and what grows while it is open. */
import { basename, dirname, join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { type FoundRun, findRuns } from '../recorded/find-runs.ts';
import { type RunState, ViewedRun } from './viewed-run.ts';
import { visibleText } from './visible-text.ts';

/** Milliseconds between two looks at the files. */
const lookEvery = 500;
/** Of more runs, those in which nothing is new are looked at less often. */
const fewRuns = 50;
/** Looks at the files between two looks for new runs, and at such runs. */
const searchEvery = 10;

export class ViewedRuns {
  readonly #paths: readonly string[];
  readonly #all = new Map<string, ViewedRun>();
  readonly #listeners = new Set<(state: string) => void>();
  readonly #timer: NodeJS.Timeout;
  #shown = '';
  #looks = 0;

  /**
   * @param paths Runs, and folders of runs.
   * @throws ToolEnvError `usage.no_run` if a path neither is nor holds a run, or there is none.
   */
  constructor(paths: readonly string[]) {
    if (paths.length === 0) throw new ToolEnvError('usage.no_run', 'Give a run folder to view.');
    this.#paths = paths;
    this.#add(paths.flatMap(findRuns));
    this.#timer = setInterval(() => this.#look(), lookEvery);
    // Of many runs, a page is to show the names before all files are read.
    if (this.#all.size <= fewRuns) this.#look();
  }

  get all(): readonly ViewedRun[] {
    return [...this.#all.values()];
  }

  /** @throws ToolEnvError `usage.unknown_run`. */
  find(name: string | null): ViewedRun {
    const found = this.all.find((run) => run.name === name);
    if (found) return found;
    const names = this.all.map((run) => run.name).join(', ');
    throw new ToolEnvError('usage.unknown_run', `There is no run "${name}": give ${names}.`);
  }

  /** JSON of how much of each run has been read, by name. */
  get state(): string {
    const states: Record<string, RunState> = {};
    for (const run of this.all) states[run.name] = run.state;
    return JSON.stringify(states);
  }

  /** Calls `listener` with the {@link state}, now and when it changes. Returns a function that ends it. */
  follow(listener: (state: string) => void): () => void {
    listener(this.state);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Runs that have begun since in the folders that were given. A run that is gone stays, with what was read of it. */
  #search(): void {
    const found = this.#paths.flatMap((path) => {
      try {
        return findRuns(path);
      } catch {
        return [];
      }
    });
    this.#add(found);
  }

  #add(found: readonly FoundRun[]): void {
    const names = new Set(this.all.map(({ name }) => name));
    for (const run of found) {
      if (this.#all.has(run.path)) continue;
      const { path } = run;
      const short = visibleText(nameAmong(run, found));
      const name = names.has(short) ? visibleText(path) : short;
      try {
        this.#all.set(path, new ViewedRun(path, name));
        names.add(name);
      } catch (error) {
        // A run that begins or ends while it is looked for is found again.
        if (this.#looks === 0) throw error;
      }
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.all.map((run) => run.update()));
  }

  /** A large file is read over several looks, and what was read so far is shown. */
  #look(): void {
    this.#looks += 1;
    if (this.#looks % searchEvery === 0) this.#search();
    const looksAtAll = this.#looks % searchEvery === 0 || this.#all.size <= fewRuns;
    for (const run of this.all) if (looksAtAll || !run.isQuiet) void run.update();
    const { state } = this;
    if (state === this.#shown) return;
    this.#shown = state;
    for (const listener of this.#listeners) listener(state);
  }
}

/** Its name in the folder that was given, else the last part of the path; with the part before it if another run has the same. */
function nameAmong({ path, name }: FoundRun, all: readonly FoundRun[]): string {
  const short = name || basename(path);
  const isAlone = all.every((other) => other.path === path || (other.name || basename(other.path)) !== short);
  return isAlone ? short : join(basename(dirname(path)), basename(path));
}
