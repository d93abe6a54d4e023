/** A policy that does not speak the format of tool calls: a wrong chat template, or a parser of another format. */
import type { DiagnosisRule } from './diagnosis.ts';
import { number, percent } from './number-text.ts';
import { lasting, meanOf } from './series.ts';

const malformed = 'mistakes/malformed_call';
const unused = 'tools/unused_ratio';
const minMalformed = 0.5;
const minUnused = 0.9;
const maxSuccess = 0.02;

/** The calls of turns that are cut do not parse either. */
const cut = 'tokens_per_turn/clipped_ratio';
const maxCut = 0.3;

/** From the first step: a policy that forgets the format later has another fault. */
export const malformedCalls: DiagnosisRule = {
  fault: 'most tool calls do not parse',
  remedy:
    'Compare what the model writes (toolenv show --tokens) with its card: give it its own chat template.',
  page: 'guides/troubleshooting.md#checkpoints-and-chat-templates',
  find(run) {
    const series = run.rollout(malformed);
    const found = lasting(series, (value) => value >= minMalformed, 3);
    if (!found || found.since !== series[0]![0] || meanOf(run.rollout(cut)) > maxCut) return undefined;
    return {
      title: `From the first step on, ${percent(found.value)} of the tool calls do not parse.`,
      since: found.since,
      evidence: { metric: malformed, value: found.value, threshold: minMalformed },
      episodes: { mistake: 'malformed_call', step: `${found.since}..` },
    };
  },
};

const unsure = 'rollout_corr/rollout_log_ppl';
/** Nats per token. A trained model that reads its own template is below 1. */
const minUnsure = 1.2;
/** A shorter run may still succeed. Only its first step shows the policy as it was given: an update may break any policy. */
const minSteps = 3;

export const wrongTemplate: DiagnosisRule = {
  fault:
    'the policy is unsure of every token from the start, and no episode succeeds: it does not know this template',
  remedy:
    'Give the policy its own chat template (toolenv show --tokens shows what it reads); if it was never trained, begin with demonstrations.',
  page: 'guides/troubleshooting.md#checkpoints-and-chat-templates',
  find(run) {
    const series = run.rollout(unsure);
    const [since, value] = series[0] ?? [0, 0];
    const success = meanOf(run.success);
    if (series.length < minSteps || !(value >= minUnsure && success <= maxSuccess)) return undefined;
    return {
      title: `In the first step, the policy is unsure of every token that it writes (${number(value)} nats); in the run, ${percent(success)} of the episodes succeed.`,
      since,
      evidence: { metric: unsure, value, threshold: minUnsure },
      episodes: { step: `${since}..` },
    };
  },
};

export const noCalls: DiagnosisRule = {
  fault: 'no episode calls a tool, and none succeeds',
  remedy:
    'Read what the model writes (toolenv show --tokens): give it its own chat template, or teach it calls with demonstrations.',
  page: 'guides/troubleshooting.md#checkpoints-and-chat-templates',
  find(run) {
    const series = run.rollout(unused);
    const found = lasting(series, (value) => value >= minUnused, 3);
    if (!found || found.since !== series[0]![0]) return undefined;
    const success = meanOf(run.success);
    if (!(success <= maxSuccess)) return undefined;
    return {
      title: `From the first step on, ${percent(found.value)} of the episodes call no tool, and ${percent(success)} succeed.`,
      since: found.since,
      evidence: { metric: unused, value: found.value, threshold: minUnused },
      episodes: { step: `${found.since}..` },
    };
  },
};
