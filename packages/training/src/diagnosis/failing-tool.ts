/** A tool that answers its calls with errors. */
import type { DiagnosisRule } from './diagnosis.ts';
import { percent } from './number-text.ts';
import { lasting } from './series.ts';

const threshold = 0.8;
const name = /^tools\/(.+)\/error_frequency$/;

export const failingTool: DiagnosisRule = {
  fault: 'a tool answers most of its calls with an error',
  remedy:
    'Call the tool by hand, and read its errors: they tell whether its server, its index or its arguments are wrong.',
  page: 'recipes/reading-metrics.md#episodes-and-tools',
  find(run) {
    if (run.learns) return undefined;
    const found = [...run.rolloutMetrics].flatMap((metric) => {
      const tool = name.exec(metric)?.[1];
      const since = tool && lasting(run.rollout(metric), (value) => value >= threshold, 3);
      return since ? [{ tool, metric, ...since }] : [];
    });
    const worst = found.sort((a, b) => b.value - a.value)[0];
    if (!worst) return undefined;
    const { tool, metric, since, value } = worst;
    return {
      title: `From step ${since} on, the tool ${tool} answers ${percent(value)} of its calls with an error.`,
      since,
      evidence: { metric, value, threshold },
      episodes: { tool, mistake: 'tool_error', step: `${since}..` },
    };
  },
};
