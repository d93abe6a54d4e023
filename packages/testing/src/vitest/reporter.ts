/** A reporter of Vitest that prints the evaluations of a run: means, failed tasks, and where their transcripts are. */
import type { Reporter, TestCase } from 'vitest/node';
import type { EvaluationNote } from './evaluate.ts';

/** Failed tasks that are shown of each evaluation. */
const maxTasks = 5;

/** For `reporters: ['default', '@toolenv/testing/vitest-reporter']`. */
export default class EvaluationReporter implements Reporter {
  readonly #write: (text: string) => void;
  #blocks: string[] = [];

  /** @param options `write` is where the text goes; stdout by default. */
  constructor(options: { write?(text: string): void } = {}) {
    this.#write = (text) => (options.write ? options.write(text) : void process.stdout.write(text));
  }

  onTestRunStart(): void {
    this.#blocks = [];
  }

  onTestCaseResult(test: TestCase): void {
    const notes = (test.meta() as { toolenv?: EvaluationNote[] }).toolenv ?? [];
    for (const note of notes) this.#blocks.push(`${test.fullName}\n${noteText(note)}`);
  }

  onTestRunEnd(): void {
    if (this.#blocks.length > 0) this.#write(`\nEvaluations\n\n${this.#blocks.join('\n\n')}\n\n`);
  }
}

function noteText({
  env,
  policy,
  scores,
  count,
  aborted,
  unscored = 0,
  metric,
  failed,
  transcripts,
}: EvaluationNote): string {
  const means = Object.entries(scores).map(([name, { mean, interval }]) => {
    const ends = interval ? ` (${interval.map(number).join(' to ')})` : '';
    return `${name} ${mean === null ? 'not scored' : number(mean)}${ends}`;
  });
  const shown = failed
    .slice(0, maxTasks)
    .map(({ index, question, score }) => `    task ${index}: ${number(score)}  ${question}`);
  const more = failed.length > shown.length ? [`    and ${failed.length - shown.length} more`] : [];
  const abortedText = aborted > 0 ? `, ${aborted} episodes aborted` : '';
  const unscoredText = unscored > 0 ? `, ${unscored} episodes without a score` : '';
  return [
    `  ${policy} in ${env ?? 'an environment'}, ${count} tasks${abortedText}${unscoredText}`,
    `  ${means.join(', ')}`,
    ...(failed.length > 0 ? [`  ${failed.length} tasks failed by ${metric}:`, ...shown, ...more] : []),
    `  transcripts: ${transcripts}`,
  ].join('\n');
}

function number(value: number): string {
  return value.toFixed(3);
}
