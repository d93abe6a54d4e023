/** Your own advantage estimator: `toolenv train … --advantage ./own-advantage.ts --floor 0.2`. */
import { defineAdvantage, groupAdvantages, ofEpisodes } from '@toolenv/training';

export default defineAdvantage({
  name: 'surprise',
  description: '(score − group mean) / group mean: a rare success counts more than a usual success',
  options: { properties: { floor: { type: 'number', default: 0.1, description: 'least divisor' } } },
  estimate(inputs, { floor }) {
    const { scores, groups } = inputs;
    const differences = groupAdvantages(scores, groups, 'none');
    const means = scores.map((score, n) => score - differences[n]!);
    return ofEpisodes(
      inputs,
      differences.map((difference, n) => difference / Math.max(means[n]!, floor)),
    );
  },
});
