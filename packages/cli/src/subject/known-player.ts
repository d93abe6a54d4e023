/** KnownPlayer: the policies that every environment has without a model: its oracle, random actions, and doing nothing. */
import {
  type Action,
  createRng,
  type Env,
  type EnvDefinition,
  type Observation,
  type OpenedEnv,
  type Policy,
  type SamplingOptions,
  type Script,
  type Scripted,
  scriptedPolicy,
  ToolEnvError,
} from '@toolenv/core';
import type { PolicyDefinition } from '@toolenv/core/plugins';
import { flagName } from '../display/terminal-text.ts';

const descriptions = {
  oracle: 'Plays what the oracle of the environment says',
  random: 'Calls tools with random arguments, and answers with a word that it has read',
  idle: 'Answers with an empty text',
} as const;

type PlayerName = keyof typeof descriptions;

/** Names of these policies. */
export const playerNames: readonly string[] = Object.keys(descriptions);

export function isKnownPlayer(name: string): name is PlayerName {
  return Object.hasOwn(descriptions, name);
}

/** The definition of such a policy. It learns from the environment, which {@link openForPlayer} opens, which task an episode plays. */
export class KnownPlayer implements PolicyDefinition {
  readonly name: PlayerName;
  readonly description: string;
  readonly options = { type: 'object', properties: {}, additionalProperties: false } as const;
  #definition: Pick<EnvDefinition, 'name' | 'oracle' | 'players'> | undefined;
  /** The tasks of the episodes that are played now. */
  readonly #tasks: Map<string, unknown> = new Map();

  constructor(name: PlayerName) {
    this.name = name;
    this.description = descriptions[name];
  }

  /** @throws ToolEnvError `usage.no_oracle` if the oracle is to play, and there is none. */
  sit(definition: EnvDefinition): void {
    const { name, oracle } = definition;
    if (this.name === 'oracle' && !oracle) {
      const remedy = 'add one to its definition, oracle: (task) => [task.answer], or give --policy random';
      throw new ToolEnvError('usage.no_oracle', `${name} has no oracle: ${remedy}.`);
    }
    this.#definition = definition;
  }

  /** The Env, which tells the player its tasks. */
  watch(env: Env): Env {
    return {
      spec: env.spec,
      reset: (options) => {
        this.#tasks.set(options.episodeId ?? '', options.task);
        return env.reset(options);
      },
      step: (action, options) => env.step(action, options),
      close: () => env.close(),
    };
  }

  async open(): Promise<Policy> {
    const spec = { name: this.name, contextLength: Number.MAX_SAFE_INTEGER };
    if (this.name === 'random') return { spec, act: randomAction };
    if (this.name === 'idle') return { ...scriptedPolicy([]), spec };
    const scripts = new Map<string, Policy>();
    return {
      spec,
      act: (observation, options) => {
        const { episodeId = '' } = options;
        const player = scripts.get(episodeId) ?? scriptedPolicy(this.#script(episodeId));
        this.#expectOwnTurn(observation, episodeId);
        scripts.set(episodeId, player);
        return player.act(observation, options);
      },
      endEpisode: (episodeId) => {
        scripts.delete(episodeId);
        this.#tasks.delete(episodeId);
      },
    };
  }

  /** @throws ToolEnvError `usage.oracle_seat` for a turn of another player, if the oracle lists the turns of the first. */
  #expectOwnTurn({ conversation = '' }: Observation, episodeId: string): void {
    const { name, players = {} } = this.#definition!;
    if (!Object.hasOwn(players, conversation) || !Array.isArray(this.#script(episodeId))) return;
    const [script = '<policy>'] = players[conversation]!;
    const remedy = `name who plays "${conversation}": ${flagName(conversation)} ${script}`;
    const message = `The oracle of ${name} lists the turns of the first player only: ${remedy}.`;
    throw new ToolEnvError('usage.oracle_seat', message);
  }

  #script(episodeId: string): Script | readonly Scripted[] {
    const script = this.#definition?.oracle?.(this.#tasks.get(episodeId));
    if (script) return script;
    throw new ToolEnvError('infrastructure.no_script', 'The oracle has no script for this task.');
  }
}

/**
 * Opens an environment for a policy that may be a known player.
 * @throws ToolEnvError `usage.no_oracle`, and whatever `open` throws.
 */
export async function openForPlayer(
  policy: PolicyDefinition,
  definition: EnvDefinition,
  open: () => Promise<OpenedEnv<unknown>>,
): Promise<OpenedEnv<unknown>> {
  if (!(policy instanceof KnownPlayer)) return open();
  policy.sit(definition);
  const env = await open();
  if (policy.name !== 'oracle') return env;
  return { ...env, episode: () => policy.watch(env.episode()) };
}

/** A call in three turns of four if there are tools, and a word from the conversation otherwise. */
async function randomAction(
  { messages, tools }: Observation,
  { seed, signal }: SamplingOptions,
): Promise<Action> {
  signal?.throwIfAborted();
  const rng = createRng(seed, 'random player');
  if (tools.length > 0 && rng.float() < 0.75) {
    // Loaded only for this player: it takes a while.
    const { randomCall } = await import('@toolenv/testing');
    return randomCall(tools, rng.int(2 ** 31));
  }
  const words = messages.flatMap(({ content }) => content.match(/[\p{L}\p{N}]+/gu) ?? []);
  return { text: words.length > 0 ? rng.pick(words) : '', toolCalls: [], stopReason: 'stop' };
}
