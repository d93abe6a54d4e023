/** Your own loss: `toolenv train … --loss ./own-loss.ts --width 0.3`, or `grpo({ loss: ownLoss({ width: 0.3 }) })`. */
import { defineLoss } from '@toolenv/training';

export default defineLoss({
  name: 'spo',
  description: 'a parabola instead of a clip, which pulls the ratio back to 1 (arXiv 2401.16025)',
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
