/** Episodes whose tools are MCP servers that are killed, hang and answer nonsense. */
import { join } from 'node:path';
import { createRng, openEnv, rollout, scriptedPolicy, type Trajectory } from '@toolenv/core';
import { defineMcpEnv, type EnvReset } from '@toolenv/mcp';
import { drawDeed } from './draw-deed.ts';
import { judgeAll, type Played } from './play.ts';

/** What a server's tool does, its share of the calls, and what it means for the episode. */
const deeds = [
  { what: 'dies', share: 0.1, means: 'aborts' },
  { what: 'answers and dies', share: 0.05, means: 'either' },
  { what: 'hangs', share: 0.03, means: 'aborts' },
  { what: 'forgets', share: 0.03, means: 'aborts' },
  { what: 'answers with a null block', share: 0.05, means: 'aborts' },
  { what: 'answers without content', share: 0.05, means: 'aborts' },
  { what: 'answers with 10 MB', share: 0.02, means: 'data' },
  { what: 'reports an error', share: 0.05, means: 'data' },
  { what: 'chatters', share: 0.05, means: 'data' },
  { what: 'works', share: 1, means: 'data' },
] as const;

/** How long a server may start, and how long a reset may take. */
const connectTimeout = 5_000;

/**
 * Plays episodes of two calls each, on at most eight servers at a time. With `reset`, servers serve one episode after the other, and their
 * resets fail as often as their calls.
 */
export async function playServers(
  count: number,
  { seed, limit, reset: isReset }: { seed: number; limit: number; reset: boolean },
): Promise<Played> {
  const tasks = Array.from({ length: count }, (_, number) => ({ prompt: `Task ${number}.`, answer: 'done' }));
  const plans = tasks.map((_task, number) => {
    const rng = createRng(seed, 'servers', number);
    return [drawDeed(deeds, rng.float()), drawDeed(deeds, rng.float())];
  });
  const numbers = new Map(tasks.map(({ prompt }, number) => [prompt, number]));
  const resets = isReset
    ? new Resets(seed, plans.flat().filter(({ what }) => what === 'answers and dies').length)
    : undefined;
  const definition = defineMcpEnv({
    name: 'mortal-v1',
    server: { command: process.execPath, args: [join(import.meta.dirname, 'mortal-server.js')] },
    only: ['work'],
    ...(resets && { reset: resets.reset, connectTimeout }),
    // A call to a server that works must not take as long, even on a busy machine.
    limits: { toolTimeout: 10_000 },
    tasks,
  });
  const policy = scriptedPolicy(({ messages }, turn) => {
    const deed = plans[numbers.get(messages[0]!.content)!]![turn];
    return deed ? [{ name: 'work', arguments: { what: deed.what } }] : 'done';
  });
  const env = await openEnv(definition);
  const trajectories = rollout({
    env,
    policy,
    episodes: tasks.map((task, group) => ({ task, group, sample: 0 })),
    concurrency: count,
    sampling: { maxTokens: 16, temperature: 0 },
    seed,
    retries: 0,
  });
  const judged = await judgeAll(trajectories, {
    count,
    limit,
    judge(trajectory) {
      const { group, outcome, reward } = trajectory;
      const foreign = foreignCall(trajectory);
      if (foreign) return foreign;
      const fault = plans[group]!.find(({ means }) => means === 'aborts')?.what;
      const may = plans[group]!.some(({ means }) => means === 'either');
      if (fault) return outcome.kind === 'aborted' ? undefined : `scored ${reward} after "${fault}"`;
      if (may || reward === 1 || resets?.excuses(outcome)) return undefined;
      return `ended as ${JSON.stringify(outcome)} with the reward ${reward}`;
    },
    end: () => env.close(),
  });
  return { ...judged, faulty: plans.filter((plan) => plan.some(({ what }) => what !== 'works')).length };
}

/**
 * Resets that do what is drawn for them. A server dies 5 ms after a call or a reset that answers and dies. In that time it may still be
 * reset and lent again, so that its death aborts the next episode.
 */
class Resets {
  readonly #seed: number;
  #count = 0;
  #deaths: number;

  /** @param deaths how many calls of the episodes answer and die */
  constructor(seed: number, deaths: number) {
    this.#seed = seed;
    this.#deaths = deaths;
  }

  readonly reset: EnvReset = ({ call }) => {
    this.#count += 1;
    const { what } = drawDeed(deeds, createRng(this.#seed, 'reset', this.#count).float());
    if (what === 'answers and dies') this.#deaths += 1;
    return call('forget', { what });
  };

  /** Whether such a death explains the outcome. Each explains one. */
  excuses(outcome: Trajectory['outcome']): boolean {
    if (outcome.kind !== 'aborted' || outcome.cause.code !== 'infrastructure.mcp_closed') return false;
    this.#deaths -= 1;
    return this.#deaths >= 0;
  }
}

/** A call that another episode's server has answered: an episode's own calls are the first and the second that its server counts. */
function foreignCall({ steps }: Trajectory): string | undefined {
  const answers = steps.map(({ calls }) => JSON.stringify(calls[0]?.result?.content ?? ''));
  const turn = answers.findIndex((said, turn) => /call \d/.test(said) && !said.includes(`call ${turn + 1}"`));
  return turn === -1 ? undefined : `has ${answers[turn]} as the answer of call ${turn + 1}`;
}
