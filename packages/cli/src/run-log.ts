/** What a training run writes as it goes: metrics.jsonl and trajectories.jsonl, each line stamped with its step. */
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { appendFile, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { encodeTrajectory, type Metrics, type TrainEvent, type Trajectory } from '@toolenv/core';

/** One line of metrics.jsonl. */
export interface MetricsLine {
  type: 'rollout' | 'update' | 'evaluation';
  step: number;
  metrics: Metrics;
}

const metricsFile = 'metrics.jsonl';
const trajectoriesFile = 'trajectories.jsonl';

export class RunLog {
  readonly #out: string;
  /** Lines of an earlier part of the run may go beyond the checkpoint that it goes on from. */
  #stale: boolean;

  /** @param options.resume The folder holds an earlier part of the run. */
  constructor(out: string, { resume = false }: { resume?: boolean } = {}) {
    this.#out = out;
    this.#stale = resume;
  }

  /**
   * Appends an event that has metrics. A checkpoint is its own record, and a line for it would differ between a run that
   * was interrupted and one that was not.
   */
  async write(event: TrainEvent): Promise<void> {
    if (event.type === 'checkpoint') return;
    const { type, step, metrics } = event;
    await this.#dropFrom(step);
    const line: MetricsLine = { type, step, metrics };
    await appendFile(join(this.#out, metricsFile), `${JSON.stringify(line)}\n`);
  }

  /** Appends episodes of a step. The stamp's fields come before the trajectory's own; readers pass over them. */
  async writeEpisodes(
    trajectories: readonly Trajectory[],
    stamp: { step: number; [field: string]: unknown },
  ): Promise<void> {
    await this.#dropFrom(stamp.step);
    const lines = trajectories.map((trajectory) => `${encodeTrajectory({ ...stamp, ...trajectory })}\n`);
    await appendFile(join(this.#out, trajectoriesFile), lines.join(''));
  }

  /** On the first event of a resumed run: what was written from its step on will be written again. */
  async #dropFrom(step: number): Promise<void> {
    if (!this.#stale) return;
    this.#stale = false;
    for (const file of [metricsFile, trajectoriesFile]) await dropLines(join(this.#out, file), step);
  }
}

/** The metrics of a run, in order. */
export async function readMetrics(out: string): Promise<MetricsLine[]> {
  const file = join(out, metricsFile);
  if (!existsSync(file)) return [];
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as MetricsLine);
}

/** Removes the lines from a step on, and a half-written last one. The file is replaced whole. */
async function dropLines(file: string, step: number): Promise<void> {
  if (!existsSync(file)) return;
  const partial = `${file}.partial`;
  const kept = async function* () {
    for await (const line of linesOf(file)) if (stepOf(line) < step) yield `${line}\n`;
  };
  await pipeline(kept, createWriteStream(partial));
  await rename(partial, file);
}

/** Lines without their breaks. Not node:readline, which also breaks at U+2028, and JSON may hold that as it is. */
async function* linesOf(file: string): AsyncGenerator<string, void, void> {
  let rest = '';
  for await (const chunk of createReadStream(file, 'utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** Infinity for a line that is not whole. */
function stepOf(line: string): number {
  try {
    return (JSON.parse(line) as { step: number }).step;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
