/** WorkerStatus: what a worker has done, for Prometheus, and whether it lives and is ready, for Kubernetes. */
import type { ServerResponse } from 'node:http';
import {
  completeServeOptions,
  listen,
  type Metric,
  processMetrics,
  prometheusText,
  prometheusType,
  requestUrl,
} from '@toolenv/serving';
import type { WorkerEvent } from '@toolenv/training/runs';

const outcomes = ['terminated', 'truncated', 'aborted'] as const;

export class WorkerStatus {
  isReady = false;
  isDraining = false;
  readonly #episodes: Record<(typeof outcomes)[number], number> = { terminated: 0, truncated: 0, aborted: 0 };
  groups = 0;
  #discarded = 0;
  #playing = 0;
  #tokens = 0;
  #reward = { sum: 0, count: 0 };
  #version: number | undefined;
  takenOver = 0;

  /** Episodes that count. */
  get episodes(): number {
    return outcomes.reduce((sum, outcome) => sum + this.#episodes[outcome], 0);
  }

  add(event: WorkerEvent): void {
    if (event.type === 'ready') this.isReady = true;
    if (event.type === 'ready' || event.type === 'begun') this.#version = event.version?.policyVersion;
    if (event.type === 'begun') {
      this.#playing += event.episodes;
      this.takenOver = event.takenOver;
    }
    if (event.type !== 'ended') return;
    const { trajectories, counts } = event;
    this.#playing -= trajectories.length;
    for (const { steps } of trajectories)
      for (const { action } of steps) this.#tokens += action.tokens?.action.length ?? 0;
    if (!counts) {
      this.#discarded += 1;
      return;
    }
    this.groups += 1;
    for (const { outcome, reward } of trajectories) {
      if (outcome.kind !== 'running') this.#episodes[outcome.kind] += 1;
      if (reward === null) continue;
      this.#reward.sum += reward;
      this.#reward.count += 1;
    }
  }

  /** In the text format of Prometheus. */
  get metrics(): string {
    return prometheusText(this.#list);
  }

  get #list(): Metric[] {
    const counter = (name: string, help: string, values: Metric['values'] | number): Metric => ({
      ...{ name: `toolenv_${name}`, help, type: 'counter' },
      values: typeof values === 'number' ? { '': values } : values,
    });
    const gauge = (name: string, help: string, value: number): Metric => ({
      ...counter(name, help, value),
      type: 'gauge',
    });
    const ofOutcomes = outcomes.map((outcome) => [`{outcome="${outcome}"}`, this.#episodes[outcome]]);
    const { sum, count } = this.#reward;
    return [
      gauge(
        'worker_ready',
        'Whether the worker plays: 1, or 0 while it starts or drains.',
        Number(this.#isUp),
      ),
      counter('episodes_total', 'Episodes that count.', Object.fromEntries(ofOutcomes)),
      gauge('episodes_playing', 'Episodes that are being played.', this.#playing),
      counter('groups_total', 'Groups of episodes that count.', this.groups),
      counter(
        'groups_discarded_total',
        'Groups that another worker finished, or whose episodes were all aborted.',
        this.#discarded,
      ),
      counter('groups_taken_over_total', 'Groups of workers that were gone.', this.takenOver),
      counter('generated_tokens_total', 'Tokens that the policy generated.', this.#tokens),
      counter('rewards_total', 'Sum of the rewards of scored episodes.', sum),
      counter('scored_episodes_total', 'Episodes that were scored.', count),
      ...(this.#version === undefined
        ? []
        : [gauge('policy_version', 'Updates of the policy.', this.#version)]),
      ...processMetrics(),
    ];
  }

  get #isUp(): boolean {
    return this.isReady && !this.isDraining;
  }

  /**
   * Serves `/healthz`, `/readyz` and `/metrics`, which hold no secrets and need no token.
   * @throws ToolEnvError `usage.serve_port`
   */
  async serve(port: number, host: string): Promise<{ url: string; close(): Promise<void> }> {
    // Probes and scrapers need few connections; all others are of no use to it.
    const options = completeServeOptions({ port, host, requestTimeout: 10_000, maxSessions: 1 }, 'rollout');
    const { origin, close } = await listen(options, (request, response) => {
      request.resume();
      const path = requestUrl(request).pathname;
      if (path === '/healthz') reply(response, 200, 'ok\n');
      else if (path === '/readyz')
        reply(response, this.#isUp ? 200 : 503, this.#isUp ? 'ready\n' : 'not ready\n');
      else if (path === '/metrics') reply(response, 200, this.metrics);
      else reply(response, 404, 'not found\n');
    });
    return { url: origin, close };
  }
}

function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': prometheusType }).end(text);
}
