/** Mistakes in losses, advantages, trainers and scorers. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of modules
import type { Mistake } from './mistake.ts';

const loss = `
import { defineLoss } from '@toolenv/training';

export default defineLoss({
  name: 'spo',
  description: 'a parabola instead of a clip',
  average: 'episode-mean',
  options: { properties: { width: { type: 'number', default: 0.2, description: 'width of the parabola' } } },
  token({ ratio, advantage }, { width }) {
    const pull = (Math.abs(advantage) / width) * (ratio - 1);
    return {
      value: -ratio * advantage + (pull * (ratio - 1)) / 2,
      dLogRatio: (pull - advantage) * ratio,
    };
  },
});
`;

const advantage = `
import { defineAdvantage, groupAdvantages, ofEpisodes } from '@toolenv/training';

export default defineAdvantage({
  name: 'surprise',
  description: '(score − group mean) / group mean',
  options: { properties: { floor: { type: 'number', default: 0.1, description: 'least divisor' } } },
  estimate(inputs, { floor }) {
    const { scores, groups } = inputs;
    const differences = groupAdvantages(scores, groups, 'none');
    const means = scores.map((score, n) => score - differences[n]!);
    return ofEpisodes(inputs, differences.map((difference, n) => difference / Math.max(means[n]!, floor)));
  },
});
`;

const trainer = `
import { countTokens, defineTrainer } from '@toolenv/training';

export default defineTrainer({
  name: 'reinforce',
  description: 'REINFORCE with the mean of the rollout as baseline',
  options: { properties: { learningRate: { type: 'number', minimum: 0, default: 1e-4, description: 'of AdamW' } } },
  create: ({ options: { learningRate }, optimize }) => ({
    async update({ rows, trajectories }) {
      const baseline = trajectories.reduce((sum, { reward }) => sum + reward! / trajectories.length, 0);
      const tokens = countTokens(rows.map(({ mask }) => mask));
      const dLogprobs = rows.map(({ mask, trajectory }) => {
        const advantage = trajectory.reward! - baseline;
        return Float32Array.from(mask, (bit) => (-bit * advantage) / tokens);
      });
      const { gradNorm } = await optimize(rows, { dLogprobs }, { learningRate, maxGradNorm: 1 });
      return { grad_norm: gradNorm };
    },
  }),
});
`;

const scorer = `
import { defineScorer } from '@toolenv/core/plugins';

export default defineScorer({
  name: 'shortest-v1',
  description: 'Prefers the shorter episodes of a group.',
  options: { type: 'object', properties: {}, additionalProperties: false },
  example: { options: {} },
  begin: async () => ({
    async score(episodes) {
      const turns = episodes.map(({ steps }) => steps.length);
      const most = Math.max(...turns);
      return turns.map((count) => ({ value: 1 - count / most, text: \`\${count} turns\` }));
    },
  }),
});
`;
export const right: Readonly<Record<string, string>> = { loss, advantage, trainer, scorer };

export const mistakes: readonly Mistake[] = [
  {
    did: 'a derivative with a wrong sign',
    in: loss,
    edits: [['(pull - advantage) * ratio', '(pull + advantage) * ratio']],
    says: /TRN-10[\s\S]*Look at the sign of dLogprobs/,
  },
  {
    did: 'a loss that is one number',
    in: loss,
    edits: [
      [
        'return {\n      value: -ratio * advantage + (pull * (ratio - 1)) / 2,\n      dLogRatio: (pull - advantage) * ratio,\n    };',
        'return -ratio * advantage;',
      ],
    ],
    says: /The loss spo gives -\S+ for a token: return \{ value, dLogRatio \}/,
  },
  {
    did: 'a loss without a derivative',
    in: loss,
    edits: [['dLogRatio:', 'dRatio:']],
    says: /"dRatio":\S+ for a token: return \{ value, dLogRatio \}/,
  },
  {
    did: 'an average that is none',
    in: loss,
    edits: [["'episode-mean'", "'mean'"]],
    says: /unknown average "mean"\. Averages: episode-mean/,
  },
  {
    did: 'a loss that is NaN',
    in: loss,
    edits: [['/ width) *', '/ (width - width)) *']],
    says: /The loss gives a dLogprobs that is not finite/,
  },
  {
    did: 'advantages by episode, not by token',
    in: advantage,
    edits: [
      [
        'return ofEpisodes(inputs, differences.map((difference, n) => difference / Math.max(means[n]!, floor)));',
        'return differences.map((difference, n) => difference / Math.max(means[n]!, floor));',
      ],
    ],
    says: /for token 1 of row 0: estimate must return .* as \[rows\]\[tokens\]/,
  },
  {
    did: 'an estimator without a return',
    in: advantage,
    edits: [['return ofEpisodes(', 'ofEpisodes(']],
    says: /surprise returned nothing: return \[rows\]\[tokens\]/,
  },
  {
    did: 'values without needsCritic',
    in: advantage,
    edits: [
      [
        'const { scores, groups } = inputs;',
        'const { scores, groups } = inputs;\n    for (const row of inputs.values!) void row.length;',
      ],
    ],
    says: /inputs\.values is not iterable, at .*env-v1\.ts:10:30/,
  },
  {
    did: 'a division by a mean of 0',
    in: advantage,
    edits: [['Math.max(means[n]!, floor)', '(means[n]! + floor - floor)']],
    says: /surprise gives NaN for token 1 of row/,
  },
  {
    did: 'a trainer that climbs down',
    in: trainer,
    edits: [['(-bit * advantage)', '(bit * advantage)']],
    says: /TRN-10[\s\S]*Look at the sign of dLogprobs/,
  },
  {
    did: 'a trainer that never updates',
    in: trainer,
    edits: [
      [
        'const { gradNorm } = await optimize(rows, { dLogprobs }, { learningRate, maxGradNorm: 1 });',
        'void [optimize, dLogprobs, learningRate];\n      const gradNorm = 0;',
      ],
    ],
    says: /TRN-10[\s\S]*received 0\.500/,
  },
  {
    did: 'an update without a return',
    in: trainer,
    edits: [['return { grad_norm: gradNorm };', 'void gradNorm;']],
    says: /returned undefined: return its metrics, such as \{ grad_norm/,
  },
  {
    did: 'an optimize without await',
    in: trainer,
    edits: [['const { gradNorm } = await optimize(', 'const { gradNorm } = (optimize as any)(']],
    says: /metric "grad_norm" of update 1\s+received undefined/,
  },
  {
    did: 'a gradient for each episode, not token',
    in: trainer,
    edits: [
      [
        'return Float32Array.from(mask, (bit) => (-bit * advantage) / tokens);',
        'return Float32Array.of((-mask.length * advantage) / tokens);',
      ],
    ],
    says: /dLogprobs with 1 numbers for the 2 tokens of row 0: give \[rows\]\[tokens\]/,
  },
  {
    did: 'a trainer with Math.random',
    in: trainer,
    edits: [['trajectory.reward! - baseline', 'trajectory.reward! - baseline * (0.9 + 0.2 * Math.random())']],
    says: /TRN-9[\s\S]*Draw everything from run\.seed/,
  },
  {
    did: 'train for update',
    in: trainer,
    edits: [['async update(', 'async train(']],
    says: /no update: return \{ update \} from create/,
  },
  {
    did: 'a scorer with a score too few',
    in: scorer,
    edits: [['return turns.map(', 'return turns.slice(1).map(']],
    says: /an array of 4 scores/,
  },
  {
    did: 'a scorer out of its range',
    in: scorer,
    edits: [['1 - count / most', 'count + 1']],
    says: /a value from 0 to 1, or null\s+received 2/,
  },
  {
    did: 'a scorer of numbers',
    in: scorer,
    edits: [['({ value: 1 - count / most, text: `${count} turns` })', '1 - count / most']],
    says: /a value from 0 to 1, or null\s+received undefined\s+hint +Return \{ value \}/,
  },
];
