/** playByHand: an episode in which a person plays the policy's part. */
import {
  type Action,
  type CallProgress,
  type EnvHandle,
  type Observation,
  type Policy,
  rollout,
  type Trajectory,
  type TrajectoryStep,
} from '@toolenv/core';

/** What a person does in one turn. */
export interface WrittenTurn {
  text: string;
  calls: { name: string; arguments: Record<string, unknown> }[];
}

export interface Player {
  /** Waits for the person, or for the action of a policy in the person's place. */
  write(observation: Observation, signal: AbortSignal): Promise<WrittenTurn | Action>;
  /** Called with each finished turn: what the person wrote, and what the environment made of it. */
  answered?(step: TrajectoryStep): void;
  /** Called with each turn of {@link Replayed} before the environment gets it. */
  replayed?(observation: Observation, action: Action): void;
  /** Called with how far a running tool is, in words: `search: 3 of 10, reading page 3`. */
  progressed?(text: string): void;
}

/** The beginning of a recorded episode, whose turns are taken before the person's. */
export interface Replayed {
  /** Of the recorded episode, which seeds the environment. */
  seed: number;
  actions: readonly Action[];
}

export interface HandPlayedEpisode<Task> {
  env: EnvHandle<Task>;
  task: Task;
  /** Number of the episode, which identifies and seeds it. */
  number: number;
  seed: number;
  player: Player;
  replayed?: Replayed | undefined;
  signal: AbortSignal;
}

/** People take their time. */
const day = 24 * 60 * 60 * 1000;

/**
 * The trajectory of the episode. It has no tokens, so trainers learn from its messages.
 * @throws The signal's reason, and what the environment and the player throw.
 */
export async function playByHand<Task>(episode: HandPlayedEpisode<Task>): Promise<Trajectory<Task>> {
  const { env, task, number, seed, player, replayed, signal } = episode;
  const recorded = [...(replayed?.actions ?? [])];
  const policy: Policy = {
    spec: { name: 'person', contextLength: Number.MAX_SAFE_INTEGER },
    async act(observation) {
      const action = recorded.shift();
      if (!action) return toAction(await player.write(observation, signal), number);
      player.replayed?.(observation, action);
      return action;
    },
  };
  const watched = { ...env, capabilities: env.capabilities, episode: () => told(episode) };
  const episodes = [{ task, group: number, sample: 0 }];
  // Sampling options mean nothing to a person.
  const sampling = { maxTokens: 1_000_000, temperature: 1 };
  const onProgress = (report: CallProgress) => player.progressed?.(progressText(report));
  const settings = { concurrency: 1, sampling, seed, deadline: day, signal, onProgress };
  const played = rollout({ env: watched, policy, episodes, ...settings });
  for await (const trajectory of played) return trajectory;
  throw new Error('The rollout ended without its episode.');
}

/** The environment, telling the player of each finished turn. */
function told<Task>({
  env,
  player,
  replayed,
}: HandPlayedEpisode<Task>): ReturnType<EnvHandle<Task>['episode']> {
  const inner = env.episode();
  let observation: Observation | undefined;
  return {
    spec: inner.spec,
    async reset(options) {
      observation = await inner.reset({ ...options, seed: replayed?.seed ?? options.seed });
      return observation;
    },
    async step(action, options) {
      const transition = await inner.step(action, options);
      const { calls, info, rewards } = transition;
      player.answered?.({ observation: observation!, action, calls, info, ...(rewards && { rewards }) });
      observation = transition.observation;
      return transition;
    },
    close: () => inner.close(),
  };
}

function progressText({ tool, progress, total, message }: CallProgress): string {
  const done = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return `${tool}: ${message === undefined ? done : `${done}, ${message}`}`;
}

function toAction(turn: WrittenTurn | Action, episode: number): Action {
  if ('stopReason' in turn) return turn;
  const { text, calls } = turn;
  const toolCalls = calls.map((call, index) => ({ id: `call-${episode}-${index}`, ...call }));
  return { text, toolCalls, stopReason: toolCalls.length > 0 ? 'tool_call' : 'stop' };
}
