/** What a training run writes as it goes: metrics.jsonl and trajectories.jsonl, each line stamped with its step. */
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { appendFile, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Trajectory } from '@toolenv/core';
import type { Metrics, TrainEvent } from '@toolenv/core/plugins';
import { encodeTrajectory } from '@toolenv/core/recording';

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
    await this.#drop((line) => {
      // Stopped in an evaluation, a run goes on with it: the other lines of the step stay.
      const isOther = type === 'evaluation' && line.type !== type;
      return isOther ? line.step > step : line.step >= step;
    });
    const line: MetricsLine = { type, step, metrics };
    await appendFile(join(this.#out, metricsFile), `${JSON.stringify(line)}\n`);
  }

  /** Appends episodes of a step. The stamp's fields come before the trajectory's own; readers pass over them. */
  async writeEpisodes(
    trajectories: readonly Trajectory[],
    stamp: { step: number; [field: string]: unknown },
  ): Promise<void> {
    await this.#drop((line) => line.step >= stamp.step);
    const lines = trajectories.map((trajectory) => `${encodeTrajectory({ ...stamp, ...trajectory })}\n`);
    await appendFile(join(this.#out, trajectoriesFile), lines.join(''));
  }

  /** On the first event of a resumed run: what was written from it on will be written again. */
  async #drop(isAfter: IsAfter): Promise<void> {
    if (!this.#stale) return;
    this.#stale = false;
    for (const file of [metricsFile, trajectoriesFile]) await dropLines(join(this.#out, file), isAfter);
  }
}

/** The metrics of a run, in order. */
export async function readMetrics(out: string): Promise<MetricsLine[]> {
  const file = join(out, metricsFile);
  if (!existsSync(file)) return [];
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as MetricsLine);
}

/** Of a line of either file; episodes have no type. */
type IsAfter = (line: { step: number; type?: string }) => boolean;

/** Removes such lines, and a half-written last one. The file is replaced whole. */
async function dropLines(file: string, isAfter: IsAfter): Promise<void> {
  if (!existsSync(file)) return;
  const partial = `${file}.partial`;
  const kept = async function* () {
    for await (const line of linesOf(file)) if (isKept(line, isAfter)) yield `${line}\n`;
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

function isKept(line: string, isAfter: IsAfter): boolean {
  try {
    return !isAfter(JSON.parse(line) as { step: number });
  } catch {
    return false;
  }
}
