/** An advantage estimator of the user's own: `toolenv train … --advantage ./own-advantage.ts --floor 0.2`. */
import { defineAdvantage, ofEpisodes } from '@toolenv/training';

export default defineAdvantage({
  name: 'surprise',
  description: '(score − group mean) / group mean: a rare success counts more than a usual success',
  options: {
    properties: {
      floor: { type: 'number', exclusiveMinimum: 0, default: 0.1, description: 'least divisor' },
    },
  },
  estimate(inputs, { floor }) {
    const meanOf = (group: number) => {
      const scores = inputs.scores.filter((_, n) => inputs.groups[n] === group);
      return scores.reduce((sum, score) => sum + score / scores.length, 0);
    };
    const means = inputs.groups.map(meanOf);
    return ofEpisodes(
      inputs,
      inputs.scores.map((score, n) => (score - means[n]!) / Math.max(means[n]!, floor)),
    );
  },
});
