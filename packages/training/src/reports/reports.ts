/** Reports: passes the metrics of a run to sinks. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { writeAtomic } from '@toolenv/core/files';
import type { Metrics, TrainEvent } from '@toolenv/core/plugins';
import { didYouMean } from '@toolenv/core/schemas';
import { valueWithoutSecrets } from '@toolenv/core/secrets';
import { type MetricSink, type RunEnd, reportedName } from './metric-sink.ts';
import { SinkQueue } from './sink-queue.ts';

/** The sinks that have a name. They take their settings from the variables of the environment that the tracker documents. */
export type SinkName = 'mlflow' | 'wandb';
const named: Record<SinkName, () => Promise<MetricSink>> = {
  mlflow: async () => (await import('./mlflow.ts')).mlflow(),
  wandb: async () => (await import('./wandb.ts')).wandb(),
};

/** What identifies the remote runs, by sink, in the folder of the run. */
const reportsFile = 'reports.json';

/** @throws ToolEnvError `usage.report` for an unknown name, something that is not a sink, two sinks with one name, or missing settings. */
export async function sinksOf(given: readonly (SinkName | MetricSink)[]): Promise<MetricSink[]> {
  const sinks = await Promise.all(given.map(sinkOf));
  const names = sinks.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return sinks;
  throw new ToolEnvError('usage.report', `train: reportTo has two sinks "${twice}": give one another name.`);
}

async function sinkOf(given: SinkName | MetricSink): Promise<MetricSink> {
  if (typeof given === 'string') {
    if (Object.hasOwn(named, given)) return named[given]();
    const hint = didYouMean(given, Object.keys(named), 'Sinks');
    throw new ToolEnvError('usage.report', `train: there is no sink "${given}" to report to. ${hint}`);
  }
  if (typeof given?.open === 'function' && typeof given.write === 'function') return given;
  throw new ToolEnvError(
    'usage.report',
    'train: reportTo has an entry that is not a MetricSink: give it open, write and close.',
  );
}

export class Reports {
  readonly #queues: readonly SinkQueue[];

  private constructor(queues: readonly SinkQueue[]) {
    this.#queues = queues;
  }

  static async begin(
    sinks: readonly MetricSink[],
    given: { name: string; folder: string; config: Readonly<Record<string, unknown>> },
  ): Promise<Reports> {
    const run = valueWithoutSecrets(given);
    const file = join(run.folder, reportsFile);
    const ids = sinks.length > 0 ? await readIds(file) : {};
    // One write after another, because sinks open at the same time.
    let written = Promise.resolve();
    const keep = (name: string) => (id: string) => {
      if (ids[name] === id) return written;
      ids[name] = id;
      const write = () => writeAtomic(file, `${JSON.stringify(ids, null, 2)}\n`);
      written = written.then(write, write);
      return written;
    };
    return new Reports(
      sinks.map((sink) => {
        const id = ids[sink.name];
        return new SinkQueue(sink, { ...run, ...(id !== undefined && { id }) }, keep(sink.name));
      }),
    );
  }

  /** Returns at once. Checkpoints have no metrics. */
  write(event: TrainEvent): void {
    if (event.type === 'checkpoint' || this.#queues.length === 0) return;
    const { type, step } = event;
    const entries = Object.entries(event.metrics).filter(([, value]) => Number.isFinite(value));
    const metrics: Metrics = Object.fromEntries(
      entries.map(([name, value]) => [reportedName(type, name), value]),
    );
    for (const queue of this.#queues) queue.push({ step, time: Date.now(), metrics });
  }

  /** Waits ten seconds at most, or as long as a sink says. */
  async close(end: RunEnd): Promise<void> {
    await Promise.all(this.#queues.map((queue) => queue.close(end)));
  }
}

/** A damaged file costs the continuation of the remote runs, and not the run. */
async function readIds(file: string): Promise<Record<string, string>> {
  if (!existsSync(file)) return {};
  try {
    const ids = Object.entries(Object(JSON.parse(await readFile(file, 'utf8'))));
    return Object.fromEntries(ids.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  } catch (error) {
    process.emitWarning(`${file} is damaged (${messageOf(error)}): the trackers get new runs.`, 'Report');
    return {};
  }
}
