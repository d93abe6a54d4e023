/** The loop: policies act in environments, many episodes at once, each at its own pace. */
import { setMaxListeners } from 'node:events';
import { Deadline } from '../boundary/deadline.ts';
import { guardEnv } from '../boundary/guarded-env.ts';
import { GuardedEpisode } from '../boundary/guarded-episode.ts';
import { networkFault } from '../boundary/machinery-fault.ts';
import { type EnvHandle, maxConcurrency } from '../env/env-definition.ts';
import { isInfrastructure, messageOf, ToolEnvError } from '../protocol/errors.ts';
import type { Observation } from '../protocol/message.ts';
import { aborted, type Outcome, truncated } from '../protocol/outcome.ts';
import { type Policy, type RunSampling, samplingMistake } from '../protocol/policy.ts';
import { scoreTruncation } from '../protocol/reward.ts';
import { deriveSeed } from '../protocol/rng.ts';
import type { CallProgress } from '../protocol/tool.ts';
import type { Trajectory, TrajectoryStep } from '../protocol/trajectory.ts';
import { finishTrajectory } from './finish-trajectory.ts';
import { fitImages, type OnImages } from './fit-images.ts';
import { playEpisode } from './play-episode.ts';

/** An episode to play. */
export interface EpisodeRequest<Task = unknown> {
  /** Awaited as the episode begins. */
  task: Task | Promise<Task>;
  /** Episodes of one group share a task and are compared with each other. */
  group: number;
  /** Number of the episode in its group. (group, sample) identifies the episode and seeds it. */
  sample: number;
  /** Of an episode that is played again: its own seed and id. */
  again?: { seed: number; episodeId: string };
}

/** `stop`: the bug is thrown, which ends the run. `abort-episode`: its episode is aborted, with `infrastructure.bug`. */
export type OnBug = 'stop' | 'abort-episode';

/**
 * `abort`: an episode that takes too long is aborted, with `infrastructure.deadline`. The time depends on the machine and its load,
 * so it says nothing about the policy. `truncate`: the episode is truncated('deadline'), and scored: slow episodes score 0.
 */
export type OnDeadline = 'abort' | 'truncate';

/** Which episodes to play, with which policy, and how many at once. */
export interface RolloutOptions<Task = unknown> {
  env: Pick<EnvHandle<Task>, 'episode' | 'ref' | 'packageVersion' | 'capabilities'>;
  policy: Policy;
  /** Read as episodes begin, so it may be a generator. */
  episodes: Iterable<EpisodeRequest<Task>>;
  /** Largest number of episodes in flight, if the environment's `concurrent` allows that many. */
  concurrency: number;
  /** Sampling options of every turn. */
  sampling: RunSampling;
  seed: number;
  /** Milliseconds an episode may take. Then it ends as `onDeadline` says, and keeps its finished turns. Default 600,000. */
  deadline?: number;
  /** What becomes of an episode that takes longer than `deadline`. Default `abort`. */
  onDeadline?: OnDeadline;
  /** Milliseconds that releasing an episode may take. An episode whose `close` takes longer is aborted. Default 10,000. */
  closeTimeout?: number;
  /** What to do after a bug of an environment or a policy. Default `stop`. */
  onBug?: OnBug;
  /** What a policy gets that reads no images. Default `placeholder`: their types in brackets. */
  onImages?: OnImages;
  /** Ends the rollout: closes every episode in flight and throws the reason. */
  signal?: AbortSignal;
  /** Retries of an episode, with the same seed, after a retryable infrastructure fault. Default 1. */
  retries?: number;
  /** Called with what tools say of the progress of their calls. It is no part of trajectories. What it throws ends the rollout. */
  onProgress?(report: CallProgress): void;
}

/**
 * Plays the episodes and yields each trajectory as it finishes; `index` is its place in the plan. The next episode starts as
 * soon as one finishes, and at most `concurrency` trajectories wait for the reader.
 *
 * Seeds come from (seed, group, sample), so no trajectory depends on the timing of the others.
 * Truncations by the loop (`context` when the policy throws `context.*`, and `deadline` with `onDeadline: 'truncate'`) score 0 in
 * every outcome component left unscored. Infrastructure faults and the deadline abort trajectories.
 * @throws ToolEnvError `usage.rollout` at the call, for invalid arguments.
 * @throws Whatever else an environment or a policy throws, because it is a bug; `bug.environment` and `bug.policy` for a
 *   result that breaks a rule. With `onBug: 'abort-episode'`, only `usage.*` errors are thrown.
 */
export function rollout<Task>(options: RolloutOptions<Task>): AsyncGenerator<Trajectory<Task>, void, void> {
  checkOptions(options);
  return play(options);
}

/** All trajectories of a rollout, in the order of its plan. */
export async function collect<Task>(
  trajectories: AsyncIterable<Trajectory<Task>>,
): Promise<Trajectory<Task>[]> {
  const all: Trajectory<Task>[] = [];
  for await (const trajectory of trajectories) all.push(trajectory);
  return all.sort((a, b) => a.index - b.index);
}

/** Milliseconds after which timers and signals get their turn: an environment and a policy that never wait leave them none. */
const breath = 100;

async function* play<Task>(options: RolloutOptions<Task>): AsyncGenerator<Trajectory<Task>, void, void> {
  options.signal?.throwIfAborted();
  const leave = new AbortController();
  setMaxListeners(0, leave.signal);
  const follow = () => leave.abort(options.signal!.reason);
  options.signal?.addEventListener('abort', follow, { once: true });

  const concurrency = Math.min(options.concurrency, maxConcurrency(options.env.capabilities));
  const waiting = options.episodes[Symbol.iterator]();
  const inFlight = new Map<number, Promise<Trajectory<Task>>>();
  let index = 0;
  let breathed = performance.now();
  const fill = () => {
    while (inFlight.size < concurrency) {
      const next = waiting.next();
      if (next.done) return;
      const episode = playWithRetries(next.value, index, options, leave.signal);
      // It may reject before it is awaited below, which must not count as unhandled.
      episode.catch(() => {});
      inFlight.set(index++, episode);
    }
  };

  try {
    fill();
    while (inFlight.size > 0) {
      const trajectory = await Promise.race(inFlight.values());
      if (performance.now() - breathed > breath) {
        await new Promise((resolve) => setTimeout(resolve));
        breathed = performance.now();
      }
      options.signal?.throwIfAborted();
      inFlight.delete(trajectory.index);
      fill();
      yield trajectory;
    }
  } finally {
    options.signal?.removeEventListener('abort', follow);
    leave.abort();
    waiting.return?.();
    await Promise.allSettled(inFlight.values());
  }
}

async function playWithRetries<Task>(
  request: EpisodeRequest<Task>,
  index: number,
  options: RolloutOptions<Task>,
  leave: AbortSignal,
): Promise<Trajectory<Task>> {
  const ready = { ...request, task: await request.task };
  for (let retry = 0; ; retry++) {
    const trajectory = await playOnce(ready, index, retry, options, leave);
    const { outcome } = trajectory;
    if (outcome.kind !== 'aborted' || !outcome.retryable || retry >= (options.retries ?? 1))
      return trajectory;
  }
}

async function playOnce<Task>(
  { task, group, sample, again }: EpisodeRequest<Task> & { task: Task },
  index: number,
  retry: number,
  options: RolloutOptions<Task>,
  leave: AbortSignal,
): Promise<Trajectory<Task>> {
  const { policy, sampling, deadline: after = 600_000, closeTimeout = 10_000, onBug, onProgress } = options;
  const seed = again?.seed ?? deriveSeed(options.seed, group, sample);
  // A retry is another conversation: the policy may still be busy with the one that failed.
  const name = `${options.seed}-${group}-${sample}${retry > 0 ? `-retry${retry}` : ''}`;
  const episodeId = again?.episodeId ?? name;
  const env = guardEnv(options.env.episode(), options.env.capabilities?.remote);
  const { rewards: rewardSpec, players: learned = [] } = env.spec;
  const steps: TrajectoryStep[] = [];
  const deadline = new Deadline({
    after,
    parent: leave,
    reason: () => new DOMException(`The episode took longer than ${after} ms.`, 'TimeoutError'),
  });
  const guarded = new GuardedEpisode({ env, policy, deadline, closeTimeout, onProgress });
  const fit = (observation: Observation) => fitImages(observation, policy.spec, options.onImages);
  let outcome: Outcome;
  let released: Promise<void>;
  try {
    outcome = await playEpisode(guarded, guarded, { task, seed, episodeId }, sampling, steps, fit);
  } catch (error) {
    // An error after the deadline was most likely caused by it.
    outcome = deadline.passed ? late(after, options.onDeadline) : outcomeOf(error, leave, onBug);
    const last = steps.at(-1);
    if (last && outcome.kind === 'truncated') {
      last.rewards = scoreTruncation(rewardSpec, last.rewards ?? {});
      if (learned.length > 0) {
        const zeros = learned.map((name) => [
          name,
          scoreTruncation(rewardSpec, last.playerRewards?.[name] ?? {}),
        ]);
        last.playerRewards = Object.fromEntries(zeros);
      }
    }
  } finally {
    deadline.clear();
    released = guarded.release(episodeId);
    // An error of the episode comes first.
    await released.catch(() => {});
  }
  try {
    await released;
  } catch (error) {
    // A finished episode stays valid if its server is gone.
    if (!isInfrastructure(error) || error.code === 'infrastructure.close_timeout')
      outcome = outcomeOf(error, leave, onBug);
  }
  const { ref = env.spec.name, packageVersion: envVersion } = options.env;
  const players = { env: ref, envVersion, policy: policy.spec.name };
  const identity = { episodeId, index, task, group, sample, seed };
  return finishTrajectory({ ...players, ...identity, rewardSpec, steps }, outcome, learned);
}

/** The outcome of an episode that took too long. A second try would take as long. */
function late(after: number, onDeadline: OnDeadline = 'abort'): Outcome {
  if (onDeadline === 'truncate') return truncated('deadline');
  const message = `The episode took longer than ${after} ms: remove what makes it slow, or give a longer deadline.`;
  return aborted(new ToolEnvError('infrastructure.deadline', message), false);
}

/** The outcome that an error implies. Bugs are rethrown, unless `onBug` aborts their episode. */
function outcomeOf(error: unknown, leave: AbortSignal, onBug: OnBug = 'stop'): Outcome {
  if (leave.aborted) throw leave.reason;
  // A second try would leave a second episode behind.
  const fault = networkFault(error);
  if (fault) return aborted(fault, fault.code !== 'infrastructure.close_timeout');
  const code = ToolEnvError.isInstance(error) ? error.code : 'bug';
  if (code.startsWith('context.')) return truncated('context');
  if (onBug === 'stop' || code.startsWith('usage.')) throw error;
  const bug = new ToolEnvError('infrastructure.bug', messageOf(error), { cause: error });
  return aborted(bug, false);
}

function checkOptions(options: RolloutOptions): void {
  const { env, concurrency, sampling, deadline, onDeadline = 'abort', closeTimeout, retries = 1 } = options;
  const wrong = (name: string, value: unknown, expected: string) =>
    new ToolEnvError('usage.rollout', `rollout: ${name} is ${value}; give ${expected}.`);
  if (typeof env?.episode !== 'function') {
    const remedy = 'give await openEnv(definition), or await openEnv("<package>/<name>-v<N>")';
    throw new ToolEnvError('usage.rollout', `rollout: env is not open: ${remedy}.`);
  }
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw wrong('concurrency', concurrency, 'a whole number of at least 1');
  }
  const mistake = samplingMistake(sampling);
  if (mistake) throw new ToolEnvError('usage.rollout', `rollout: sampling.${mistake}.`);
  for (const [name, value] of Object.entries({ deadline, closeTimeout })) {
    if (value !== undefined && !(value > 0)) throw wrong(name, value, 'milliseconds above 0');
  }
  if (onDeadline !== 'abort' && onDeadline !== 'truncate')
    throw wrong('onDeadline', onDeadline, 'abort or truncate');
  if (!Number.isInteger(retries) || retries < 0) throw wrong('retries', retries, 'a whole number from 0 up');
}
