// critic-advantage.ts
import { defineAdvantage, generalizedAdvantages } from '@toolenv/training';

export default defineAdvantage({
  name: 'temporal-difference',
  description: 'r + γ·V(next token) − V: what a token changed, as the critic sees it',
  needsCritic: true,
  options: { properties: { discount: { type: 'number', default: 1, description: 'γ, for each token' } } },
  estimate({ rewards, values, mask, parents }, { discount }) {
    const oneStep = { gamma: discount, lambda: 0 };
    return generalizedAdvantages(rewards, values!, mask, parents, oneStep).advantages;
  },
});
