/** Episodes that a limit cuts. */
import type { DiagnosisRule } from './diagnosis.ts';
import { finding, number, percent } from './finding.ts';
import type { RunHistory } from './run-history.ts';
import { lasting, meanOf } from './series.ts';

const threshold = 0.5;

interface Limit {
  reason: 'max_tokens' | 'max_turns' | 'context' | 'deadline';
  fault: string;
  remedy: string;
  /** Ends the sentence. */
  where(run: RunHistory): string;
}

/** A run that learns gets rid of its truncated episodes by itself. */
function truncated({ reason, where, ...rule }: Limit): DiagnosisRule {
  const metric = `truncated/${reason}`;
  return {
    ...rule,
    page: 'guides/troubleshooting.md#truncated-episodes',
    find(run) {
      const found = lasting(run.rollout(metric), (value) => value >= threshold, 3);
      if (!found || run.learns) return undefined;
      const title = `From step ${found.since} on, ${percent(found.value)} of the episodes ${where(run)}.`;
      return finding(found, title, [metric, threshold], { outcome: `truncated:${reason}` });
    },
  };
}

export const truncatedByTokens: DiagnosisRule = truncated({
  reason: 'max_tokens',
  fault: 'most episodes end because a turn reaches maxTokens',
  remedy:
    'Raise --max-tokens above what a good turn needs; if turns have grown, lower the learning rate or penalise length.',
  where: (run) => {
    const most = run.option('maxTokens');
    return `end because a turn reaches ${most === undefined ? 'maxTokens' : `its limit of ${most} tokens`}`;
  },
});

export const truncatedByTurns: DiagnosisRule = truncated({
  reason: 'max_turns',
  fault: 'most episodes run out of turns',
  remedy: 'Raise the maxTurns of the environment, or reward the end: the policy does not come to an answer.',
  where: (run) => `run out of turns (${number(meanOf(run.rollout('num_turns/mean').slice(-3)))} on average)`,
});

export const truncatedByContext: DiagnosisRule = truncated({
  reason: 'context',
  fault: "most episodes outgrow the policy's context",
  remedy: 'Cut what tools return, or keep a window of the conversation: see long tool outputs.',
  where: () => "outgrow the policy's context",
});

export const truncatedByDeadline: DiagnosisRule = truncated({
  reason: 'deadline',
  fault: 'most episodes run out of time',
  remedy: 'Raise --deadline, or find the slow tool by the times of the calls.',
  where: () => 'run out of time',
});

const clipped = 'tokens_per_turn/clipped_ratio';
const maxClipped = 0.15;

/** Before most episodes are lost, or where a cut turn does not end the episode. */
export const lengthAtLimit: DiagnosisRule = {
  fault: 'many turns are cut at maxTokens',
  remedy:
    'Raise --max-tokens; if turns grow without need, penalise length or mask truncated episodes (--truncated mask).',
  page: 'guides/troubleshooting.md#truncated-episodes',
  find(run) {
    const found = lasting(run.rollout(clipped), (value) => value >= maxClipped, 5);
    if (!found || run.learns || truncatedByTokens.find(run)) return undefined;
    const title = `From step ${found.since} on, ${percent(found.value)} of the turns are cut at ${run.option('maxTokens') ?? 'maxTokens'} tokens.`;
    return finding(found, title, [clipped, maxClipped], { outcome: 'truncated:max_tokens' });
  },
};
