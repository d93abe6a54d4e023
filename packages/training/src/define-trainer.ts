/** defineTrainer: an algorithm and its options become a trainer, which runs on the shared loop. */
import type { JsonSchema } from '@toolenv/core';
import { ToolEnvError } from '@toolenv/core';
import { completeOptions, type Run, type Trainer } from '@toolenv/core/plugins';
import type { OptionsOf } from '@toolenv/core/schemas';
import type { Algorithm, AlgorithmContext } from './algorithm.ts';
import { runLoop } from './run-loop.ts';
import { type RunOptions, runOptions } from './run-options.ts';

export interface TrainerDefinition<Schema extends JsonSchema, Options> {
  readonly name: string;
  readonly description: string;
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
  create(context: AlgorithmContext<Options>): Algorithm | Promise<Algorithm>;
}

/**
 * The trainer's options are the algorithm's and the loop's. `train` checks them and fills in defaults.
 * @throws ToolEnvError `bug.trainer` for an option that the loop has too.
 */
export function defineTrainer<const Schema extends JsonSchema, Options = OptionsOf<Schema>>(
  definition: TrainerDefinition<Schema, Options>,
): Trainer<Options & RunOptions> {
  const { name, description, defaults = {}, minimums = {} } = definition;
  const own = (definition.options.properties ?? {}) as Record<string, object>;
  const taken = Object.keys(own).find((option) => Object.hasOwn(runOptions, option));
  if (taken !== undefined) {
    const message = `Trainer ${name}: option "${taken}" belongs to the run loop: set its default in "defaults", or rename yours.`;
    throw new ToolEnvError('bug.trainer', message);
  }
  const loop = Object.entries(runOptions).map(([option, schema]) => {
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
  return {
    name,
    description,
    options,
    async *train(run, given) {
      checkRun(run, name);
      const complete = completeOptions(options, { ...given }, name) as Options & RunOptions;
      yield* runLoop(run, complete, definition.create);
    },
  };
}

function checkRun(run: Partial<Run> | undefined, name: string): void {
  const needed = ['env', 'policy', 'learner', 'out', 'seed'] as const;
  const missing = needed.find((part) => run?.[part] === undefined);
  if (missing === undefined) return;
  const message = `${name}: train(run, options) needs run.${missing}: give { ${needed.join(', ')} } and the options separately.`;
  throw new ToolEnvError('usage.run', message);
}
