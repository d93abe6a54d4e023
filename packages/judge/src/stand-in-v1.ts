/** The policy `stand-in-v1`: gives verdicts without a model, to try an environment or a scorer before a judge costs anything. */
import type { Policy } from '@toolenv/core';
import { definePolicy, type PolicyDefinition } from '@toolenv/core/plugins';

const standIn: PolicyDefinition = definePolicy({
  name: 'stand-in-v1',
  description:
    'Stands in for a judge: without a model, the verdict is the better the more different words a text has',
  options: { type: 'object', properties: {}, additionalProperties: false },
  open: async (): Promise<Policy> => ({
    spec: { name: 'stand-in-v1', contextLength: Number.MAX_SAFE_INTEGER },
    async act({ messages }, { signal }) {
      signal?.throwIfAborted();
      const [system = '', material = ''] = messages.map(({ content }) => content);
      return { text: verdictsOf(system, material), toolCalls: [], stopReason: 'stop' };
    },
  }),
});
export default standIn;

/** Reads a question of a judge. An empty text for anything else. */
function verdictsOf(system: string, material: string): string {
  const fence = /<<<([0-9a-f]{24})/.exec(system)?.[1];
  if (fence === undefined) return '';
  const texts = new Map(
    [...material.matchAll(new RegExp(`<<<${fence} (.*?)>>>\n(.*?)\n<<<end ${fence}>>>`, 'gs'))].map(
      ([, name, text]) => [name!, text!],
    ),
  );
  const lines = [...system.matchAll(/^(Verdict [0-9a-f]{8}(?: (.+))?:) <verdict>$/gm)];
  const words = /best first: (.+)\. Give/.exec(system)?.[1]?.split(', ');
  const [, low = 0, high = 1] = (/number from (\S+) \(worst\) to (\S+) \(best\)/.exec(system) ?? []).map(
    Number,
  );
  const isAsked = new Map(lines.map(([, line, name]) => [line!, name ?? [...texts.keys()].at(-1)!]));
  return [...isAsked]
    .map(([line, name]) => {
      const share = 1 - 1 / (1 + new Set(texts.get(name)?.match(/\w+/g)).size / 10);
      const verdict = words
        ? words[Math.floor((1 - share) * (words.length - 1e-9))]
        : String(Math.min(high, Math.max(low, Number((low + share * (high - low)).toFixed(3)))));
      return `${line} ${verdict}`;
    })
    .join('\n');
}
