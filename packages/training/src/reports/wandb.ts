/** wandb: reports to Weights & Biases through its Python client, because its client for JavaScript is no longer kept. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { ToolEnvError } from '@toolenv/core';
import { registerSecret } from '@toolenv/core/secrets';
import type { MetricSink, ReportedMetrics, ReportedRun, RunEnd } from './metric-sink.ts';

export interface WandbOptions {
  /** A Python that has the package wandb. Default: TOOLENV_PYTHON, or `python3`. */
  python?: string;
}

// The package has its sources next to its build.
const script = join(import.meta.dirname, '../../src/reports/wandb_client.py');

/** Settings are wandb's own variables, such as WANDB_API_KEY, WANDB_PROJECT, WANDB_ENTITY and WANDB_MODE=offline. */
export function wandb({ python = process.env.TOOLENV_PYTHON ?? 'python3' }: WandbOptions = {}): MetricSink {
  registerSecret(process.env.WANDB_API_KEY);
  return new WandbSink(python);
}

interface Client {
  process: ChildProcessByStdio<Writable, Readable, null>;
  answers: Interface;
}

/** One of them answers each request. */
interface Answer {
  id?: string;
  ok?: true;
  error?: string;
  missing?: string;
}

class WandbSink implements MetricSink {
  readonly name = 'wandb';
  readonly #python: string;
  #run: ReportedRun | undefined;
  #client: Client | undefined;

  constructor(python: string) {
    this.#python = python;
  }

  async open(run: ReportedRun, signal: AbortSignal): Promise<string> {
    this.#run = run;
    return this.#connect(run, signal);
  }

  async write(events: readonly ReportedMetrics[], signal: AbortSignal): Promise<void> {
    // The client may have died after the last call.
    if (!this.#client) await this.#connect(this.#run!, signal);
    await this.#ask({ log: events.map(({ step, metrics }) => ({ step, metrics })) }, signal);
  }

  async close(end: RunEnd, signal: AbortSignal): Promise<void> {
    try {
      if (this.#client) await this.#ask({ finish: end }, signal);
    } finally {
      this.#leave();
    }
  }

  async #connect(run: ReportedRun, signal: AbortSignal): Promise<string> {
    const { name, folder, config, id } = run;
    // Ctrl-C in a terminal reaches every process of the group; this one must live to finish its run.
    const child = spawn(this.#python, [script], {
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const client = { process: child, answers: createInterface({ input: child.stdout }) };
    this.#client = client;
    const forget = () => {
      if (this.#client === client) this.#client = undefined;
    };
    child.once('error', forget).once('close', forget);
    // The end of the process tells of a broken pipe.
    child.stdin.on('error', () => {});
    const answer = await this.#ask({ begin: { name, folder, config, id } }, signal);
    this.#run = { ...run, id: answer.id! };
    return answer.id!;
  }

  /** @throws ToolEnvError `usage.report` if wandb cannot be used, `infrastructure.report` if it failed. */
  async #ask(request: object, signal: AbortSignal): Promise<Answer> {
    const { process: child, answers } = this.#client!;
    const answer = await new Promise<Answer>((resolve, reject) => {
      const failed = (problem: string, code: 'usage.report' | 'infrastructure.report') => () => {
        // A late answer must not be taken for that of the next request.
        this.#leave();
        reject(new ToolEnvError(code, problem));
      };
      const remedy = 'run `pip install wandb`, or name another Python with TOOLENV_PYTHON';
      const noPython = failed(`wandb: ${this.#python} does not start: ${remedy}.`, 'usage.report');
      const ended = failed('wandb: its client ended.', 'infrastructure.report');
      const stopped = failed('wandb: its client did not answer.', 'infrastructure.report');
      const taken = (line: string) => {
        child.off('error', noPython).off('close', ended);
        signal.removeEventListener('abort', stopped);
        resolve(JSON.parse(line));
      };
      answers.once('line', taken);
      child.once('error', noPython).once('close', ended);
      if (signal.aborted) stopped();
      else signal.addEventListener('abort', stopped, { once: true });
      child.stdin.write(`${JSON.stringify(request)}\n`);
    });
    if (answer.missing !== undefined) {
      this.#leave();
      const message = `wandb: ${this.#python} has no wandb (${answer.missing}): run \`pip install wandb\`, or name another Python with TOOLENV_PYTHON.`;
      throw new ToolEnvError('usage.report', message);
    }
    if (answer.error === undefined) return answer;
    // Without an API key, or with settings that contradict each other, a repetition fails as well.
    const isUsage = answer.error.startsWith('UsageError') || answer.error.startsWith('AuthenticationError');
    throw new ToolEnvError(isUsage ? 'usage.report' : 'infrastructure.report', `wandb: ${answer.error}`);
  }

  /** Ends the client. The end of its input lets it finish the run. */
  #leave(): void {
    if (!this.#client) return;
    const { process: child, answers } = this.#client;
    this.#client = undefined;
    child.stdin.end();
    answers.close();
    child.stdout.destroy();
    child.unref();
  }
}
