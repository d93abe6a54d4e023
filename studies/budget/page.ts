/** The page of the budget: the same episodes for each trainer. */
import { comparisonWith } from '../leaderboard/comparisons.ts';
import type { Introduce } from '../leaderboard/introduction.ts';
import { countOf, worldsOf } from '../leaderboard/phrases.ts';

export const budget: Introduce = (study, rows, results) => ({
  title: 'Learning from the same episodes',
  introduction: `From the same ${(study.steps * study.tasksPerStep * study.groupSize).toLocaleString('en')} episodes of bridge questions and ${study.steps} updates, compared with GRPO: ${comparisonWith(study, rows, 'GRPO')}. Exact match (EM) and F1 of greedy answers
to ${countOf(results)} test questions, as means over ${worldsOf(rows)} worlds with 95 % intervals.

Rejection sampling imitates the best of each ${study.groupSize} episodes. DPO plays all episodes with the start policy, and learns from the best and the worst of each ${study.groupSize}; Online DPO makes these
pairs as it learns. GRPO weighs all episodes by their advantage. The demo’s policy had this skill before bad habits on purpose, so the figures say how fast
trainers restore a skill, not what they could teach.`,
  explanation: '',
});
