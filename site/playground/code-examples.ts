/** What the editors of the page begin with. */
/// <reference types="vite/client" />
import safe from '../../templates/env/src/safe-v1.ts?raw';

export const rewardExample = `/** The reward of an episode of the page's own questions, from its scores. GRPO learns what you write. */
export default ({ em, searches }: Record<string, number>): number => em - 0.1 * searches;
`;

/** The environment of the template, which the small policy can play. */
export const environmentExample: string = safe;
