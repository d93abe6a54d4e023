/** The files that a run writes as it goes: metrics, episodes, what was learned of their tokens, TensorBoard's events and the curves. */
import { join } from 'node:path';
import { writeAtomic } from '@toolenv/core/files';
import type { TrainEvent } from '@toolenv/core/plugins';
import { svgCharts } from '../reports/svg-chart.ts';
import type { TensorBoardLog } from '../reports/tensorboard-log.ts';
import { chartGroups } from '../run-folder/curves.ts';
import { type MetricsLine, RunLog, readMetrics } from '../run-folder/run-log.ts';
import type { TrainSettings } from '../trainer/train-settings.ts';

export interface RunFilesOptions extends Pick<TrainSettings, 'resume' | 'trajectories' | 'tensorboard'> {
  /** Title of the curves. */
  title: string;
}

export class RunFiles {
  readonly #out: string;
  readonly #options: RunFilesOptions;
  readonly #log: RunLog;
  #board: TensorBoardLog | undefined;
  /** The lines of metrics.jsonl, once the curves have been drawn. */
  #lines: MetricsLine[] | undefined;

  constructor(out: string, options: RunFilesOptions) {
    this.#out = out;
    this.#options = options;
    this.#log = new RunLog(out, options);
  }

  /** Writes an event. A checkpoint redraws the curves. */
  async write(event: TrainEvent): Promise<void> {
    if (event.type === 'rollout' && this.#options.trajectories)
      await this.#log.writeEpisodes(event.trajectories, { step: event.step });
    await this.#log.write(event);
    if (event.type === 'update' && event.tokens && this.#options.trajectories)
      await this.#log.writeTokens(event.tokens, event.step);
    if (this.#options.tensorboard) await (await this.#openBoard()).write(event);
    if (event.type === 'checkpoint') await this.drawCurves();
    else this.#lines?.push({ type: event.type, step: event.step, metrics: event.metrics });
  }

  /** Loads the encoder of TensorBoard's files only for a run that writes them. */
  async #openBoard(): Promise<TensorBoardLog> {
    if (this.#board) return this.#board;
    const { TensorBoardLog } = await import('../reports/tensorboard-log.ts');
    this.#board = new TensorBoardLog(join(this.#out, 'tensorboard'));
    return this.#board;
  }

  /** Draws curves.svg, if a step has been played. */
  async drawCurves(): Promise<void> {
    this.#lines ??= await readMetrics(this.#out);
    const groups = chartGroups(this.#lines);
    if (groups.length === 0) return;
    const charts = groups.map(({ name, unit, curves }) => ({ title: name, valueLabel: unit, curves }));
    await writeAtomic(join(this.#out, 'curves.svg'), svgCharts(this.#options.title, charts));
  }
}
