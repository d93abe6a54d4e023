/**
 * A worker: plays groups of a shared folder and writes each of them whole. It may be killed at any moment: another worker then
 * plays what it was playing.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { collect, type EnvHandle, maxConcurrency, messageOf, rollout, type Trajectory } from '@toolenv/core';
import { AbortWatch } from '../abort-watch.ts';
import { GroupFiles } from './group-files.ts';
import { Leases } from './leases.ts';
import { type OpenPolicy, type PolicyVersion, PolicyVersions } from './policy-versions.ts';
import type { RolloutPlan } from './rollout-plan.ts';
import type { SharedFolder } from './shared-folder.ts';
import {
  inOrderOf,
  type Wanted,
  type WantedGroup,
  type WorkerShare,
  wantedGroups,
} from './training-state.ts';

export interface RolloutWorkerOptions {
  folder: SharedFolder;
  plan: RolloutPlan;
  env: EnvHandle<unknown>;
  openPolicy: OpenPolicy;
  /** Default: a share that is drawn at random, of 1,024. */
  share?: WorkerShare | undefined;
  /** Episodes at a time; at least one group is played. */
  concurrency: number;
  retries: number;
  /** Share of the last 64 episodes that may be aborted. */
  maxAborted: number;
  /** Milliseconds without a heartbeat after which others take over what this worker plays, and it takes over from others. */
  expiry: number;
  /** Milliseconds that groups may take to end after the signal. */
  drain: number;
  /** Milliseconds between two looks at the folder. Default 500. */
  poll?: number;
  /** Drains the worker: it begins no group, waits for those that it plays, and throws the signal's reason. */
  signal?: AbortSignal | undefined;
  onEvent?(event: WorkerEvent): void;
}

export type WorkerEvent =
  /** A version of the policy is open, and the worker has begun to play. */
  | { type: 'ready'; version: PolicyVersion | undefined }
  | { type: 'begun'; group: number; episodes: number; version: PolicyVersion | undefined; takenOver: number }
  /** `counts` is false if another worker has finished the group, or if it will be played again. */
  | { type: 'ended'; group: number; trajectories: readonly Trajectory[]; counts: boolean };

/** Times that a group is played whose episodes are all aborted, before it counts as it is. */
const attempts = 3;

/**
 * Plays until every group of the plan is finished, or until the trainer wants no more.
 * @throws The signal's reason after a drain; what an environment or a policy throws; ToolEnvError
 *   `infrastructure.too_many_aborted`, `infrastructure.disk`.
 */
export async function runRolloutWorker(options: RolloutWorkerOptions): Promise<void> {
  const { folder, expiry, signal } = options;
  const name = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  const leases = new Leases(folder, { worker: name, expiry });
  await leases.beat();
  // A heartbeat that fails is tried again; if none succeeds, others take over.
  const heart = setInterval(
    () => leases.beat().catch((error) => process.emitWarning(messageOf(error))),
    expiry / 4,
  );
  const stop = new AbortController();
  let grace: NodeJS.Timeout | undefined;
  const drain = () => {
    grace = setTimeout(() => stop.abort(signal!.reason), options.drain);
  };
  signal?.addEventListener('abort', drain, { once: true });
  const worker = new RolloutWorker({ ...options, name, leases, stop: stop.signal });
  try {
    await worker.run();
  } finally {
    // What is still played now is wanted by nobody, or an error has ended the worker.
    stop.abort();
    await worker.close();
    clearInterval(heart);
    clearTimeout(grace);
    signal?.removeEventListener('abort', drain);
    await leases.close();
  }
}

interface Worker extends RolloutWorkerOptions {
  name: string;
  leases: Leases;
  /** Ends groups that are being played. */
  stop: AbortSignal;
}

class RolloutWorker {
  readonly #options: Worker;
  readonly #files: GroupFiles;
  readonly #policies: PolicyVersions;
  readonly #watch: AbortWatch;
  readonly #share: WorkerShare;
  /** Groups at a time. */
  readonly #slots: number;
  readonly #playing: Map<number, Promise<void>> = new Map();
  /** Groups of a plan that are known to be finished. */
  readonly #done: Set<number> = new Set();
  #failure: { error: unknown } | undefined;
  /** How often each group was played without a result. */
  readonly #vain: Map<number, number> = new Map();

  constructor(options: Worker) {
    const { folder, plan, env, concurrency, share } = options;
    this.#options = options;
    this.#files = new GroupFiles(folder.groups);
    this.#policies = new PolicyVersions(options.openPolicy);
    this.#watch = new AbortWatch(options.maxAborted);
    this.#share = share ?? { index: Math.floor(1024 * Math.random()), count: 1024 };
    const atOnce = Math.min(concurrency, maxConcurrency(env.capabilities));
    this.#slots = Math.max(1, Math.floor(atOnce / plan.samples));
  }

  async run(): Promise<void> {
    const { folder, plan, env, poll = 500, expiry, signal } = this.#options;
    const read = wantedGroups(folder, plan, await env.tasks[plan.split].length);
    let key: string | undefined;
    let groups: readonly WantedGroup[] = [];
    let idle = poll;
    let lookAt = 0;
    for (;;) {
      if (signal?.aborted && !this.#failure) await Promise.all(this.#playing.values());
      if (this.#failure) throw this.#failure.error;
      signal?.throwIfAborted();
      const wanted = await read();
      if (wanted?.finished) return;
      if (wanted && key === undefined) await this.#begin(wanted);
      if (wanted && wanted.key !== key) {
        [key, idle, lookAt] = [wanted.key, poll, 0];
        groups = inOrderOf(wanted.groups, this.#share);
        for (const group of await this.#files.list()) this.#markDone(group);
      }
      const isFree = this.#playing.size < this.#slots;
      if (wanted && isFree && performance.now() >= lookAt) {
        const group = await this.#claim(groups);
        if (group) {
          this.#start(group, wanted);
          idle = poll;
          continue;
        }
        const isOver = groups.every(([number]) => this.#done.has(number));
        if (plan.count !== undefined && isOver) return await this.#options.leases.removeFinished(this.#done);
        // Workers that live hold all that is left: look again ever more rarely, and in time for those that die.
        lookAt = performance.now() + idle;
        idle = Math.min(2 * idle, Math.max(poll, expiry / 4));
      }
      const playing = this.#playing.size;
      const pause = sleep(poll, undefined, { signal }).catch(() => {});
      await Promise.race([...this.#playing.values(), pause]);
      if (this.#playing.size < playing) [idle, lookAt] = [poll, 0];
    }
  }

  /** To be called at the end, whatever it was. */
  async close(): Promise<void> {
    await Promise.all(this.#playing.values());
    await this.#policies.close();
  }

  async #begin({ version }: Wanted): Promise<void> {
    await (await this.#policies.hold(version)).release();
    this.#options.onEvent?.({ type: 'ready', version: this.#policies.version });
  }

  /** A group that nobody plays and nobody has finished; `undefined` if there is none. */
  async #claim(groups: readonly WantedGroup[]): Promise<WantedGroup | undefined> {
    for (const group of groups) {
      const [number] = group;
      if (this.#done.has(number) || this.#playing.has(number)) continue;
      if (this.#files.has(number)) this.#markDone(number);
      else if (await this.#options.leases.claim(number)) {
        // It may have been finished between the two looks.
        if (!this.#files.has(number)) return group;
        this.#markDone(number);
        await this.#options.leases.release(number);
      }
    }
    return undefined;
  }

  /** A trainer that resumes may want a group of the same number again; a plan does not. */
  #markDone(group: number): void {
    if (this.#options.plan.count !== undefined) this.#done.add(group);
  }

  #start(group: WantedGroup, { version }: Wanted): void {
    const [number] = group;
    const playing = this.#play(group, version)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#playing.delete(number));
    this.#playing.set(number, playing);
  }

  async #play([number, taskIndex]: WantedGroup, wanted: PolicyVersion | undefined): Promise<void> {
    const { plan, onEvent } = this.#options;
    const { policy, version, release } = await this.#policies.hold(wanted);
    try {
      const { takenOver } = this.#options.leases;
      onEvent?.({ type: 'begun', group: number, episodes: plan.samples, version, takenOver });
      const trajectories = await this.#episodes(number, taskIndex, policy);
      const stamp = {
        taskIndex,
        worker: this.#options.name,
        ...(version && { policyVersion: version.policyVersion, restart: version.restart }),
      };
      const counts =
        !this.#isInVain(number, trajectories) && (await this.#files.write(number, trajectories, stamp));
      await this.#options.leases.release(number);
      onEvent?.({ type: 'ended', group: number, trajectories, counts });
      for (const { outcome } of trajectories) this.#watch.add(outcome);
    } finally {
      await release();
    }
  }

  async #episodes(
    group: number,
    taskIndex: number,
    policy: Parameters<typeof rollout>[0]['policy'],
  ): Promise<Trajectory[]> {
    const { plan, env, retries } = this.#options;
    const { samples, split, seed, temperature, maxTokens, topP, topK, minP } = plan;
    const { deadline, onDeadline, onBug, onImages } = plan;
    const task = await env.tasks[split].get(taskIndex);
    const episodes = Array.from({ length: samples }, (_, sample) => ({ task, group, sample }));
    // Timing decides the batches anyway, so conversations need not wait for one another's tools.
    const sampling = { temperature, maxTokens, topP, topK, minP, batchDelay: 10 };
    const bounds = { deadline, onDeadline, onBug, onImages };
    const common = { env, policy, seed, ...bounds, retries, signal: this.#options.stop };
    const played = await collect(rollout({ ...common, episodes, concurrency: samples, sampling }));
    for (const trajectory of played) trajectory.index = group * samples + trajectory.sample;
    return played;
  }

  /** Whether to play a group of aborted episodes again: this worker or a restarting server may be the cause. */
  #isInVain(group: number, trajectories: readonly Trajectory[]): boolean {
    if (trajectories.some(({ outcome }) => outcome.kind !== 'aborted')) return false;
    const times = (this.#vain.get(group) ?? 0) + 1;
    this.#vain.set(group, times);
    return times < attempts;
  }
}
