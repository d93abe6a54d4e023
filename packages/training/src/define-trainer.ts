/** defineTrainer: an algorithm and its options become a trainer, which runs on the shared loop. */
import type { JsonSchema } from '@toolenv/core';
import { ToolEnvError } from '@toolenv/core';
import { completeOptions, type Run, type Trainer } from '@toolenv/core/plugins';
import type { OptionsOf } from '@toolenv/core/schemas';
import type { Algorithm, AlgorithmContext, DataAlgorithm } from './algorithm.ts';
import { runLoop } from './run-loop.ts';
import { type RunOptions, rolloutOptions, runOptions } from './run-options.ts';

export interface TrainerDefinition<Schema extends JsonSchema, Options> {
  readonly name: string;
  readonly description: string;
  /** `data`: `create` makes a `DataAlgorithm`, and the trainer has no options of rollouts. Default `episodes`. */
  readonly learnsFrom?: 'episodes' | 'data';
  /** JSON Schema of an object: the algorithm's own options. A literal gives `create` their types. */
  readonly options: Schema;
  /** Defaults of the loop's options where this trainer wants others. */
  readonly defaults?: Partial<RunOptions>;
  /** Smallest values of the loop's options where this trainer needs more than the loop. */
  readonly minimums?: { readonly [Option in keyof RunOptions]?: RunOptions[Option] & number };
  /**
   * Called once per run, before a checkpoint is loaded: the place for a critic or a reference policy.
   * @throws ToolEnvError `usage.*` for a run that the algorithm cannot train.
   */
  create(context: AlgorithmContext<Options>): Algorithm | DataAlgorithm | Promise<Algorithm | DataAlgorithm>;
}

/** A trainer that can be called: `grpo({ learningRate: 3e-5 })` is the same trainer with other defaults. */
export interface ConfigurableTrainer<Options> extends Trainer<Options> {
  /** @throws ToolEnvError `usage.unknown_option` or `usage.bad_option`, naming the option. */
  (defaults?: Partial<Options>): ConfigurableTrainer<Options>;
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
  const isLeftOut = (option: string) =>
    definition.learnsFrom === 'data' && rolloutOptions.includes(option as keyof RunOptions);
  const kept = Object.entries(runOptions).filter(([option]) => !isLeftOut(option));
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

/** @param options The schema of all options, with the defaults of this trainer. */
function trainerOf<Options>(
  definition: Pick<TrainerDefinition<JsonSchema, Options>, 'name' | 'description' | 'learnsFrom' | 'create'>,
  options: JsonSchema,
): ConfigurableTrainer<Options & RunOptions> {
  const { name, description, learnsFrom, create } = definition;
  const configure = (defaults: Partial<Options & RunOptions> = {}) =>
    trainerOf(definition, withDefaults(options, { ...defaults }, name));
  const trainer: Trainer<Options & RunOptions> = {
    name,
    description,
    ...(learnsFrom && { learnsFrom }),
    options,
    async *train(run, given) {
      checkRun(run, trainer);
      const complete = completeOptions(options, { ...given }, name) as Options & RunOptions;
      yield* runLoop(run, { ...unused(learnsFrom), ...complete }, create);
    },
  };
  // A function has a name of its own, which assignment cannot replace.
  return Object.defineProperties(configure, Object.getOwnPropertyDescriptors(trainer)) as ConfigurableTrainer<
    Options & RunOptions
  >;
}

function withDefaults(schema: JsonSchema, defaults: Record<string, unknown>, name: string): JsonSchema {
  // Options that must be given may still come later.
  completeOptions({ ...schema, required: [] }, defaults, name);
  const properties = schema.properties as Record<string, object>;
  const changed = Object.entries(defaults).filter(([, value]) => value !== undefined);
  const replaced = changed.map(([option, value]) => [option, { ...properties[option], default: value }]);
  return { ...schema, properties: { ...properties, ...Object.fromEntries(replaced) } };
}

/** Defaults of the options that a trainer does not have. */
function unused(learnsFrom: Trainer['learnsFrom']): Partial<RunOptions> {
  const names = learnsFrom === 'data' ? rolloutOptions : [];
  return Object.fromEntries(names.map((name) => [name, runOptions[name].default]));
}

function checkRun(run: Partial<Run> | undefined, { name, learnsFrom }: Trainer<never>): void {
  const env = learnsFrom === 'data' ? [] : (['env'] as const);
  const needed = [...env, 'policy', 'learner', 'out', 'seed'] as const;
  const missing = needed.find((part) => run?.[part] === undefined);
  if (missing === undefined) return;
  const message = `${name}: train(run, options) needs run.${missing}: give { ${needed.join(', ')} } and the options separately.`;
  throw new ToolEnvError('usage.run', message);
}
