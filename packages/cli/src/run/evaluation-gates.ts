/** The gates of an evaluation: what its scores must be for the command to succeed. */
import { join } from 'node:path';
import { type EnvHandle, ToolEnvError } from '@toolenv/core';
import { withDiskErrors, writeAtomic } from '@toolenv/core/files';
import { type Evaluation, readEvaluation } from '@toolenv/training';
import {
  comparisonVerdict,
  type Scored,
  scoredMetric,
  scoreVerdict,
  type Verdict,
} from '@toolenv/training/runs';
import type { Command } from 'commander';
import { junitXml, type TestCase, type TestSuite } from '../display/junit-xml.ts';
import { scoreText } from '../display/number-text.ts';
import { safeLine, safeText } from '../display/terminal-text.ts';
import { completeFlags, schemaFlags } from '../flags/schema-flags.ts';

/** What the flags of {@link addGateFlags} give. */
export type GateFlags = { failBelow?: string[]; against?: string; junit?: string } & Record<string, unknown>;

const schema = {
  type: 'object',
  properties: {
    metric: {
      type: 'string',
      minLength: 1,
      description:
        'for --against: a reward component, or reward (default: the component that says what is right)',
    },
    margin: { type: 'number', minimum: 0, default: 0, description: 'for --against: loss that is allowed' },
    confidence: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 0.999,
      default: 0.99,
      description: 'for --against: confidence of the interval of the difference',
    },
  },
} as const;

export function addGateFlags(command: Command): void {
  command
    .option('--fail-below <metric=score...>', 'exit with code 1 if a mean score is lower, such as em=.8')
    .option(
      '--against <file>',
      'exit with code 1 if the scores are worse, by more than chance, than in this file, which an earlier eval --json printed or --out has',
    )
    .option('--junit <file>', "write the gates and the tasks as JUnit's XML");
  for (const flag of schemaFlags(schema)) command.addOption(flag);
}

/** What is judged. */
export interface Judged {
  policy: string;
  evaluation: Evaluation;
  /** Of its transcripts. */
  folder: string | undefined;
}

/** A gate, and how an evaluation does at it. */
interface Gate {
  name: string;
  verdict(evaluation: Evaluation): Verdict;
}

export class EvaluationGates {
  readonly #gates: readonly Gate[];
  readonly #metrics: readonly string[];
  readonly #junit: string | undefined;

  private constructor(gates: readonly Gate[], metrics: readonly string[], junit: string | undefined) {
    this.#gates = gates;
    this.#metrics = metrics;
    this.#junit = junit;
  }

  /**
   * Reads the flags and the baseline.
   * @throws ToolEnvError `usage.bad_flag`, and as `readEvaluation` does.
   */
  static async open({ failBelow = [], against, junit, ...given }: GateFlags): Promise<EvaluationGates> {
    const bounds = completeFlags(schema, given);
    const least = failBelow.map(readBound);
    const gates = least.map(
      ([metric, atLeast]): Gate => ({
        name: `${metric} is at least ${atLeast}`,
        verdict: (evaluation) => scoreVerdict(evaluation, metric, { atLeast }),
      }),
    );
    const named = bounds.metric === undefined ? [] : [bounds.metric];
    if (against !== undefined) {
      const baseline: Scored = await readEvaluation(against);
      for (const metric of named) scoredMetric(metric, Object.keys(baseline.tasks[0]!.scores));
      const verdict = (evaluation: Evaluation) => comparisonVerdict('keepsUp', evaluation, baseline, bounds);
      gates.push({ name: `keeps up with ${against}`, verdict });
    }
    return new EvaluationGates(gates, [...least.map(([metric]) => metric), ...named], junit);
  }

  /**
   * Before the first episode is played.
   * @throws ToolEnvError `usage.unknown_metric` for a metric that the environment does not have.
   */
  async checkMetrics(env: EnvHandle<unknown>): Promise<void> {
    if (this.#metrics.length === 0) return;
    const episode = env.episode();
    const components = Object.keys(episode.spec.rewards);
    await episode.close();
    for (const metric of this.#metrics) scoredMetric(metric, components);
  }

  /** Writes the verdicts to stderr and into the file of `--junit`. The exit code is 1 if a gate failed. */
  async judge(ref: string, evaluated: readonly Judged[]): Promise<void> {
    const suites: TestSuite[] = [];
    for (const { policy, evaluation, folder } of evaluated) {
      const gates = this.#gates.map(({ name, verdict }) => ({ name, ...verdict(evaluation) }));
      for (const { passed, message } of gates) {
        process.stderr.write(`${passed ? 'passed' : 'FAILED'}  ${safeText(message)}\n`);
        if (!passed) process.exitCode = 1;
      }
      if (folder !== undefined && gates.some(({ passed }) => !passed))
        process.stderr.write(`Transcripts: ${safeLine(join(folder, 'trajectories.jsonl'))}\n`);
      const cases = gates.map(
        ({ name, passed, message }): TestCase =>
          passed ? { name, output: message } : { name, failure: message },
      );
      suites.push({ name: `${ref}, ${policy}`, cases: [...cases, ...evaluation.tasks.map(taskCase)] });
    }
    const file = this.#junit;
    if (file !== undefined) await withDiskErrors(file, () => writeAtomic(file, junitXml(suites)));
  }
}

/** A task fails no build by itself: its scores are for the reader. */
function taskCase({ index, question, reward, scores }: Evaluation['tasks'][number]): TestCase {
  const name = `task ${index}${question === '' ? '' : `: ${question}`}`;
  if (reward.length === 0) return { name, skipped: 'not scored' };
  const lines = Object.entries({ reward, ...scores }).filter(([, values]) => values.length > 0);
  return {
    name,
    output: lines.map(([metric, values]) => `${metric} ${values.map(scoreText).join(' ')}`).join('\n'),
  };
}

function readBound(pair: string): [metric: string, atLeast: number] {
  const at = pair.lastIndexOf('=');
  const score = Number(pair.slice(at + 1).trim() || Number.NaN);
  if (at > 0 && Number.isFinite(score)) return [pair.slice(0, at), score];
  const message = `--fail-below ${pair}: write it as metric=score, such as em=.8.`;
  throw new ToolEnvError('usage.bad_flag', message);
}

/**
 * A command whose episodes were all aborted fails, and names the most frequent cause.
 * @throws ToolEnvError `infrastructure.nothing_scored`
 */
export function refuseUnscored(
  policy: string,
  { episodes, aborted, causes = {} }: Pick<Evaluation, 'episodes' | 'aborted' | 'causes'>,
): void {
  if (aborted < episodes) return;
  const [[cause, count] = ['unknown', aborted]] = Object.entries(causes);
  const message = `No episode of ${policy} was scored: all ${episodes} were aborted, ${count} of them by ${cause}`;
  throw new ToolEnvError('infrastructure.nothing_scored', message);
}
