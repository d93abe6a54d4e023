/** openPlayers: who plays each player of an environment, once the user has chosen. */
import { didYouMean } from '../protocol/did-you-mean.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import type { JsonSchema } from '../protocol/json-schema.ts';
import type { Policy } from '../protocol/policy.ts';
import type { Tool } from '../protocol/tool.ts';
import type { OpenOptions } from './env-definition.ts';
import type { PlayerDeclaration, PlayerScript } from './player-declaration.ts';
import { playerTool } from './player-tool.ts';

/** Who plays a player: the policy of the episode, a script, or another policy, which is asked as a tool. */
export type PlayerBinding =
  | { kind: 'self' }
  | { kind: 'script'; script: PlayerScript<never> }
  | { kind: 'policy'; tool: Tool; maxTokens: number; temperature: number };

type Players = Readonly<Record<string, PlayerDeclaration<never>>>;

/** The names of each player's scripts. */
export function scriptsOf(players: Players): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(players).map(([name, { scripts = {} }]) => [name, Object.keys(scripts)]),
  );
}

/** The option of each player. */
export function playerOptions(env: string, players: Players): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(players).map(([name, { description, play = 'self', scripts = {} }]) => {
      if (Object.hasOwn(scripts, 'self')) {
        const message = `${env}: a script of the player "${name}" is named "self", which is the policy itself: rename it.`;
        throw new ToolEnvError('bug.environment', message);
      }
      const known = ['self (the policy itself)', ...Object.keys(scripts)].join(', ');
      const others = 'or a policy: openai:<url>#<model>, a reference or a folder';
      return [
        name,
        {
          type: 'string',
          minLength: 1,
          default: play,
          description: `who plays ${description}: ${known}, ${others}`,
        },
      ];
    }),
  );
}

/**
 * @param chosen The options of the players.
 * @throws ToolEnvError `usage.no_policies` if a policy is named where policies cannot be opened; what opening a policy throws.
 */
export async function openPlayers(
  players: Players,
  chosen: Readonly<Record<string, unknown>>,
  { policy, tap }: Pick<OpenOptions<unknown>, 'policy' | 'tap'>,
): Promise<{ seats: ReadonlyMap<string, PlayerBinding>; close(): Promise<void> }> {
  const seats = new Map<string, PlayerBinding>();
  const close = async () => {
    for (const seat of seats.values()) if (seat.kind === 'policy') await seat.tool.close?.();
  };
  try {
    for (const [name, { scripts = {}, maxTokens = 256, temperature = 1 }] of Object.entries(players)) {
      const play = String(chosen[name]);
      if (play === 'self') seats.set(name, { kind: 'self' });
      else if (Object.hasOwn(scripts, play)) seats.set(name, { kind: 'script', script: scripts[play]! });
      else {
        const make = async () => playerTool(name, await opened(name, play, Object.keys(scripts), policy));
        const tool = tap ? await tap.tool(name, make) : await make();
        seats.set(name, { kind: 'policy', tool, maxTokens, temperature });
      }
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { seats, close };
}

async function opened(
  player: string,
  name: string,
  scripts: readonly string[],
  open: OpenOptions<unknown>['policy'],
): Promise<Policy> {
  const asked = `The player "${player}" is to be played by "${name}"`;
  if (!open) throw new ToolEnvError('usage.no_policies', `${asked}: open the environment by openEnv.`);
  try {
    return await open(name);
  } catch (error) {
    if (!ToolEnvError.isInstance(error) || !error.code.startsWith('usage.')) throw error;
    const hint = didYouMean(name, ['self', ...scripts], 'Without a policy');
    throw new ToolEnvError(error.code, `${asked}. ${hint} ${error.message}`, { cause: error });
  }
}
