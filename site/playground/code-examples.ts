/** What the editors of the page begin with. */
/// <reference types="vite/client" />
import safe from '../../templates/env/src/safe-v1.ts?raw';

/** The environment of the template, which the small policy can play. */
export const environmentExample: string = safe;

const rewardOf = (
  scores: string,
  reward: string,
) => `/** The reward of an episode, from its scores. GRPO learns what you write. */
export default ({ ${scores} }: Record<string, number>): number => ${reward};
`;

/** Rewards the page's own questions. */
export const rewardExample: string = rewardOf('em, searches', 'em - 0.1 * searches');

/** Rewards an episode of the environment above. */
export const safeRewardExample: string = rewardOf('opened, narrowed', 'opened + 0.1 * narrowed');
