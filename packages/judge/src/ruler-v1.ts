/**
 * The scorer `ruler-v1`: a judge reads all episodes of a group and scores each between 0 and 1, compared with the others. GRPO needs only
 * the differences within a group, which a judge sees better than absolute quality (RULER, of OpenPipe's ART).
 */
import { join } from 'node:path';
import type { ModelUsage, Trajectory } from '@toolenv/core';
import { defineScorer, type Scorer } from '@toolenv/core/plugins';
import { episodeText, startText } from '@toolenv/core/recording';
import type { OptionsOf } from '@toolenv/core/schemas';
import { JudgePolicy } from './judge-policy.ts';
import type { NamedText } from './question.ts';

const schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    judge: {
      type: 'string',
      minLength: 1,
      description:
        'policy that compares: openai:<url>#<model>, a reference or a folder; ?<option>=<value> sets its options',
    },
    judgePrompt: {
      type: 'string',
      minLength: 1,
      default:
        'Each episode is an attempt at the same task. Judge how well it reached the goal of the task. An episode that reaches the goal gets a much higher verdict than an episode that does not; among those that reach it, the more direct one is better. An episode that is nearer to the goal gets some credit. Compare the episodes: use the differences between them.',
      description: 'what to judge by',
    },
    judgeCalls: {
      type: 'integer',
      minimum: 0,
      mayChange: true,
      description: 'most requests to the judge; more abort the episodes of their groups (default: no limit)',
    },
    judgeCache: {
      type: 'string',
      minLength: 1,
      mayChange: true,
      description: 'file that keeps the verdicts (default: verdicts.jsonl in the folder of the run)',
    },
    judgeConcurrency: {
      type: 'integer',
      minimum: 1,
      default: 16,
      mayChange: true,
      description: 'requests to the judge at a time',
    },
    judgeMaxTokens: {
      type: 'integer',
      minimum: 1,
      default: 2048,
      description: 'most tokens of a reply of the judge',
    },
    judgeTimeout: {
      type: 'integer',
      minimum: 1,
      default: 120_000,
      milliseconds: true,
      mayChange: true,
      description: 'time that a reply of the judge may take',
    },
    judgeCharacters: {
      type: 'integer',
      minimum: 100,
      default: 20_000,
      description: 'characters of an episode that the judge reads; the middle of a longer one is left out',
    },
  },
} as const;

export type RulerOptions = OptionsOf<typeof schema>;

const ruler: Scorer<RulerOptions> = defineScorer({
  name: 'ruler-v1',
  description: 'A judge that compares the episodes of a group (RULER)',
  options: schema,
  example: { options: { judge: '@toolenv/judge/stand-in-v1' } },
  async begin({ folder, signal }, options) {
    const { judge: model, judgeCalls: calls, judgeConcurrency: concurrency } = options;
    const { judgeCache: cache = join(folder, 'verdicts.jsonl') } = options;
    const { judgeMaxTokens: maxTokens, judgeTimeout: timeout, judgePrompt, judgeCharacters } = options;
    const judge = await JudgePolicy.open({ model, calls, cache, concurrency, maxTokens, timeout }, signal);
    return {
      async score(episodes, { signal: stop }) {
        // Episodes that read the same earn the same.
        const texts = episodes.map((episode) => episodeText(episode, judgeCharacters));
        const judged = [...new Set(texts)].map((text, n): NamedText => ({ name: `episode ${n + 1}`, text }));
        const context = [{ name: 'task', text: startText(episodes[0]!, judgeCharacters) }];
        const question = { instructions: judgePrompt, context, judged, scale: [0, 1] as const };
        const { scores, reason, usage } = await judge.ask(question, stop);
        const place = new Map(judged.map(({ text }, n) => [text, n]));
        return episodes.map((_: Trajectory, n) => {
          const at = place.get(texts[n]!)!;
          const shared: { usage?: ModelUsage } = n === 0 && usage ? { usage } : {};
          return {
            value: scores[at]!,
            text: `as ${judged[at]!.name}. ${reason}`.trim(),
            ...shared,
          };
        });
      },
      close: () => judge.close(),
    };
  },
});
export default ruler;
