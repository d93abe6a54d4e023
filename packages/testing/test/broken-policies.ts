/** Policies that break one rule each. All are changes of one valid policy. */
import {
  type Action,
  type ActionTokens,
  createRng,
  type EncodedRow,
  type Observation,
  type Policy,
  type SamplingOptions,
} from '@toolenv/core';
import type { RuleId } from '../src/index.ts';
import { TablePolicy } from './table-model.ts';

/** Changes the result of {@link Policy.act}. */
function acting(
  change: (action: Action, options: SamplingOptions, observation: Observation) => object,
): () => Partial<Policy> {
  const good = new TablePolicy();
  return () => ({
    act: async (observation, options) =>
      ({
        ...change(await good.act(observation, options), options, observation),
      }) as Action,
  });
}

function withTokens(change: (tokens: ActionTokens) => object): () => Partial<Policy> {
  return acting((action) => ({ ...action, tokens: { ...action.tokens!, ...change(action.tokens!) } }));
}

/** Changes the options of {@link Policy.act}. */
function asking(change: (options: SamplingOptions) => Partial<SamplingOptions>): () => Partial<Policy> {
  const good = new TablePolicy();
  return () => ({ act: (observation, options) => good.act(observation, { ...options, ...change(options) }) });
}

/** Changes the rows of {@link Policy.encode}. */
function encoding(change: (row: EncodedRow) => Partial<EncodedRow>): () => Partial<Policy> {
  const good = new TablePolicy();
  return () => ({ encode: (example) => good.encode(example).map((row) => ({ ...row, ...change(row) })) });
}

/** Not Math.random, so that a failure of these tests repeats. */
const unseeded = createRng(1, 'unseeded');

export const brokenPolicies: readonly [what: string, rule: RuleId, change: () => Partial<Policy>][] = [
  ['no context length', 'POL-1', () => ({ spec: { name: 'table', contextLength: 0 } })],
  ['an unknown stop reason', 'POL-2', acting((action) => ({ ...action, stopReason: 'eos' }))],
  [
    'two calls with the same id',
    'POL-2',
    acting((action) => {
      const call = { id: 'a', name: 'search', arguments: {} };
      return { ...action, toolCalls: [call, call], stopReason: 'tool_call' };
    }),
  ],
  ['fewer log-probabilities than tokens', 'POL-3', withTokens(() => ({ logprobs: new Float32Array(0) }))],
  ['probabilities above 1', 'POL-3', withTokens(({ logprobs }) => ({ logprobs: logprobs.map(() => 0.5) }))],
  ['tokens in a plain array', 'POL-3', withTokens(({ action }) => ({ action: [...action] }))],
  ['an ignored maxTokens', 'POL-4', asking(() => ({ maxTokens: 60 }))],
  ['an ignored seed', 'POL-5', asking(() => ({ seed: unseeded.int(1e9) }))],
  [
    'sampling that depends on concurrent calls',
    'POL-6',
    () => {
      const good = new TablePolicy();
      let atOnce = 0;
      return {
        async act(observation, options) {
          atOnce += 1;
          try {
            return await good.act(observation, { ...options, seed: options.seed + 100 * (atOnce - 1) });
          } finally {
            atOnce -= 1;
          }
        },
      };
    },
  ],
  [
    'a context that is cut silently',
    'POL-7',
    () => {
      const good = new TablePolicy();
      return {
        act: (observation, options) => {
          const [first] = observation.messages;
          const cut =
            first!.content.length > 300 ? { messages: [{ ...first!, content: '' }], tools: [] } : observation;
          return good.act(cut, options);
        },
      };
    },
  ],
  ['an ignored signal', 'POL-8', asking(() => ({ signal: undefined }))],
  [
    'an exception for an unknown episode',
    'POL-9',
    () => {
      const known = new Set<string>();
      const good = new TablePolicy();
      return {
        act: (observation, options) => {
          known.add(options.episodeId ?? '');
          return good.act(observation, options);
        },
        endEpisode: (episodeId) => {
          if (!known.delete(episodeId)) throw new Error(`no episode ${episodeId}`);
        },
      };
    },
  ],
  [
    'random sampling at temperature 0',
    'POL-10',
    asking(({ temperature }) => ({ temperature: temperature === 0 ? 1 : temperature })),
  ],
  [
    'an observation that is changed',
    'POL-11',
    acting((action, _, observation) => {
      observation.messages.push({ role: 'assistant', content: action.text });
      return action;
    }),
  ],
  ['rows without turns', 'POL-12', encoding(() => ({ turns: new Int32Array() }))],
  ['a mask over the prompt', 'POL-12', encoding(({ mask }) => ({ mask: mask.map((_, t) => Number(t > 0)) }))],
  [
    'a turn that is learned twice',
    'POL-12',
    () => {
      const good = new TablePolicy();
      return { encode: (example) => good.encode(example).flatMap((row) => [row, row]) };
    },
  ],
  [
    'text whose end is not learned',
    'POL-12',
    () => {
      const good = new TablePolicy();
      return {
        encode: (example) => good.encode('segments' in example ? { ...example, ends: false } : example),
      };
    },
  ],
  [
    'rows with another prompt than an action has',
    'POL-13',
    () => {
      const good = new TablePolicy();
      return {
        encode: (example) => good.encode('segments' in example ? example : { ...example, tools: [] }),
      };
    },
  ],
  ['a prompt without a word of its tools', 'POL-14', () => ({ vocabulary: new Map([[0, 'a']]) })],
];
