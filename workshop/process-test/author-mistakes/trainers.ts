/** Mistakes in losses, advantages, trainers and scorers. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of modules
import { type Mistake, mistakesIn } from './mistake.ts';

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
  ...mistakesIn(loss, {
    'a derivative with a wrong sign': [
      ['(pull - advantage) * ratio', '(pull + advantage) * ratio'],
      /TRN-10[\s\S]*Look at the sign of dLogprobs/,
    ],
    'a loss that is one number': [
      [
        'return {\n      value: -ratio * advantage + (pull * (ratio - 1)) / 2,\n      dLogRatio: (pull - advantage) * ratio,\n    };',
        'return -ratio * advantage;',
      ],
      /The loss spo gives -\S+ for a token: return \{ value, dLogRatio \}/,
    ],
    'a loss without a derivative': [
      ['dLogRatio:', 'dRatio:'],
      /"dRatio":\S+ for a token: return \{ value, dLogRatio \}/,
    ],
    'an average that is none': [
      ["'episode-mean'", "'mean'"],
      /unknown average "mean"\. Averages: episode-mean/,
    ],
    'a loss that is NaN': [
      ['/ width) *', '/ (width - width)) *'],
      /The loss gives a dLogprobs that is not finite/,
    ],
  }),
  ...mistakesIn(advantage, {
    'advantages by episode, not by token': [
      [
        'return ofEpisodes(inputs, differences.map((difference, n) => difference / Math.max(means[n]!, floor)));',
        'return differences.map((difference, n) => difference / Math.max(means[n]!, floor));',
      ],
      /for token 1 of row 0: estimate must return .* as \[rows\]\[tokens\]/,
    ],
    'an estimator without a return': [
      ['return ofEpisodes(', 'ofEpisodes('],
      /surprise returned nothing: return \[rows\]\[tokens\]/,
    ],
    'values without needsCritic': [
      [
        'const { scores, groups } = inputs;',
        'const { scores, groups } = inputs;\n    for (const row of inputs.values!) void row.length;',
      ],
      /inputs\.values is not iterable, at .*env-v1\.ts:10:30/,
    ],
    'a division by a mean of 0': [
      ['Math.max(means[n]!, floor)', '(means[n]! + floor - floor)'],
      /surprise gives NaN for token 1 of row/,
    ],
  }),
  ...mistakesIn(trainer, {
    'a trainer that climbs down': [
      ['(-bit * advantage)', '(bit * advantage)'],
      /TRN-10[\s\S]*Look at the sign of dLogprobs/,
    ],
    'a trainer that never updates': [
      [
        'const { gradNorm } = await optimize(rows, { dLogprobs }, { learningRate, maxGradNorm: 1 });',
        'void [optimize, dLogprobs, learningRate];\n      const gradNorm = 0;',
      ],
      /TRN-10[\s\S]*received 0\.500/,
    ],
    'an update without a return': [
      ['return { grad_norm: gradNorm };', 'void gradNorm;'],
      /returned undefined: return its metrics, such as \{ grad_norm/,
    ],
    'an optimize without await': [
      ['const { gradNorm } = await optimize(', 'const { gradNorm } = (optimize as any)('],
      /metric "grad_norm" of update 1\s+received undefined/,
    ],
    'a gradient for each episode, not token': [
      [
        'return Float32Array.from(mask, (bit) => (-bit * advantage) / tokens);',
        'return Float32Array.of((-mask.length * advantage) / tokens);',
      ],
      /dLogprobs with 1 numbers for the 2 tokens of row 0: give \[rows\]\[tokens\]/,
    ],
    'a trainer with Math.random': [
      ['trajectory.reward! - baseline', 'trajectory.reward! - baseline * (0.9 + 0.2 * Math.random())'],
      /TRN-9[\s\S]*Draw everything from run\.seed/,
    ],
    'train for update': [['async update(', 'async train('], /no update: return \{ update \} from create/],
  }),
  ...mistakesIn(scorer, {
    'a scorer with a score too few': [
      ['return turns.map(', 'return turns.slice(1).map('],
      /an array of 4 scores/,
    ],
    'a scorer out of its range': [
      ['1 - count / most', 'count + 1'],
      /a value from 0 to 1, or null\s+received 2/,
    ],
    'a scorer of numbers': [
      ['({ value: 1 - count / most, text: `${count} turns` })', '1 - count / most'],
      /a value from 0 to 1, or null\s+received undefined\s+hint +Return \{ value \}/,
    ],
  }),
];
