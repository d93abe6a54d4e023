/** The rows without training: the demonstrator, and the start policy with the best of three prompts. */
import type { EnvHandle, Policy } from '@toolenv/core';
import { transformObservation } from '@toolenv/core/wrappers';
import type { QaRecord } from '@toolenv/envs-qa';
import { baselinePolicy } from '@toolenv/training';
import type { Placement } from '@toolenv/training/runs';
import { demonstrator, knowledgeOf } from '../../workshop/tiny-policy/demonstrator.ts';
import { type Family, families } from '../../workshop/tiny-policy/families.ts';
import type { Mix } from '../../workshop/tiny-policy/strategies.ts';
import { type Datasets, type Examination, type Score, score } from './datasets.ts';
import type { Study } from './study.ts';

/** System messages to try. `undefined` is the environment's own. */
const instructions: readonly (string | undefined)[] = [
  undefined,
  'Search until every fact that the question needs is found. Then put the answer in <answer></answer>.',
  'Answer the question step by step: search, read, search again if needed. Put the answer in <answer></answer>.',
];

/** Where naive RAG puts the retrieved documents, in words. */
const placements: Readonly<Record<string, Placement>> = {
  'result of a search': 'result',
  'before the question': 'before',
  'after the question': 'after',
};

export interface BaselineResult {
  scores: Record<string, Score>;
  /** Describes the best prompt on the validation questions. */
  prompt?: string;
}

/** The demonstrator, who knows the world: what the search engine and the limits of an episode leave possible. */
export async function playDemonstrator(
  open: Datasets,
  names: readonly Family[],
  run: Examination,
  price?: number,
): Promise<BaselineResult> {
  const scores: Record<string, Score> = {};
  for (const name of names) {
    const env = open[name]!;
    const { test } = env.tasks;
    const tasks = Array.from({ length: await test.length }, (_, index) => test.get(index));
    const records = (await Promise.all(tasks)) as QaRecord[];
    const policy = demonstrator(knowledgeOf(run.seed, 'test', records), mixAt(price, name));
    scores[name] = await score(env, policy, { ...run, split: 'test' });
  }
  return { scores };
}

/** What a claim is worth that is guessed. */
const guess = 0.5;

/** The strategy of a demonstrator who knows the price: to guess where searching is worth less. */
export function mixAt(price: number | undefined, family: Family): Mix {
  const { options } = families[family];
  const [hops = 0] = 'hops' in options ? options.hops : [];
  return 1 - (price ?? 0) * hops < guess ? { guess: 1 } : { followHops: 1 };
}

/** Chooses the prompt by its mean exact match on validation questions of the training's datasets, and scores it on test questions. */
export async function playPrompted(
  plays: 'base-tool-call' | 'naive-rag',
  open: Datasets,
  policy: Policy,
  { trainsOn, scoredOn }: Pick<Study, 'trainsOn' | 'scoredOn'>,
  run: Examination,
): Promise<BaselineResult> {
  const variants: Variant[] =
    plays === 'naive-rag'
      ? Object.entries(placements).map(([prompt, placement]) => ({
          prompt,
          play: (env) => [env, baselinePolicy('naive-rag', policy, { placement })],
        }))
      : instructions.map((instruction) => ({
          prompt: instruction ?? 'the environment’s own',
          play: (env) => [instruction === undefined ? env : instructed(env, instruction), policy],
        }));
  const scoresOf = async (
    { play }: Variant,
    names: readonly Family[],
    split: 'validation' | 'test',
  ): Promise<Record<string, Score>> => {
    const scores: Record<string, Score> = {};
    for (const name of names) scores[name] = await score(...play(open[name]!), { ...run, split });
    return scores;
  };

  let best: { variant: Variant; em: number } | undefined;
  for (const variant of variants) {
    const scores = Object.values(await scoresOf(variant, trainsOn, 'validation'));
    const em = scores.reduce((sum, score) => sum + score.em, 0) / scores.length;
    if (!best || em > best.em) best = { variant, em };
  }
  return { scores: await scoresOf(best!.variant, scoredOn, 'test'), prompt: best!.variant.prompt };
}

interface Variant {
  prompt: string;
  play(env: EnvHandle<unknown>): [EnvHandle<unknown>, Policy];
}

/** The environment with another instruction, which is its first message. */
function instructed(env: EnvHandle<unknown>, instruction: string): EnvHandle<unknown> {
  return transformObservation(env, ({ messages: [first, ...rest], tools }) => ({
    messages: [{ ...first!, content: instruction }, ...rest],
    tools,
  }));
}
