/** ViewedRun: a run that the page shows, read as it grows. */
import { existsSync, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import type { TokenReport } from '@toolenv/core/plugins';
import { tryObject } from '@toolenv/core/schemas';
import type { MetricsLine } from '@toolenv/training';
import { type ChangesLine, readChanges } from '@toolenv/training/runs';
import { overviewOf, type RunOverview, statusOf } from '../overview/run-overview.ts';
import { findRecordedRun, type RecordedRun, type RunFacts } from '../recorded/recorded-run.ts';
import { notesFile, type RunNotes, readNotes, writeNotes } from '../recorded/run-notes.ts';
import { EpisodeIndex } from './episode-index.ts';
import { type Extent, nothingRead } from './extent.ts';
import { LineTail, type Place } from './line-tail.ts';

/** What the page knows of a run before it asks for more. */
export interface RunHead {
  /** Unique among the runs of the page. */
  name: string;
  path: string;
  kind: RecordedRun['kind'];
  /** When its record was first written, in ISO 8601; absent for a file of episodes. */
  begun?: string;
  /** What config.json or summary.json says. */
  facts: RunFacts;
  changes: ChangesLine[];
  /** What people wrote about it. */
  notes?: RunNotes;
  /** Whether it has a folder for notes. */
  canNote: boolean;
}

/** How much of a run there is: the page asks again when one of these changes. */
export interface RunState {
  metrics: Extent;
  episodes: Extent;
  /** Why something could not be read, for people. */
  problem?: string;
}

export class ViewedRun {
  readonly name: string;
  readonly path: string;
  readonly episodes: EpisodeIndex | undefined;
  readonly tokens: TokenIndex | undefined;
  readonly metrics: MetricsLine[] = [];
  /** Numbers of the lines of metrics.jsonl that cannot be read. */
  readonly #damaged: number[] = [];
  readonly #run: RecordedRun;
  readonly #metricsTail: LineTail | undefined;
  #problem: string | undefined;
  #head: { version: string; head: RunHead } | undefined;
  #overview: { version: string; overview: RunOverview } | undefined;
  #isQuiet = false;
  #reading: Promise<void> | undefined;

  /** @throws ToolEnvError `usage.no_run` if the path is not a run. */
  constructor(path: string, name: string) {
    this.name = name;
    this.path = path;
    this.#run = findRecordedRun(path);
    const { folder, kind } = this.#run;
    // A run that has just begun has no episodes yet.
    const file =
      this.#run.episodes ?? (folder === undefined ? undefined : join(folder, 'trajectories.jsonl'));
    this.episodes = file === undefined ? undefined : new EpisodeIndex(file);
    if (folder === undefined || kind !== 'training') return;
    this.#metricsTail = new LineTail(join(folder, 'metrics.jsonl'));
    this.tokens = new TokenIndex(join(folder, 'tokens.jsonl'));
  }

  /** Of the run as it is now: read again when a record has been written since. */
  async head(): Promise<RunHead> {
    const { folder } = this.#run;
    const records = folder === undefined ? new Map<RecordName, Stats>() : await recordsOf(folder);
    const times = [...records].map(([name, { mtimeMs }]) => `${name} ${mtimeMs}`);
    const version = `${existsSync(this.path)} ${times.join()}`;
    if (this.#head?.version !== version) this.#head = { version, head: await this.#readHead(records) };
    return this.#head.head;
  }

  async #readHead(records: ReadonlyMap<RecordName, Stats>): Promise<RunHead> {
    const { folder } = this.#run;
    // The run has just been found.
    const isNew = this.#head === undefined;
    const { kind, facts } = !isNew && existsSync(this.path) ? findRecordedRun(this.path) : this.#run;
    // Of a thousand runs, few have them.
    const changes = records.has('changes.jsonl') ? await readChanges(folder!) : [];
    const notes = records.has(notesFile) ? await readNotes(folder!) : undefined;
    // The oldest record: a resumed run may have written others again.
    const first = Math.min(
      ...[...records.values()].map(({ birthtimeMs, mtimeMs }) => birthtimeMs || mtimeMs),
    );
    const begun = records.size > 0 ? { begun: new Date(first).toISOString() } : {};
    const canNote = folder !== undefined;
    return {
      name: this.name,
      path: this.path,
      kind,
      ...begun,
      facts,
      changes,
      ...(notes && { notes }),
      canNote,
    };
  }

  /** @throws ToolEnvError `usage.notes`. */
  async writeNotes(notes: unknown): Promise<void> {
    const { folder } = this.#run;
    if (folder === undefined)
      throw new ToolEnvError('usage.notes', `${this.name} is a file, which has no place for notes.`);
    await writeNotes(folder, notes);
    this.#head = undefined;
  }

  /** Of what has been read. */
  async overview(): Promise<RunOverview> {
    const head = await this.head();
    const version = JSON.stringify([this.#head?.version, this.state.metrics, this.state.episodes]);
    const before = this.#overview;
    if (before?.version === version) {
      // A run goes on, or ends, before there is more of it.
      const status = await statusOf(this.#run.folder, before.overview.progress);
      if (status.kind !== 'running' && status.kind === before.overview.status.kind) return before.overview;
    }
    const overview = await overviewOf({
      kind: head.kind,
      folder: this.#run.folder,
      facts: head.facts,
      metrics: this.metrics,
      episodes: this.episodes?.rows.length ?? 0,
    });
    this.#overview = { version, overview };
    return overview;
  }

  /** Whether the last call of {@link update} has found nothing new. */
  get isQuiet(): boolean {
    return this.#isQuiet;
  }

  get state(): RunState {
    const problem = this.#problem ?? this.#damage;
    return {
      metrics: { count: this.metrics.length, generation: this.#metricsTail?.generation ?? 0 },
      episodes: this.episodes?.extent ?? nothingRead,
      ...(problem !== undefined && { problem }),
    };
  }

  get #damage(): string | undefined {
    const [first, ...more] = this.#damaged;
    if (first === undefined) return undefined;
    const others = more.length === 0 ? '' : `, and ${more.length} more`;
    return `metrics.jsonl is damaged in line ${first}${others}: the curves lack these lines.`;
  }

  /** Reads what was written since the last call. What cannot be read becomes the problem of {@link state}. */
  update(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const before = JSON.stringify(this.state);
    try {
      await this.#readMetrics();
      await this.episodes?.update();
      await this.tokens?.update();
      this.#problem = undefined;
    } catch (error) {
      this.#problem = messageOf(error);
    }
    this.#isQuiet = JSON.stringify(this.state) === before;
  }

  async #readMetrics(): Promise<void> {
    const restart = () => {
      this.metrics.length = 0;
      this.#damaged.length = 0;
    };
    if (!this.#metricsTail) return;
    for await (const { text } of this.#metricsTail.read(restart)) {
      const line = parse(text);
      if (line) this.metrics.push(line);
      else this.#damaged.push(this.metrics.length + this.#damaged.length + 1);
    }
  }
}

/** The records of a run that say what it is. */
const recordNames = ['config.json', 'evaluation.json', 'summary.json', 'changes.jsonl', notesFile] as const;
type RecordName = (typeof recordNames)[number];

async function recordsOf(folder: string): Promise<Map<RecordName, Stats>> {
  const found = await Promise.all(
    recordNames.map(async (name) => {
      const file = await stat(join(folder, name)).catch(() => undefined);
      return file ? [[name, file] as const] : [];
    }),
  );
  return new Map(found.flat());
}

function parse(text: string): MetricsLine | undefined {
  const line = tryObject(text) as MetricsLine | undefined;
  return Number.isInteger(line?.step) && Object(line!.metrics) === line!.metrics ? line : undefined;
}

class TokenIndex {
  readonly #tail: LineTail;
  readonly #places = new Map<string, Place>();

  constructor(file: string) {
    this.#tail = new LineTail(file);
  }

  /** Reads what was written since the last call. Lines that are not JSON are left out. */
  async update(): Promise<void> {
    for await (const { text, offset, length } of this.#tail.read(() => this.#places.clear())) {
      // The line begins with what names the episode; the rest is parsed when it is asked for.
      const [, step, id] = /^\{"step":(\d+),"episodeId":("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
      if (id !== undefined) this.#places.set(key(Number(step), JSON.parse(id)), { offset, length });
    }
  }

  /** Nothing for an episode that no update learned from. */
  async turnsOf(episode: { step?: number; episodeId: string }): Promise<TokenReport['turns']> {
    const place =
      episode.step === undefined ? undefined : this.#places.get(key(episode.step, episode.episodeId));
    if (!place) return [];
    for await (const text of this.#tail.lines([place])) return (JSON.parse(text) as TokenReport).turns;
    return [];
  }
}

function key(step: number, episodeId: string): string {
  return `${step} ${episodeId}`;
}
