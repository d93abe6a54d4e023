/** Chooses the reward component of an environment that says which episodes were right. */
import type { Metrics } from '@toolenv/core/plugins';

const rightness = ['em', 'exact_match', 'exactMatch', 'accuracy', 'correct', 'success'];

/** The first name that means "right", else the first name; `undefined` without names. */
export function primaryMetric(names: readonly string[]): string | undefined {
  return rightness.find((name) => names.includes(name)) ?? names[0];
}

/** Whether the name alone says that the score means "right". */
export function isRightness(name: string): boolean {
  return rightness.includes(name);
}

/** Name and mean of the score that says which episodes were right, from metrics such as `rewards/em/mean`. */
export function headlineMetric(metrics: Metrics): [name: string, mean: number] | undefined {
  const means = Object.entries(metrics).flatMap(([key, value]) => {
    const name = /^rewards\/(.+)\/mean$/.exec(key)?.[1];
    return name === undefined ? [] : [[name, value] as const];
  });
  const name = primaryMetric(means.map(([each]) => each));
  const mean = means.find(([each]) => each === name)?.[1];
  return name === undefined || mean === undefined ? undefined : [name, mean];
}

/** Abbreviations in capitals, as the field writes them: `em` → `EM`. */
export function scoreLabel(name: string): string {
  return name.length <= 2 ? name.toUpperCase() : name.replaceAll('_', ' ');
}
