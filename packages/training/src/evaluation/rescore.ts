/** rescore: recorded episodes under other rewards. Each is played again with its own actions, and must turn out as it was recorded. */
import {
  type Action,
  type EnvHandle,
  imagesOf,
  type Observation,
  type Policy,
  type RewardSpec,
  rollout,
  type SamplingOptions,
  ToolEnvError,
  type Trajectory,
  type TrajectoryStep,
} from '@toolenv/core';
import { describeDifferences, differences } from '@toolenv/core/recording';

export interface RescoreOptions<Task = unknown> {
  /** With the other rewards: `openEnv(ref, options, { rewards })`, with the options of the run. */
  env: EnvHandle<Task>;
  /** The recorded episodes of one run. */
  trajectories: Iterable<Trajectory<Task>> | AsyncIterable<Trajectory<Task>>;
  /** Largest number of episodes in flight. Default 64. */
  concurrency?: number;
  /** Milliseconds that an episode may take. Default 600,000. */
  deadline?: number;
  signal?: AbortSignal;
}

export interface Rescored<Task = unknown> {
  recorded: Trajectory<Task>;
  /** The same, with the other rewards. */
  rescored: Trajectory<Task>;
}

/** Episodes that are read before any is played. */
const batch = 256;

/**
 * Yields the episodes in their order. Reward functions see whatever they see in a run: calls, state, what tools remember. An aborted episode has no rewards.
 * @throws ToolEnvError `usage.other_episode` for an episode that turns out otherwise; what {@link rollout} throws.
 */
export async function* rescore<Task>({
  trajectories,
  ...options
}: RescoreOptions<Task>): AsyncGenerator<Rescored<Task>, void, void> {
  let waiting = new Map<string, Trajectory<Task>>();
  for await (const trajectory of trajectories) {
    const { episodeId } = trajectory;
    // Episodes of different steps of a run may have one name.
    if (waiting.size === batch || waiting.has(episodeId)) {
      yield* rescoreBatch(waiting, options);
      waiting = new Map();
    }
    waiting.set(episodeId, trajectory);
  }
  yield* rescoreBatch(waiting, options);
}

async function* rescoreBatch<Task>(
  recorded: ReadonlyMap<string, Trajectory<Task>>,
  { env, concurrency = 64, deadline, signal }: Omit<RescoreOptions<Task>, 'trajectories'>,
): AsyncGenerator<Rescored<Task>, void, void> {
  const again = [...recorded.values()].filter(({ outcome }) => outcome.kind !== 'aborted');
  const policy = new RecordedPolicy(again);
  const episodes = again.map(({ task, group, sample, seed, episodeId }) => ({
    ...{ task, group, sample, again: { seed, episodeId } },
  }));
  const sampling = { maxTokens: 1, temperature: 0 };
  const bounds = { concurrency, deadline, signal, retries: 0 };
  const played = new Map<string, Trajectory<Task>>();
  for await (const trajectory of rollout({ env, policy, episodes, sampling, seed: 0, ...bounds }))
    played.set(trajectory.episodeId, trajectory);
  const unplayed = env.episode();
  const { rewards } = unplayed.spec;
  await unplayed.close();
  for (const each of recorded.values()) {
    const now = played.get(each.episodeId);
    yield { recorded: each, rescored: now ? scoredAs(each, now) : unscored(each, rewards) };
  }
}

/** @throws ToolEnvError `usage.other_episode`, or the fault of an episode that is aborted now. */
function scoredAs<Task>(recorded: Trajectory<Task>, now: Trajectory<Task>): Trajectory<Task> {
  if (now.outcome.kind === 'aborted') throw now.outcome.cause;
  refuseOther(recorded.outcome, endOf(recorded, now), recorded, 'at its end');
  const { rewardSpec, rewards, reward, players } = now;
  const steps = recorded.steps.map((step, turn) => {
    const { rewards, playerRewards } = now.steps[turn]!;
    return withRewards(step, { rewards, playerRewards });
  });
  return { ...recorded, rewardSpec, steps, rewards, reward, ...(players && { players }) };
}

/** How it ended now. What cut the recorded episode short, a deadline or the context of its policy, does not happen again. */
function endOf({ outcome }: Trajectory<unknown>, now: Trajectory<unknown>): Trajectory['outcome'] {
  const isCut = outcome.kind === 'truncated' && ['context', 'deadline'].includes(outcome.reason);
  const isCutNow = now.outcome.kind === 'truncated' && now.outcome.reason === 'context';
  return isCut && isCutNow ? outcome : now.outcome;
}

function unscored<Task>(recorded: Trajectory<Task>, rewardSpec: RewardSpec): Trajectory<Task> {
  const rewards = Object.fromEntries(Object.keys(rewardSpec).map((name) => [name, null]));
  const steps = recorded.steps.map((step) => withRewards(step, {}));
  return { ...recorded, rewardSpec, steps, rewards, reward: null };
}

function withRewards(
  { rewards: _, playerRewards: __, ...step }: TrajectoryStep,
  { rewards, playerRewards }: Pick<TrajectoryStep, 'rewards' | 'playerRewards'>,
): TrajectoryStep {
  return { ...step, ...(rewards && { rewards }), ...(playerRewards && { playerRewards }) };
}

/** Does what was recorded, in each conversation of an episode. */
class RecordedPolicy implements Policy {
  readonly spec: Policy['spec'];
  readonly #recorded: ReadonlyMap<string, Trajectory<unknown>>;
  readonly #done: Map<string, Set<TrajectoryStep>> = new Map();

  constructor(recorded: readonly Trajectory<unknown>[]) {
    this.#recorded = new Map(recorded.map((each) => [each.episodeId, each]));
    const images = recorded.some(({ steps }) => steps.some(({ observation }) => hasImages(observation)));
    this.spec = { name: 'recorded', contextLength: Number.MAX_SAFE_INTEGER, capabilities: { images } };
  }

  async act(observation: Observation, { episodeId = '' }: SamplingOptions): Promise<Action> {
    const recorded = this.#recorded.get(episodeId)!;
    const done = this.#done.get(episodeId) ?? new Set();
    this.#done.set(episodeId, done);
    const { conversation } = observation;
    const turn = recorded.steps.findIndex(
      (step) => !done.has(step) && step.observation.conversation === conversation,
    );
    const step = recorded.steps[turn];
    if (step) {
      refuseOther(step.observation, observation, recorded, `before turn ${turn + 1}`);
      done.add(step);
      return step.action;
    }
    const { outcome } = recorded;
    // The end that the loop gives an episode whose policy cannot go on.
    if (outcome.kind === 'truncated')
      throw new ToolEnvError('context.recorded', 'The recorded episode ends here.');
    throw otherEpisode(recorded, 'after its last turn', 'it goes on, and was recorded to end');
  }

  endEpisode(episodeId: string): void {
    this.#done.delete(episodeId);
  }
}

function hasImages({ messages }: Observation): boolean {
  return messages.some((message) => imagesOf(message).length > 0);
}

function refuseOther(recorded: object, now: object, episode: Trajectory<unknown>, where: string): void {
  // As JSON has them: what is undefined is absent.
  const found = differences(plain(recorded), plain(now));
  if (found.length > 0) throw otherEpisode(episode, where, `\n${describeDifferences(found)}`);
}

function plain(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}

function otherEpisode({ episodeId }: Trajectory<unknown>, where: string, what: string): ToolEnvError {
  const remedy =
    'Give the environment the options of the run. If its tools answer differently each time, evaluate with --record, and score with --replay.';
  const message = `Episode ${episodeId} turns out otherwise when it is played again, ${where}: ${what}\n${remedy}`;
  return new ToolEnvError('usage.other_episode', message);
}
