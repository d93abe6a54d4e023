/** Tasks that are solved without the tools that should be needed. */
import type { DiagnosisRule } from './diagnosis.ts';
import { percent } from './number-text.ts';
import { lasting } from './series.ts';

const unused = 'tools/unused_ratio';
const minUnused = 0.5;
/** Of the range of the outcome reward. */
const minSuccess = 0.5;

export const leakedAnswer: DiagnosisRule = {
  fault: 'episodes succeed without calling a tool',
  remedy:
    'Look for the answer in the first messages: toolenv check names it (ENV-15), if the environment declares a label.',
  page: 'guides/troubleshooting.md#leaked-answers',
  find(run) {
    const ratios = new Map(run.rollout(unused));
    const successes = run
      .shareOfOutcome(run.rollout('tools/unused_outcome'))
      .filter(([step]) => ratios.get(step)! >= minUnused);
    const found = lasting(successes, (value) => value >= minSuccess, 3);
    if (!found || found.since !== [...ratios.keys()][0]) return undefined;
    const last = [...ratios.values()].at(-1)!;
    return {
      title: `From the first step on, episodes that call no tool reach ${percent(found.value)} of the outcome reward; in the last step, ${percent(last)} of the episodes call none.`,
      since: found.since,
      evidence: { metric: 'tools/unused_outcome', value: found.value, threshold: minSuccess },
      episodes: { step: `${found.since}..` },
    };
  },
};
