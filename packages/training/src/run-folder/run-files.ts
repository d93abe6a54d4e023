/** The files that a run writes as it goes: metrics, episodes, what was learned of their tokens, TensorBoard's events and the curves. */
import { join } from 'node:path';
import type { TrainEvent } from '@toolenv/core/plugins';
import type { TrainSettings } from '../train-settings.ts';
import { chartGroups } from './curves.ts';
import { type MetricsLine, RunLog, readMetrics } from './run-log.ts';
import { svgCharts } from './svg-chart.ts';
import { TensorBoardLog } from './tensorboard-log.ts';
import { writeWhole } from './write-whole.ts';

export interface RunFilesOptions extends Pick<TrainSettings, 'resume' | 'trajectories' | 'tensorboard'> {
  /** Title of the curves. */
  title: string;
}

export class RunFiles {
  readonly #out: string;
  readonly #options: RunFilesOptions;
  readonly #log: RunLog;
  readonly #board: TensorBoardLog | undefined;
  /** The lines of metrics.jsonl, once the curves have been drawn. */
  #lines: MetricsLine[] | undefined;

  constructor(out: string, options: RunFilesOptions) {
    this.#out = out;
    this.#options = options;
    this.#log = new RunLog(out, options);
    this.#board = options.tensorboard ? new TensorBoardLog(join(out, 'tensorboard')) : undefined;
  }

  /** Writes an event. A checkpoint draws the curves anew. */
  async write(event: TrainEvent): Promise<void> {
    if (event.type === 'rollout' && this.#options.trajectories)
      await this.#log.writeEpisodes(event.trajectories, { step: event.step });
    await this.#log.write(event);
    if (event.type === 'update' && event.tokens && this.#options.trajectories)
      await this.#log.writeTokens(event.tokens, event.step);
    await this.#board?.write(event);
    if (event.type === 'checkpoint') await this.drawCurves();
    else this.#lines?.push({ type: event.type, step: event.step, metrics: event.metrics });
  }

  /** Draws curves.svg, if a step has been played. */
  async drawCurves(): Promise<void> {
    this.#lines ??= await readMetrics(this.#out);
    const groups = chartGroups(this.#lines);
    if (groups.length === 0) return;
    const charts = groups.map(({ name, unit, curves }) => ({ title: name, valueLabel: unit, curves }));
    await writeWhole(join(this.#out, 'curves.svg'), svgCharts(this.#options.title, charts));
  }
}
