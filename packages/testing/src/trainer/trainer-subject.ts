/** What the checks of a trainer share: the trainer, its options, and runs on bandits. */
import { existsSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type EnvHandle, ToolEnvError } from '@toolenv/core';
import type { Run, TrainEvent, Trainer } from '@toolenv/core/plugins';
import { withTimeout } from '../in-time.ts';
import { checkOptionsSchema } from '../options-schema.ts';
import type { Reporter } from '../report.ts';
import type { RuleId } from '../rules.ts';
import { brief, thrown, Violation } from '../violation.ts';
import { acceptedOptions, acceptsOption } from './accepts-option.ts';
import { BanditModel, type BanditTask, machines, openBandit } from './bandit-model.ts';

/** Settings of the check's runs, for the options that a trainer has under these names. */
const settings: Readonly<Record<string, unknown>> = {
  tasksPerStep: 8,
  groupSize: 4,
  maxTokens: 4,
  learningRate: 0.5,
  criticLearningRate: 0.5,
  evaluationEpisodes: 4,
};

/** A run to make. What is left out takes its default. */
export interface TrainerRun extends Pick<Run, 'resume' | 'signal'> {
  /** Default: a new model. */
  model?: BanditModel;
  /** The better arm. Default 1. */
  best?: number;
  /** Default: a bandit that pays for the better arm. */
  env?: EnvHandle<BanditTask>;
  /** Default: a new folder. */
  out?: string;
  /** Replaces `act` of the model. */
  act?: BanditModel['act'];
  options?: Record<string, unknown>;
}

interface Settings {
  trainer: Trainer;
  report: Reporter;
  /** Options of the caller, for every run. */
  given: Record<string, unknown>;
  /** Folder in which each run has a folder. */
  folder: string;
  /** Milliseconds that an event may take. */
  timeout: number;
  seed: number;
}

export class TrainerSubject {
  readonly report: Reporter;
  readonly #of: Settings;

  constructor(settings: Settings) {
    this.report = settings.report;
    this.#of = settings;
  }

  newFolder(): Promise<string> {
    return mkdtemp(join(this.#of.folder, 'run-'));
  }

  /** Whether the trainer has an option, and accepts the value. */
  accepts(option: string, value: unknown): boolean {
    return acceptsOption(this.#of.trainer, option, value);
  }

  get improvesPrompts(): boolean {
    return this.#of.trainer.improves === 'prompts';
  }

  get learnsFromData(): boolean {
    return this.#of.trainer.learnsFrom === 'data';
  }

  /** A file of examples that show the better arm of each machine, as conversations and as pairs. */
  async #examples(best: number): Promise<string> {
    const file = join(this.#of.folder, `arm-${best}.jsonl`);
    const turn = (arm: number) => [{ role: 'assistant', content: String(arm) }];
    const lines = Array.from({ length: machines }, (_, machine) => {
      const prompt = [{ role: 'user', content: `Machine ${machine}: which arm?` }];
      const [chosen, rejected] = [turn(best), turn(1 - best)];
      return `${JSON.stringify({ messages: [...prompt, ...chosen], prompt, chosen, rejected })}\n`;
    });
    await writeFile(file, lines.join(''));
    return file;
  }

  get #properties(): Record<string, Record<string, unknown>> {
    return (this.#of.trainer.options.properties ?? {}) as Record<string, Record<string, unknown>>;
  }

  /** Names of the trainer's options. */
  get optionNames(): string[] {
    return Object.keys(this.#properties);
  }

  /** The events of a run as they come. An event later than the timeout breaks TRN-2. */
  async *events({ options = {}, best = 1, ...run }: TrainerRun): AsyncGenerator<TrainEvent, void, void> {
    const data = this.learnsFromData ? { data: await this.#examples(best) } : {};
    const known = acceptedOptions(this.#of.trainer, { ...settings, ...data, ...options });
    const iterator = await this.#start({ ...run, best }, { ...known, ...this.#of.given });
    let isWaiting = false;
    try {
      for (;;) {
        isWaiting = true;
        const next = await withTimeout('TRN-2', 'another event', this.#of.timeout, () => iterator.next());
        isWaiting = false;
        if (next.done) return;
        yield next.value;
      }
    } finally {
      // A trainer that hangs would not return either.
      if (!isWaiting) await iterator.return?.();
    }
  }

  async #start(given: TrainerRun, options: Record<string, unknown>): Promise<AsyncIterator<TrainEvent>> {
    const { model = new BanditModel(), best = 1, env, act, out, ...run } = given;
    const { spec, vocabulary } = model;
    const policy = act ? { spec, vocabulary, act, encode: model.encode.bind(model) } : model;
    const whole = {
      ...run,
      env: env ?? (await openBandit({ best })),
      policy,
      learner: model,
      seed: this.#of.seed,
      out: out ?? (await this.newFolder()),
    };
    return this.#of.trainer.train(whole as Run, options)[Symbol.asyncIterator]();
  }

  /** The first event of a run with these options alone, or what it throws. */
  async first(options: Record<string, unknown>): Promise<unknown> {
    try {
      const data = this.accepts('data', this.#of.folder) ? { data: await this.#examples(1) } : {};
      const iterator = await this.#start({}, { ...data, ...this.#of.given, ...options });
      const { value } = await withTimeout('TRN-1', 'an answer', this.#of.timeout, () => iterator.next());
      await iterator.return?.();
      return value;
    } catch (error) {
      return error;
    }
  }

  /**
   * All events of a run that should end by itself.
   * @throws Violation of `rule` if the run throws, or if the folder of a checkpoint does not exist.
   * @throws ToolEnvError `usage.*` of the trainer, which are for the user.
   */
  async play(rule: RuleId, run: TrainerRun): Promise<TrainEvent[]> {
    const played: TrainEvent[] = [];
    try {
      for await (const event of this.events(run)) {
        played.push(event);
        if (event.type !== 'checkpoint' || existsSync(event.folder)) continue;
        throw new Violation('TRN-2', `the folder of checkpoint ${event.step}`, `no ${brief(event.folder)}`);
      }
    } catch (error) {
      if (error instanceof Violation) throw error;
      if (ToolEnvError.isInstance(error) && error.code.startsWith('usage.')) throw error;
      throw thrown(rule, 'a run to its end', error);
    }
    return played;
  }
}

/** A value that few options accept. */
const odd = { 'no such': ['value'] };

export function checkStepsOption({ options }: Trainer): void {
  checkOptionsSchema('TRN-1', options);
  const { steps } = (options.properties ?? {}) as Record<string, unknown>;
  if (steps === undefined)
    throw new Violation('TRN-1', 'an option "steps", the number of updates', brief(options));
}

export async function checkRefusals(subject: TrainerSubject): Promise<void> {
  await refuses(subject, 'no_such_option', 1);
  for (const name of subject.optionNames) {
    if (!subject.accepts(name, odd)) await refuses(subject, name, odd);
  }
}

async function refuses(subject: TrainerSubject, name: string, value: unknown): Promise<void> {
  const received = await subject.first({ [name]: value });
  if (ToolEnvError.isInstance(received) && received.code.startsWith('usage.')) return;
  throw new Violation('TRN-1', `a usage.* error for the option ${name}: ${brief(value)}`, brief(received));
}
