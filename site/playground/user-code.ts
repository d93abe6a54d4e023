/** Code that a reader writes in the page: TypeScript whose types are removed, run in the worker. */
import * as core from '@toolenv/core';
import {
  type EnvDefinition,
  type EnvHandle,
  messageOf,
  type Rewards,
  sumRewards,
  ToolEnvError,
} from '@toolenv/core';
import * as wrappers from '@toolenv/core/wrappers';
import { transformReward } from '@toolenv/core/wrappers';
import { transform } from 'sucrase';
import { withChanges, wrap } from '../../packages/core/src/wrappers/wrap.ts';
import { exactMatch, f1Score, substringMatch } from '../../packages/envs-qa/src/answer-score.ts';
import { readAnswer } from '../../packages/envs-qa/src/answer-tag.ts';
import {
  bridgeQuestions,
  composeQuestions,
  lookupQuestions,
} from '../../packages/envs-qa/src/chain-questions.ts';
import { comparisonQuestions } from '../../packages/envs-qa/src/comparison-questions.ts';
import { textOf } from '../../packages/envs-qa/src/document.ts';
import { goldTitles } from '../../packages/envs-qa/src/qa-record.ts';
import { createQuestions } from '../../packages/envs-qa/src/question-set.ts';
import { createWorld } from '../../packages/envs-qa/src/world.ts';

/** What `@toolenv/envs-qa` exports, without the readers of files, which a tab cannot load. */
const envsQa = {
  bridgeQuestions,
  comparisonQuestions,
  composeQuestions,
  createQuestions,
  createWorld,
  exactMatch,
  f1Score,
  goldTitles,
  lookupQuestions,
  readAnswer,
  substringMatch,
  textOf,
};

/** What the code can import. */
const modules: Readonly<Record<string, unknown>> = {
  '@toolenv/core': core,
  '@toolenv/core/wrappers': wrappers,
  '@toolenv/envs-qa': envsQa,
};

/**
 * Runs TypeScript and returns its default export. The types are removed and not checked.
 * @throws Error for a mistake of syntax, another module, or no default export; and what the code throws.
 */
export function defaultExport(code: string): unknown {
  const { code: script } = transform(code, { transforms: ['typescript', 'imports'], production: true });
  const module: { exports: { default?: unknown } } = { exports: {} };
  const require = (name: string) => {
    if (modules[name] !== undefined) return modules[name];
    throw new Error(`${name} is not in the tab: import ${Object.keys(modules).join(', ')}.`);
  };
  new Function('module', 'exports', 'require', script)(module, module.exports, require);
  if (module.exports.default === undefined)
    throw new Error('The code exports nothing: begin with "export default".');
  return module.exports.default;
}

/** Each score of a finished episode, summed over its steps, by name. `null` is "not scored". */
export type RewardFunction = (scores: Readonly<Rewards>) => number;

/** @throws Error if the code does not export a function. */
export function rewardFunction(code: string): RewardFunction {
  const exported = defaultExport(code);
  if (typeof exported !== 'function')
    throw new Error('The reward is not a function: write "export default (scores) => …".');
  return exported as RewardFunction;
}

/** @throws Error if the code does not export an environment. */
export function environmentDefinition(code: string): EnvDefinition<unknown> {
  const exported = defaultExport(code) as Partial<EnvDefinition<unknown>>;
  if (typeof exported.open !== 'function')
    throw new Error('The code exports no environment: write "export default defineToolEnv({ … })".');
  return exported as EnvDefinition<unknown>;
}

/** Largest absolute value of a reward that a reader writes. */
const most = 100;

/**
 * The environment with the reader's reward at the end of an episode, from the sum of each score. Its own scores are reported, and weigh
 * nothing.
 */
export function withReward(env: EnvHandle<unknown>, reward: RewardFunction): EnvHandle<unknown> {
  const { rewards } = env.episode().spec;
  const own = Object.entries(rewards).map(([name, component]) => [name, { ...component, weight: 0 }]);
  return wrap(env, (inner) => {
    let steps: { rewards: Rewards }[] = [];
    const rewarded = transformReward(inner, {
      rewards: { ...Object.fromEntries(own), yours: { kind: 'outcome', range: [-most, most], weight: 1 } },
      transform(scores, { outcome }) {
        steps.push({ rewards: scores });
        if (outcome.kind !== 'terminated') return scores;
        return { ...scores, yours: checked(reward, sumRewards(rewards, steps)) };
      },
    });
    return withChanges(rewarded, {
      reset(options) {
        steps = [];
        return rewarded.reset(options);
      },
    });
  });
}

function checked(reward: RewardFunction, scores: Rewards): number {
  let value: unknown;
  try {
    value = reward(scores);
  } catch (error) {
    throw new ToolEnvError('bug.reward', `Your reward failed: ${messageOf(error)}`, { cause: error });
  }
  if (typeof value === 'number' && Math.abs(value) <= most) return value;
  const remedy = `return a number from −${most} to ${most}`;
  const names = Object.keys(scores).join(', ');
  throw new ToolEnvError(
    'bug.reward',
    `Your reward returned ${String(value)}: ${remedy}. The scores are ${names}.`,
  );
}
