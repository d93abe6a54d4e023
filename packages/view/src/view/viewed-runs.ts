/** ViewedRuns: the runs of a page, and what grows while it is open. */
import { basename, dirname, join, resolve } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { comparedRuns } from '../recorded/recorded-run.ts';
import { type RunState, ViewedRun } from './viewed-run.ts';

/** Milliseconds between two looks at the files. */
const lookEvery = 500;

export class ViewedRuns {
  readonly all: readonly ViewedRun[];
  readonly #listeners = new Set<(state: string) => void>();
  readonly #timer: NodeJS.Timeout;
  #shown = '';

  /** @throws ToolEnvError `usage.no_run` if a path is not a run, or there is none. */
  constructor(paths: readonly string[]) {
    if (paths.length === 0) throw new ToolEnvError('usage.no_run', 'Give a run folder to view.');
    const full = [...new Set(paths.map((path) => resolve(path)).flatMap(eachRun))];
    this.all = full.map((path) => new ViewedRun(path, nameAmong(path, full)));
    this.#timer = setInterval(() => this.#look(), lookEvery);
    this.#look();
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

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.all.map((run) => run.update()));
  }

  /** A large file is read over several looks, and what was read so far is shown. */
  #look(): void {
    for (const run of this.all) void run.update();
    const { state } = this;
    if (state === this.#shown) return;
    this.#shown = state;
    for (const listener of this.#listeners) listener(state);
  }
}

/** A folder that compares policies stands for the folder of each. */
function eachRun(path: string): string[] {
  const compared = comparedRuns(path);
  return compared.length > 0 ? compared : [path];
}

/** The last part of the path; with the part before it if another run has the same. */
function nameAmong(path: string, all: readonly string[]): string {
  const isAlone = all.every((other) => other === path || basename(other) !== basename(path));
  return isAlone ? basename(path) : join(basename(dirname(path)), basename(path));
}
