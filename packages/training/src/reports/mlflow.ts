/** mlflow: reports to an MLflow tracking server over its REST API (mlflow.org/docs/latest/rest-api.html). */
import { basename } from 'node:path';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { tryObject } from '@toolenv/core/schemas';
import { registerNamedSecrets, registerSecret } from '@toolenv/core/secrets';
import { boundedFetch } from '@toolenv/serving/client';
import type { MetricSink, ReportedMetrics, ReportedRun, RunEnd } from './metric-sink.ts';

export interface MlflowOptions {
  /** Default: MLFLOW_TRACKING_URI. */
  trackingUri?: string;
  /** Made if it does not exist. Default: MLFLOW_EXPERIMENT_NAME, or `toolenv`. */
  experiment?: string;
  /** Default: MLFLOW_TRACKING_TOKEN, or else MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD. */
  token?: string;
}

/** Limits of one runs/log-batch, and of a parameter's value. */
const most = { metrics: 1000, params: 100, characters: 6000, key: 250 };

const statuses: Record<RunEnd, string> = { finished: 'FINISHED', failed: 'FAILED', killed: 'KILLED' };

/** @throws ToolEnvError `usage.report` without the address of a server. */
export function mlflow(options: MlflowOptions = {}): MetricSink {
  const { env } = process;
  const uri = options.trackingUri ?? env.MLFLOW_TRACKING_URI ?? '';
  if (URL.canParse(uri)) registerSecret(new URL(uri).password);
  if (!/^https?:\/\//.test(uri)) {
    const message = `mlflow: ${uri ? `the tracking URI ${uri} is not an address` : 'there is no tracking server'}: set MLFLOW_TRACKING_URI to the address of \`mlflow server\`, such as http://127.0.0.1:5000.`;
    throw new ToolEnvError('usage.report', message);
  }
  const experiment = options.experiment ?? env.MLFLOW_EXPERIMENT_NAME ?? 'toolenv';
  const authorization = authorizationOf(options.token ?? env.MLFLOW_TRACKING_TOKEN, env);
  return new MlflowSink(uri.replace(/\/+$/, ''), experiment, authorization);
}

function authorizationOf(token: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  if (token) return `Bearer ${token}`;
  const { MLFLOW_TRACKING_USERNAME: user, MLFLOW_TRACKING_PASSWORD: password = '' } = env;
  return user ? `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` : undefined;
}

class MlflowSink implements MetricSink {
  readonly name = 'mlflow';
  readonly #uri: string;
  readonly #experiment: string;
  readonly #headers: Record<string, string>;
  #run: string | undefined;

  constructor(uri: string, experiment: string, authorization: string | undefined) {
    this.#uri = uri;
    this.#experiment = experiment;
    registerNamedSecrets({ ...(authorization && { authorization }) });
    this.#headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
  }

  async open(run: ReportedRun, signal: AbortSignal): Promise<string> {
    if (run.id !== undefined && (await this.#continue(run.id, signal))) return run.id;
    this.#run ??= await this.#create(run, signal);
    const params = flatten(run.config).map(([key, value]) => ({
      key: validKey(key),
      value: value.slice(0, most.characters),
    }));
    await this.#log('params', params, signal);
    return this.#run;
  }

  async write(events: readonly ReportedMetrics[], signal: AbortSignal): Promise<void> {
    const metrics = events.flatMap(({ step, time, metrics: values }) =>
      Object.entries(values).map(([name, value]) => ({ key: validKey(name), value, timestamp: time, step })),
    );
    await this.#log('metrics', metrics, signal);
  }

  async close(end: RunEnd, signal: AbortSignal): Promise<void> {
    if (this.#run === undefined) return;
    const update = { run_id: this.#run, status: statuses[end], end_time: Date.now() };
    await this.#ask('runs/update', update, signal);
  }

  async #log(kind: 'params' | 'metrics', entries: readonly object[], signal: AbortSignal): Promise<void> {
    for (let from = 0; from < entries.length; from += most[kind]) {
      const batch = { run_id: this.#run, [kind]: entries.slice(from, from + most[kind]) };
      await this.#ask('runs/log-batch', batch, signal);
    }
  }

  /** False if the run is gone. */
  async #continue(id: string, signal: AbortSignal): Promise<boolean> {
    const update = { run_id: id, status: 'RUNNING' };
    const answer = await this.#ask('runs/update', update, signal, 'RESOURCE_DOES_NOT_EXIST');
    if (answer) this.#run = id;
    return answer !== undefined;
  }

  async #create({ name, folder }: ReportedRun, signal: AbortSignal): Promise<string> {
    const run = {
      experiment_id: await this.#experimentId(signal),
      run_name: `${basename(folder)}: ${name}`,
      start_time: Date.now(),
      tags: [{ key: 'mlflow.source.name', value: 'toolenv' }],
    };
    return textAt(await this.#ask('runs/create', run, signal), 'run', 'info', 'run_id');
  }

  async #experimentId(signal: AbortSignal): Promise<string> {
    const name = this.#experiment;
    const byName = `experiments/get-by-name?experiment_name=${encodeURIComponent(name)}`;
    const known = await this.#ask(byName, undefined, signal, 'RESOURCE_DOES_NOT_EXIST');
    if (known) return textAt(known, 'experiment', 'experiment_id');
    const made = await this.#ask('experiments/create', { name }, signal, 'RESOURCE_ALREADY_EXISTS');
    if (made) return textAt(made, 'experiment_id');
    // Another run has made it meanwhile.
    return textAt(await this.#ask(byName, undefined, signal), 'experiment', 'experiment_id');
  }

  /**
   * @param expected An error code that is no failure.
   * @returns `undefined` if the server answers with the expected code.
   * @throws ToolEnvError `usage.report` with the server's words; `infrastructure.report` if the server cannot be reached or is
   *   overloaded.
   */
  async #ask(
    path: string,
    body: object | undefined,
    signal: AbortSignal,
    expected?: string,
  ): Promise<Answer | undefined> {
    const url = `${this.#uri}/api/2.0/mlflow/${path}`;
    const failed = (problem: string) => new ToolEnvError('infrastructure.report', `${url}: ${problem}.`);
    let response: Response;
    let text: string;
    try {
      response = await boundedFetch(url, {
        method: body ? 'POST' : 'GET',
        headers: this.#headers,
        ...(body && { body: JSON.stringify(body) }),
        signal,
      });
      text = await response.text();
    } catch (error) {
      throw failed(messageOf((error as Error).cause ?? error));
    }
    const { status } = response;
    if (status >= 500 || status === 408 || status === 429) throw failed(`it answered ${status}`);
    const answer: Answer = tryObject(text) ?? {};
    if (response.ok) return answer;
    const { error_code: code = String(status), message = text.slice(0, 200) } = answer;
    if (code === expected) return undefined;
    throw new ToolEnvError('usage.report', `MLflow refused ${path.split('?')[0]} with ${code}: ${message}`);
  }
}

interface Answer {
  error_code?: string;
  message?: string;
  [field: string]: unknown;
}

function textAt(answer: Answer | undefined, ...path: string[]): string {
  const value = path.reduce<unknown>((part, name) => Object(part)[name], answer);
  if (typeof value === 'string') return value;
  throw new ToolEnvError('infrastructure.report', `MLflow answered without ${path.join('.')}.`);
}

/** Dotted names and texts. Empty texts are left out, which MLflow refuses. */
function flatten(value: unknown, name = ''): [string, string][] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.entries(value).flatMap(([key, inner]) => flatten(inner, name ? `${name}.${key}` : key));
  }
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text === '' ? [] : [[name, text]];
}

/** MLflow takes letters, digits, spaces and `_-./:`. */
function validKey(name: string): string {
  return name.replaceAll(/[^\w\-. /:]/g, '_').slice(0, most.key);
}
