/** defineTrainer: an algorithm and its options become a trainer, which runs on the shared loop. */
import type { JsonSchema } from '@toolenv/core';
import { ToolEnvError } from '@toolenv/core';
import {
  completeOptions,
  type Run,
  type Scorer,
  type Trainer,
  type TrainerPart,
} from '@toolenv/core/plugins';
import type { OptionsOf } from '@toolenv/core/schemas';
import type { AlgorithmContext, AnyAlgorithm } from '../trainer/algorithm.ts';
import {
  chooseParts,
  isPart,
  partProperties,
  schemaWithPart,
  withReferences,
} from '../trainer/choose-parts.ts';
import { optionsLeftOut, type RunOptions, runOptions } from '../trainer/run-options.ts';
import { withDefaults } from '../trainer/trainer-part.ts';
import { runLoop } from './run-loop.ts';

export interface TrainerDefinition<Schema extends JsonSchema, Options> {
  readonly name: string;
  readonly description: string;
  /**
   * `data`: `create` makes a `DataAlgorithm`, and the trainer has no options of rollouts. `perturbations`: it makes a `PlayingAlgorithm`, and
   * the trainer has no options of groups and of the optimizer. Default `episodes`.
   */
  readonly learnsFrom?: 'episodes' | 'data' | 'perturbations';
  /** `prompts`: `create` makes a `PromptAlgorithm`, and the trainer has no options of groups and of the optimizer. Default `weights`. */
  readonly improves?: 'weights' | 'prompts';
  /**
   * JSON Schema of an object: the algorithm's own options. A literal gives `create` their types. An option with the annotation
   * `part: 'losses'` or `part: 'advantages'` also takes the user's own part, which is then in `parts` of the context.
   */
  readonly options: Schema;
  /** Other defaults for the loop's options. */
  readonly defaults?: Partial<RunOptions>;
  /** Other minimums for the loop's options. */
  readonly minimums?: { readonly [Option in keyof RunOptions]?: RunOptions[Option] & number };
  /** The values that absent options get from the other options and the run. They are recorded with the run. */
  resolve?(options: Options & RunOptions, run: Pick<Run, 'env' | 'policy' | 'learner' | 'rollouts'>): object;
  /**
   * Called once per run, before a checkpoint is loaded: the place for a critic or a reference policy.
   * @throws ToolEnvError `usage.*` for a run that the algorithm cannot train.
   */
  create(context: AlgorithmContext<Options>): AnyAlgorithm | Promise<AnyAlgorithm>;
}

/** A trainer that can be called: `grpo({ learningRate: 3e-5 })` is the same trainer with other defaults. */
export interface ConfigurableTrainer<Options> extends Trainer<Options> {
  /** @throws ToolEnvError `usage.unknown_option` or `usage.bad_option`, naming the option. */
  (defaults?: Partial<Options>): ConfigurableTrainer<Options>;
}

/** A trainer that improves prompts: its runs need no learner. */
export interface PromptTrainer<Options> extends ConfigurableTrainer<Options> {
  readonly improves: 'prompts';
  /** Throws as that of other trainers does. */
  (defaults?: Partial<Options>): PromptTrainer<Options>;
}

/**
 * The trainer's options are the algorithm's and the loop's. `train` checks them and fills in defaults.
 * @throws ToolEnvError `bug.trainer` for an option that the loop has too.
 */
export function defineTrainer<const Schema extends JsonSchema, Options = OptionsOf<Schema>>(
  definition: TrainerDefinition<Schema, Options>,
): ConfigurableTrainer<Options & RunOptions> {
  const { name, defaults = {}, minimums = {} } = definition;
  const own = (definition.options.properties ?? {}) as Record<string, object>;
  const taken = Object.keys(own).find((option) => Object.hasOwn(runOptions, option));
  if (taken !== undefined) {
    const message = `Trainer ${name}: option "${taken}" belongs to the run loop: set its default in "defaults", or rename yours.`;
    throw new ToolEnvError('bug.trainer', message);
  }
  const leftOut: readonly string[] = optionsLeftOut(definition);
  const kept = Object.entries(runOptions).filter(([option]) => !leftOut.includes(option));
  const loop = kept.map(([option, schema]) => {
    const value = defaults[option as keyof RunOptions];
    const minimum = minimums[option as keyof RunOptions];
    const overrides = {
      ...(value !== undefined && { default: value }),
      ...(minimum !== undefined && { minimum }),
    };
    return [option, { ...schema, ...overrides }];
  });
  const options: JsonSchema = {
    ...definition.options,
    type: 'object',
    additionalProperties: false,
    properties: { ...Object.fromEntries(loop), ...own },
  };
  return trainerOf(definition, options);
}

/**
 * @param options The schema of all options, with the defaults of this trainer.
 * @param chosen The user's parts by option, and the value of the option that chooses each.
 */
function trainerOf<Options>(
  definition: Pick<
    TrainerDefinition<JsonSchema, Options>,
    'name' | 'description' | 'learnsFrom' | 'improves' | 'resolve' | 'create'
  >,
  options: JsonSchema,
  chosen: Readonly<Record<string, { name: string; part: TrainerPart }>> = {},
): ConfigurableTrainer<Options & RunOptions> {
  const { name, description, learnsFrom, improves, create } = definition;
  type Whole = ConfigurableTrainer<Options & RunOptions>;
  const withPart = (option: string, part: TrainerPart, as: string): Whole =>
    trainerOf(definition, schemaWithPart(options, { option, part, name: as, owner: name }), {
      ...chosen,
      [option]: { name: as, part },
    });
  const configure = (defaults: Partial<Options & RunOptions> = {}): Whole => {
    const given: Record<string, unknown> = { ...defaults };
    for (const [option] of partProperties(options)) {
      const part = given[option];
      if (!isPart(part)) continue;
      const rest = { ...given, [option]: part.name } as Partial<Options & RunOptions>;
      return withPart(option, part, part.name)(rest);
    }
    return trainerOf(definition, withDefaults(withReferences(options, given), given, name), chosen);
  };
  const trainer: Trainer<Options & RunOptions> = {
    name,
    description,
    ...(learnsFrom && { learnsFrom }),
    ...(improves && { improves }),
    options,
    resolve(given, run) {
      const complete = completeOptions(options, { ...given }, name) as Options & RunOptions;
      const chosen = { scheduleSteps: complete.steps || undefined, ...definition.resolve?.(complete, run) };
      const isChosen = ([option, value]: [string, unknown]) =>
        value !== undefined &&
        Object.hasOwn(options.properties!, option) &&
        complete[option as keyof Options] === undefined;
      return Object.fromEntries(Object.entries(chosen).filter(isChosen));
    },
    ...(partProperties(options).length > 0 && { withPart }),
    async *train(run, given) {
      checkRun(run, trainer);
      const made = await chooseParts(trainer, { ...given });
      if (made.trainer !== trainer) return yield* made.trainer.train(run, made.options as typeof given);
      const complete = completeOptions(options, { ...given }, name) as Options & RunOptions;
      const named = Object.entries(chosen).filter(
        ([option, part]) => complete[option as keyof Options] === part.name,
      );
      const parts = Object.fromEntries(named.map(([option, { part }]) => [option, part]));
      const whole = { ...unused(definition), ...complete };
      yield* runLoop(
        run,
        whole,
        (context) => create({ ...context, parts }),
        parts.scorer as Scorer | undefined,
      );
    },
  };
  // Assignment cannot replace the name of a function.
  return Object.defineProperties(configure, Object.getOwnPropertyDescriptors(trainer)) as Whole;
}

/** Defaults of the options that a trainer does not have. */
function unused(trainer: Pick<Trainer, 'learnsFrom' | 'improves'>): Partial<RunOptions> {
  return Object.fromEntries(optionsLeftOut(trainer).map((name) => [name, runOptions[name].default]));
}

function checkRun(run: Partial<Run> | undefined, { name, learnsFrom, improves }: Trainer<never>): void {
  const env = learnsFrom === 'data' ? [] : (['env'] as const);
  const learner = improves === 'prompts' ? [] : (['learner'] as const);
  const needed = [...env, 'policy', ...learner, 'out', 'seed'] as const;
  const missing = needed.find((part) => run?.[part] === undefined);
  if (missing === undefined) return;
  const message = `${name}: train(run, options) needs run.${missing}: give { ${needed.join(', ')} } and the options separately.`;
  throw new ToolEnvError('usage.run', message);
}
