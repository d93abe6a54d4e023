/** Tool calls: a policy that does not speak their format, a tool that fails, and tasks that are solved without the tools they should need. */
import type { DiagnosisRule } from './diagnosis.ts';
import { finding, number, percent } from './finding.ts';
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
    const title = `From the first step on, ${percent(found.value)} of the tool calls do not parse.`;
    return finding(found, title, [malformed, minMalformed], { mistake: 'malformed_call' });
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
    const title = `In the first step, the policy is unsure of every token that it writes (${number(value)} nats); in the run, ${percent(success)} of the episodes succeed.`;
    return finding({ since, value }, title, [unsure, minUnsure], {});
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
    const success = meanOf(run.success);
    if (!found || found.since !== series[0]![0] || !(success <= maxSuccess)) return undefined;
    const title = `From the first step on, ${percent(found.value)} of the episodes call no tool, and ${percent(success)} succeed.`;
    return finding(found, title, [unused, minUnused], {});
  },
};

const minFailing = 0.8;
const failures = /^tools\/(.+)\/error_frequency$/;

export const failingTool: DiagnosisRule = {
  fault: 'a tool answers most of its calls with an error',
  remedy:
    'Call the tool by hand, and read its errors: they tell whether its server, its index or its arguments are wrong.',
  page: 'recipes/reading-metrics.md#episodes-and-tools',
  find(run) {
    if (run.learns) return undefined;
    const found = [...run.rolloutMetrics].flatMap((metric) => {
      const tool = failures.exec(metric)?.[1];
      const since = tool && lasting(run.rollout(metric), (value) => value >= minFailing, 3);
      return since ? [{ tool, metric, ...since }] : [];
    });
    const worst = found.sort((a, b) => b.value - a.value)[0];
    if (!worst) return undefined;
    const { tool, metric, since, value } = worst;
    const title = `From step ${since} on, the tool ${tool} answers ${percent(value)} of its calls with an error.`;
    return finding(worst, title, [metric, minFailing], { tool, mistake: 'tool_error' });
  },
};

const unusedOutcome = 'tools/unused_outcome';
const minLeaked = 0.5;
/** Of the range of the outcome reward. */
const minSolved = 0.5;

export const leakedAnswer: DiagnosisRule = {
  fault: 'episodes succeed without calling a tool',
  remedy:
    'Look for the answer in the first messages: toolenv check names it (ENV-15), if the environment declares a label.',
  page: 'guides/troubleshooting.md#leaked-answers',
  find(run) {
    const ratios = new Map(run.rollout(unused));
    const successes = run
      .shareOfOutcome(run.rollout(unusedOutcome))
      .filter(([step]) => ratios.get(step)! >= minLeaked);
    const found = lasting(successes, (value) => value >= minSolved, 3);
    if (!found || found.since !== [...ratios.keys()][0]) return undefined;
    const last = [...ratios.values()].at(-1)!;
    const title = `From the first step on, episodes that call no tool reach ${percent(found.value)} of the outcome reward; in the last step, ${percent(last)} of the episodes call none.`;
    return finding(found, title, [unusedOutcome, minSolved], {});
  },
};
