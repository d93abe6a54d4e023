/** The named algorithms: each is a choice of estimator, loss and options, which explicit options override. */
import { type JsonSchema, ToolEnvError } from '@toolenv/core';
import type { GrpoOptions } from './grpo-options.ts';

export type Algorithm = GrpoOptions['algorithm'];

/** What an algorithm chooses. */
export type AlgorithmOptions = Required<
  Pick<
    GrpoOptions,
    | 'advantage'
    | 'scaleRewards'
    | 'loss'
    | 'clip'
    | 'beta'
    | 'klIn'
    | 'klEstimator'
    | 'zeroVariance'
    | 'truncated'
  >
> &
  Pick<GrpoOptions, 'delta' | 'ratioLevel'>;

/** GRPO (arXiv 2402.03300), averaged over tokens as in the common training systems. */
const grpo: AlgorithmOptions = {
  advantage: 'grpo',
  scaleRewards: 'group',
  loss: 'dapo',
  ratioLevel: undefined,
  clip: [0.2, 0.2],
  delta: undefined,
  beta: 0,
  klIn: 'loss',
  klEstimator: 'k3',
  zeroVariance: 'drop',
  truncated: 'learn',
};

/** What Agent-R1 (arXiv 2511.14460) uses with estimators that have no group deviation. */
const inReward = { delta: 3, klIn: 'reward', klEstimator: 'k1' } as const;

const reinforce: AlgorithmOptions = {
  ...grpo,
  ...inReward,
  advantage: 'reinforce++',
  beta: 1e-3,
  zeroVariance: 'keep',
};

export const algorithms: Readonly<Record<Algorithm, AlgorithmOptions>> = {
  grpo,
  dr_grpo: { ...grpo, loss: 'dr_grpo', scaleRewards: 'none' },
  dapo: { ...grpo, clip: [0.2, 0.28], zeroVariance: 'resample', truncated: 'mask' },
  gspo: { ...grpo, loss: 'grpo', ratioLevel: 'sequence', clip: [3e-4, 4e-4] },
  cispo: { ...grpo, loss: 'cispo' },
  sapo: { ...grpo, loss: 'sapo' },
  bnpo: { ...grpo, loss: 'bnpo' },
  vespo: { ...grpo, loss: 'vespo' },
  luspo: { ...grpo, loss: 'luspo', clip: [2e-3, 2.5e-3] },
  rloo: { ...grpo, ...inReward, advantage: 'rloo' },
  'reinforce++': reinforce,
  'reinforce++-baseline': { ...reinforce, advantage: 'reinforce++-baseline' },
};

/**
 * The options, completed with the algorithm's own.
 * @throws ToolEnvError `usage.bad_option` for options that contradict each other.
 */
export function resolveAlgorithm<Options extends GrpoOptions>(options: Options): Options & AlgorithmOptions {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const resolved = { ...algorithms[options.algorithm], ...given } as Options & AlgorithmOptions;
  const { advantage, credit } = resolved;
  if (credit === 'turn' && String(advantage).startsWith('reinforce')) {
    const message = `grpo: option "credit": turn is for the advantages grpo and rloo; ${advantage} has its own returns.`;
    throw new ToolEnvError('usage.bad_option', message);
  }
  return resolved;
}

/** The schema; descriptions of options that an algorithm chooses end with its choices, as help shows defaults. */
export function withAlgorithmDefaults(schema: {
  readonly properties: Readonly<Record<string, { readonly description: string; readonly default?: unknown }>>;
}): JsonSchema {
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    if (!Object.hasOwn(grpo, name)) return [name, property];
    const { default: _, ...chosen } = property;
    const unset = name === 'ratioLevel' ? 'that of the loss' : 'none';
    const valueIn = (options: AlgorithmOptions) => String(options[name as keyof AlgorithmOptions] ?? unset);
    const others = Object.entries(algorithms).filter(([, options]) => valueIn(options) !== valueIn(grpo));
    const exceptions = others.map(([algorithm, options]) => `; ${valueIn(options)} in ${algorithm}`);
    const description = `${property.description} (default: ${valueIn(grpo)}${exceptions.join('')})`;
    return [name, { ...chosen, description }];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}
