/** RunState: a run between two events: its algorithm, how many steps it has done, and what it must still evaluate and save. */
import { deriveSeed, type EnvHandle } from '@toolenv/core';
import type { Learner } from '@toolenv/core/learner';
import type { Metrics, Run, Scorer, TrainEvent } from '@toolenv/core/plugins';
import { withPrompts } from '@toolenv/core/wrappers';
import { validationScores } from '../evaluation/validation-scores.ts';
import { StepTimes, timed } from '../reports/timed-learner.ts';
import { GroupScorer } from '../rollouts/group-scorer.ts';
import { TaskHistory } from '../rollouts/task-history.ts';
import { WorkerRollouts } from '../rollouts/workers/worker-rollouts.ts';
import { resumeCheckpoint, saveCheckpoint, withParts } from '../run-folder/checkpoints.ts';
import { promptsFile } from '../run-folder/run-folder.ts';
import type {
  Algorithm,
  AlgorithmContext,
  AnyAlgorithm,
  DataAlgorithm,
  PromptAlgorithm,
} from '../trainer/algorithm.ts';
import { requireEnv } from '../trainer/require-parts.ts';
import type { RunOptions } from '../trainer/run-options.ts';
import { learningRateSchedule, optimizerStep, type Schedule, scheduledAdamW } from '../update/optimizer.ts';
import { TokenReports } from '../update/token-reports.ts';
import { BestEvaluation } from './best-evaluation.ts';
import { dataSteps, episodeSteps, playedSteps, type Step, workerSteps } from './steps.ts';

/** Makes the algorithm of a run, before a checkpoint is loaded. */
export type CreateAlgorithm<Options> = (
  context: Omit<AlgorithmContext<Options>, 'parts'>,
) => AnyAlgorithm | Promise<AnyAlgorithm>;

/** An algorithm of any kind: what another kind has is absent. */
type OfAnyKind = Partial<Algorithm & DataAlgorithm & PromptAlgorithm>;

export class RunState {
  /** Updates done. */
  step = 0;
  /** Whether the weights are those after `step` updates, and not in the middle of an update. */
  isWhole = true;
  isEvaluationDue = false;
  readonly #run: Run;
  readonly #options: RunOptions;
  readonly #best: BestEvaluation;
  readonly #times: StepTimes;
  readonly #reports: TokenReports = new TokenReports();
  readonly #history: TaskHistory = new TaskHistory();
  readonly #workers: WorkerRollouts | undefined;
  #algorithm!: OfAnyKind;
  #scorer: GroupScorer | undefined;
  /** The share of the learning rate that each step has. */
  #schedule!: Schedule;
  /** The learning rate of the last optimizer step. */
  #rate: Metrics = {};
  /** The step of the newest checkpoint. */
  #saved = 0;
  /** Whether the last evaluation was the best so far, and its weights are not saved yet. */
  #isBest = false;

  private constructor(run: Run, options: RunOptions) {
    this.#run = run;
    this.#options = options;
    this.#best = new BestEvaluation(options);
    this.#times = new StepTimes(run.learner);
    const { rollouts } = run;
    if (rollouts === undefined) return;
    const withEnv = { ...run, rollouts, env: requireEnv(run.env) };
    this.#workers = new WorkerRollouts(withEnv, options, () => this.#history.results);
  }

  /** Makes the algorithm, then loads the newest checkpoint if the run resumes. */
  static async begin<Options extends RunOptions>(
    run: Run,
    options: Options,
    create: CreateAlgorithm<Options>,
    scorer: Scorer | undefined,
  ): Promise<RunState> {
    const state = new RunState(run, options);
    try {
      await state.#create(options, create);
      await state.#resume();
      state.#scorer = scorer && (await GroupScorer.begin(scorer, run, { ...options }));
      return state;
    } catch (error) {
      await state.close();
      throw error;
    }
  }

  /** Releases what the run has opened. */
  async close(): Promise<void> {
    await this.#scorer?.close();
    const algorithm: OfAnyKind | undefined = this.#algorithm;
    await algorithm?.close?.();
  }

  get isCheckpointDue(): boolean {
    const { checkpointEvery } = this.#options;
    return this.isOver || this.#isBest || (checkpointEvery > 0 && this.step % checkpointEvery === 0);
  }

  /** Whether every finished step is in a checkpoint, or saving it has failed. */
  get isSaved(): boolean {
    return this.step <= this.#saved;
  }

  /** Whether the last step is done, or the last `patience` evaluations were no better than the best. */
  get isOver(): boolean {
    return this.step >= this.#steps || this.#best.isOver || this.#algorithm.isOver === true;
  }

  /** The steps that are left, each with its rollout. */
  steps(): AsyncGenerator<Step, void, void> {
    const range = { from: this.step, to: this.#steps };
    const algorithm = this.#algorithm as AnyAlgorithm;
    if ('learn' in algorithm) return dataSteps(algorithm, range);
    if ('play' in algorithm) return playedSteps(algorithm, this.#run, range, this.#history.results);
    if (this.#workers) return workerSteps(algorithm, this.#workers, range, this.#scorer);
    const run = { ...this.#run, env: requireEnv(this.#run.env), scorer: this.#scorer };
    return episodeSteps(algorithm, run, this.#options, range, this.#history.results);
  }

  async update({ rollout, staleness, learn }: Step): Promise<TrainEvent> {
    const { seed, env } = this.#run;
    const { step } = this;
    this.isWhole = false;
    this.#rate = {};
    const memory = { ...this.#algorithm.memory };
    const learned = await this.#times
      .update(() => learn({ step, seed: deriveSeed(seed, 'step', step) }))
      .catch((error: unknown) => {
        if (!this.#times.learner.hasStepped) this.#undo(memory);
        throw error;
      });
    this.step += 1;
    if (rollout && env?.draw) this.#history.add(rollout, this.step);
    this.isWhole = true;
    const { evaluateEvery } = this.#options;
    this.isEvaluationDue = evaluateEvery > 0 && this.step % evaluateEvery === 0;
    const tokens = this.#reports.take();
    return {
      type: 'update',
      step: this.step,
      ...(this.#algorithm.learn && this.#algorithm.steps !== undefined && { of: this.#steps }),
      metrics: { ...learned, ...this.#rate, ...(staleness !== undefined && { staleness }) },
      ...(tokens.length > 0 && { tokens }),
    };
  }

  async evaluate(): Promise<TrainEvent> {
    const { step } = this;
    const { result: scores, seconds } = await timed(async () => ({
      ...(await validationScores(this.#played, this.#options)),
      ...(await this.#algorithm.evaluate?.()),
    }));
    this.isEvaluationDue = false;
    this.#isBest = this.#best.judge(step, scores);
    return { type: 'evaluation', step, metrics: { ...scores, 'time/evaluation': seconds } };
  }

  async save(): Promise<TrainEvent> {
    const { step } = this;
    const { out, seed } = this.#run;
    const due = this.isEvaluationDue && { evaluationDue: 1 };
    const memory = { ...this.#algorithm.memory, ...this.#best.memory, ...due };
    const kept = { keep: this.#options.keepCheckpoints, best: this.#best.step };
    this.#isBest = false;
    // A checkpoint that cannot be written is not tried again.
    this.#saved = step;
    const folder = await this.#times.save(() =>
      saveCheckpoint(out, this.#saveable, { step, seed, memory }, kept),
    );
    return { type: 'checkpoint', step, folder };
  }

  /** Tells the workers that the run is over. */
  async finish(): Promise<void> {
    await this.#workers?.finish(this.step);
  }

  /** An update that failed before its first optimizer step has changed no weights: the finished steps can be saved. */
  #undo(memory: Record<string, number>): void {
    Object.assign(this.#algorithm.memory ?? {}, memory);
    this.isWhole = true;
  }

  async #create<Options extends RunOptions>(
    options: Options,
    create: CreateAlgorithm<Options>,
  ): Promise<void> {
    const { learner } = this.#times;
    const { out } = this.#run;
    const { temperature } = options;
    this.#algorithm = await create({
      options,
      run: this.#run,
      learner,
      optimize: (rows, gradients, given) => {
        const optimizer = scheduledAdamW(given, options, this.#schedule(this.step));
        this.#rate = { learning_rate: optimizer.learningRate };
        return optimizerStep(learner, { rows: [...rows], temperature }, gradients, { ...optimizer, out });
      },
      report: (quantity, rows, values) => this.#reports.add(quantity, rows, values),
    });
    this.#schedule = learningRateSchedule({ ...options, steps: this.#steps });
  }

  async #resume(): Promise<void> {
    const { out, resume } = this.#run;
    const resumed = resume ? await resumeCheckpoint(out, this.#saveable) : undefined;
    const { evaluationDue = 0, ...memory } = this.#best.restore(resumed?.memory ?? {});
    Object.assign(this.#algorithm.memory ?? {}, memory);
    this.step = resumed?.step ?? 0;
    this.#saved = this.step;
    this.isEvaluationDue = evaluationDue === 1 || (this.#options.evaluateFirst && !resumed);
  }

  /** The run as evaluations play it: with the best texts so far, where an environment has such texts. */
  get #played(): Run {
    const { prompts } = this.#algorithm;
    if (!prompts) return this.#run;
    const { env, evaluateOn = {} } = this.#run;
    const withBest = <Handle extends EnvHandle<unknown>>(handle: Handle) =>
      Object.keys(prompts).every((name) => Object.hasOwn(handle.prompts ?? {}, name))
        ? withPrompts(handle, prompts)
        : handle;
    const others = Object.entries(evaluateOn).map(([name, handle]) => [name, withBest(handle)] as const);
    return { ...this.#run, env: env && withBest(env), evaluateOn: Object.fromEntries(others) };
  }

  /** Steps of the whole run. */
  get #steps(): number {
    return this.#algorithm.steps ?? this.#options.steps;
  }

  /** The learner with the other parts of a checkpoint. Only an environment that chooses its tasks needs their history. */
  get #saveable(): Pick<Learner, 'save' | 'load'> {
    const { state } = this.#algorithm;
    if (state) return this.#withTexts(state);
    const parts = [
      ...(this.#run.env?.draw ? [this.#history] : []),
      ...(this.#workers ? [this.#workers.groups] : []),
    ];
    return withParts(this.#times.learner, parts);
  }

  /** Checkpoints of a prompt trainer: the best texts so far, as `--prompts` reads them, and the state of the algorithm. */
  #withTexts(state: PromptAlgorithm['state']): Pick<Learner, 'save' | 'load'> {
    const write = () => `${JSON.stringify(this.#algorithm.prompts, null, 2)}\n`;
    // The state has the texts too.
    const texts = { file: promptsFile, write, read: () => {} };
    return withParts({ save: async () => {}, load: async () => {} }, [texts, state]);
  }
}
