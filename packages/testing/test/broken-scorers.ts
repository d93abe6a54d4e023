/** Scorers that break one rule each. All are changes of one valid scorer. */
import { createRng } from '@toolenv/core';
import { defineScorer, type OpenScorer, type Scorer } from '@toolenv/core/plugins';
import type { RuleId } from '../src/index.ts';

/** Scores the shorter answers of a group better. */
export const shortness: Scorer = defineScorer({
  name: 'shortness-v1',
  description: 'Prefers short answers.',
  options: { type: 'object', properties: {}, additionalProperties: false },
  example: { options: {} },
  begin: async () => ({
    async score(episodes, { signal }) {
      signal?.throwIfAborted();
      const lengths = episodes.map(({ steps }) => steps.at(-1)!.action.text.length);
      const longest = Math.max(...lengths, 1);
      return lengths.map((length) => ({ value: 1 - length / longest, text: `${length} characters` }));
    },
  }),
});

/** Not Math.random, so that a failure of these tests repeats. */
const unseeded = createRng(1, 'unseeded');

/** Timers left by a broken scorer, for the test to clear. */
export const scorerLeaks: ReturnType<typeof setInterval>[] = [];

type Change = Partial<OpenScorer> | Partial<Scorer>;

/** The valid scorer with other functions of its own, or of what it opens. */
export function changed(change: Change): Scorer {
  if (!('score' in change)) return { ...shortness, ...change };
  return { ...shortness, begin: async () => change as OpenScorer };
}

export const brokenScorers: readonly [what: string, rule: RuleId, change: Change][] = [
  ['an example that does not open', 'SCR-1', { begin: async () => Promise.reject(new Error('no server')) }],
  ['options that its example does not follow', 'SCR-1', { example: { options: { model: 'x' } } }],
  ['too few scores', 'SCR-2', { score: async (episodes) => episodes.slice(1).map(() => ({ value: 0 })) }],
  ['a score beyond its range', 'SCR-2', { score: async (episodes) => episodes.map(() => ({ value: 2 })) }],
  [
    'a score that is not a number',
    'SCR-2',
    { score: async (episodes) => episodes.map(() => ({ value: Number.NaN })) },
  ],
  [
    'scores at random',
    'SCR-3',
    { score: async (episodes) => episodes.map(() => ({ value: unseeded.float() })) },
  ],
  [
    'a changed trajectory',
    'SCR-4',
    {
      score: async (episodes) =>
        episodes.map((episode) => {
          episode.steps[0]!.action.text = '';
          return { value: 0 };
        }),
    },
  ],
  [
    'scoring that hangs when it is cancelled',
    'SCR-5',
    {
      score: async (episodes, { signal }) =>
        signal?.aborted ? new Promise(() => {}) : episodes.map(() => ({ value: 0 })),
    },
  ],
  [
    'a timer that is left',
    'SCR-6',
    {
      score: async (episodes) => {
        scorerLeaks.push(setInterval(() => {}, 1e6));
        return episodes.map(() => ({ value: 0 }));
      },
    },
  ],
];
