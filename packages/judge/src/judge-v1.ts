/** The tool `judge-v1`: asks a model for a verdict on a text. Rewards of `judge` ask it; the policy in training never sees it. */
import { defineToolPlugin, refuse, type Tool, type ToolPlugin } from '@toolenv/core';
import { JudgePolicy, type JudgeSettings } from './judge-policy.ts';
import { type Scale, scaleMistake } from './scale.ts';

/** Arguments of a call. */
export interface JudgedText {
  /** What to judge by. */
  instructions: string;
  /** What the policy has written. */
  judged: string;
  scale: Scale;
}

/** The data of a result. */
export interface JudgeResult {
  verdict: string;
  score: number;
  reason: string;
}

const settings = {
  model: {
    type: 'string',
    minLength: 1,
    description: 'policy that judges: openai:<url>#<model>, a reference or a folder',
  },
  calls: { type: 'integer', minimum: 0, description: 'most requests to the judge' },
  cache: { type: 'string', minLength: 1, description: 'file that keeps the verdicts' },
  concurrency: { type: 'integer', minimum: 1, description: 'requests to the judge at a time' },
  maxTokens: { type: 'integer', minimum: 1, description: 'most tokens of a reply of the judge' },
  temperature: { type: 'number', minimum: 0, description: 'sampling temperature of the judge' },
  timeout: { type: 'integer', minimum: 1, description: 'milliseconds that a reply of the judge may take' },
} as const;

const plugin: ToolPlugin<JudgeSettings> = defineToolPlugin({
  name: 'judge-v1',
  description: 'A model that judges texts. Rewards ask it.',
  options: { type: 'object', additionalProperties: false, properties: settings },
  example: {
    material: { model: '@toolenv/judge/stand-in-v1' },
    calls: [{ instructions: 'Is it polite?', judged: 'Thank you very much.', scale: [0, 10] }],
  },
  create: (material: JudgeSettings, options: Record<string, unknown> = {}) =>
    judgeTool({ ...material, ...options }),
});
export default plugin;

/** The tool over a policy. @throws ToolEnvError `usage.no_judge` without a model, and what opening the policy throws. */
export async function judgeTool(given: JudgeSettings): Promise<Tool<Record<string, unknown>, JudgeResult>> {
  const judge = await JudgePolicy.open(given);
  return {
    name: 'judge',
    description: plugin.description,
    inputSchema: {
      type: 'object',
      required: ['instructions', 'judged', 'scale'],
      additionalProperties: false,
      properties: {
        instructions: { type: 'string' },
        judged: { type: 'string' },
        scale: {
          anyOf: [
            { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 },
            { type: 'object', minProperties: 2, additionalProperties: { type: 'number' } },
          ],
        },
      },
    },
    // The judge bounds each reply. A verdict may also wait for others.
    timeout: 24 * 3600 * 1000,
    async execute(args, { signal }) {
      const { instructions, judged, scale } = args as unknown as JudgedText;
      const wrong = scaleMistake(scale);
      if (wrong) return refuse({ path: '/scale', expected: wrong, received: JSON.stringify(scale) });
      const question = { instructions, judged: [{ name: 'text', text: judged }], scale };
      const { verdicts, scores, reason, usage } = await judge.ask(question, signal);
      const [verdict, score] = [verdicts[0]!, scores[0]!];
      return {
        content: [{ type: 'text', text: reason === '' ? verdict : `${verdict}: ${reason}` }],
        structuredContent: { verdict, score, reason },
        ...(usage && { usage }),
      };
    },
    close: () => judge.close(),
  };
}
