/** The files that a training run appends to: metrics.jsonl, trajectories.jsonl and tokens.jsonl, each line with its step. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, ToolEnvError, type Trajectory } from '@toolenv/core';
import { append, type JsonLine, readJsonLines, writeAtomic } from '@toolenv/core/files';
import type { Metrics, TokenReport, TrainEvent } from '@toolenv/core/plugins';
import { encodeTrajectory } from '@toolenv/core/recording';
import { tryObject } from '@toolenv/core/schemas';

/** One line of metrics.jsonl. */
export interface MetricsLine {
  type: 'rollout' | 'update' | 'evaluation';
  step: number;
  metrics: Metrics;
}

const metricsFile = 'metrics.jsonl';
const trajectoriesFile = 'trajectories.jsonl';
const tokensFile = 'tokens.jsonl';

export class RunLog {
  readonly #out: string;
  /** Whether the files may have lines of steps after the checkpoint that the run resumes from. */
  #stale: boolean;

  /** @param options With `resume`, the folder has an earlier part of the run. */
  constructor(out: string, { resume = false }: { resume?: boolean } = {}) {
    this.#out = out;
    this.#stale = resume;
  }

  /**
   * Appends an event that has metrics. A checkpoint gets no line: an interrupted run saves a checkpoint where an
   * uninterrupted run saves none, and their files must be equal.
   */
  async write(event: TrainEvent): Promise<void> {
    if (event.type === 'checkpoint') return;
    const { type, step, metrics } = event;
    const written: MetricsLine = { type, step, metrics };
    await this.#append(metricsFile, [`${JSON.stringify(written)}\n`], (line) => {
      // A run that stopped in an evaluation resumes with this evaluation: the other lines of the step stay.
      const isOther = type === 'evaluation' && line.type !== type;
      return isOther ? line.step > step : line.step >= step;
    });
  }

  /** Appends episodes of a step. The stamp's fields come before the trajectory's own fields; readers ignore them. */
  async writeEpisodes(
    trajectories: readonly Trajectory[],
    stamp: { step: number; [field: string]: unknown },
  ): Promise<void> {
    const lines = trajectories.map((trajectory) => `${encodeTrajectory({ ...stamp, ...trajectory })}\n`);
    await this.#append(trajectoriesFile, lines, (line) => line.step >= stamp.step);
  }

  /** Appends what an update said of the tokens of its episodes. */
  async writeTokens(reports: readonly TokenReport[], step: number): Promise<void> {
    const lines = reports.map((report) => `${JSON.stringify({ step, ...report })}\n`);
    await this.#append(tokensFile, lines, (line) => line.step >= step);
  }

  /**
   * Appends lines. On the first event of a resumed run, first drops the lines that the run will write again. A full disk may leave
   * a half-written last line, which a resumed run drops.
   */
  async #append(name: string, lines: readonly string[], isAfter: IsAfter): Promise<void> {
    const names = this.#stale ? [metricsFile, trajectoriesFile, tokensFile] : [];
    this.#stale = false;
    for (const each of names) await dropLines(join(this.#out, each), isAfter);
    const file = join(this.#out, name);
    await append(file, lines.join(''));
  }
}

/**
 * The metrics of a run, in order. A half-written last line, left by a crash, is skipped.
 * @throws ToolEnvError `usage.broken_record` for any other line that is damaged, naming it.
 */
export function readMetrics(out: string): Promise<MetricsLine[]> {
  return readRecords(join(out, metricsFile), 'metrics', { skipHalfWritten: true });
}

/** Judges a line of either file; lines of episodes have no type. */
type IsAfter = (line: { step: number; type?: string }) => boolean;

/**
 * Removes such lines, and a half-written last line. Other damaged lines, whose step nobody knows, go to `<file>.damaged`, and a warning names
 * them. The file is replaced whole.
 */
async function dropLines(file: string, isAfter: IsAfter): Promise<void> {
  if (!existsSync(file)) return;
  const kept = async function* () {
    const damaged: JsonLine[] = [];
    for await (const line of readJsonLines(file, { skipHalfWritten: true })) {
      const value = tryObject(line.text);
      if (!Number.isInteger(value?.step)) damaged.push(line);
      else if (!isAfter(value as { step: number })) yield `${line.text}\n`;
    }
    // The file is replaced only afterwards.
    if (damaged.length > 0) await setAside(file, damaged);
  };
  await writeAtomic(file, kept());
}

async function setAside(file: string, lines: readonly JsonLine[]): Promise<void> {
  const aside = `${file}.damaged`;
  await append(aside, lines.map(({ text }) => `${text}\n`).join(''));
  const places = lines.slice(0, 3).map(({ place }) => place);
  const more = lines.length > places.length ? ` and ${lines.length - places.length} more` : '';
  const what = lines.length === 1 ? 'is damaged: it is' : 'are damaged: they are';
  process.emitWarning(`${places.join(', ')}${more} ${what} kept in ${aside}.`, 'DamagedLine');
}

/**
 * The records with a step and an object in `field`, in order; none without the file.
 * @param options.skipHalfWritten Leaves out a half-written last line, which a crash leaves.
 * @throws ToolEnvError `usage.broken_record` for any other damaged line, naming it, and for a pipe.
 */
export async function readRecords<
  Field extends string,
  Line extends { step: number } & Record<Field, object>,
>(file: string, field: Field, options: { skipHalfWritten?: boolean } = {}): Promise<Line[]> {
  const records: Line[] = [];
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) return records;
  // Reading a pipe would wait for a writer.
  if (!stats.isFile()) {
    const message = `${file} is not a regular file: take it out of the run.`;
    throw new ToolEnvError('usage.broken_record', message);
  }
  for await (const { text, place } of readJsonLines(file, options)) {
    try {
      const line: Line = JSON.parse(text);
      const value = line?.[field];
      if (!Number.isInteger(line?.step) || typeof value !== 'object' || value === null)
        throw new TypeError(`it has no step or no ${field}`);
      records.push(line);
    } catch (error) {
      const message = `${place} is damaged (${messageOf(error)}): remove the line.`;
      throw new ToolEnvError('usage.broken_record', message, { cause: error });
    }
  }
  return records;
}
