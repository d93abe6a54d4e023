/** The page of the budget: the same episodes for each trainer. */
import type { Introduce } from './introduction.ts';
import { countOf, worldsOf } from './phrases.ts';

export const budget: Introduce = (study, rows, results) => ({
  title: 'Learning from the same episodes',
  introduction: `Four ways to learn from ${(study.steps * study.tasksPerStep * study.groupSize).toLocaleString('en')} episodes of bridge questions, with ${study.steps} updates each, from the policy of the demo. Exact match (EM) and F1 of greedy answers
to ${countOf(results)} test questions, as means over ${worldsOf(rows)} worlds with 95 % intervals.

- Rejection sampling learns from the best of each ${study.groupSize} episodes, by supervised training.
- DPO plays all episodes with the start policy first, and learns from pairs of the best and the worst of each ${study.groupSize}.
- Online DPO makes the same pairs from episodes of the policy as it learns.
- GRPO learns from all episodes, weighed by their advantage in the group.

Each learning rate is the best of four on validation questions of another world: see below.

The demo’s policy learned to answer such questions in other worlds, before a last supervised phase gave it bad habits on purpose. So these figures compare how fast the
trainers restore a skill. They do not show what each could teach a model without that skill.`,
  explanation: '',
});
