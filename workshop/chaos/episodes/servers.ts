/** Episodes whose tools are MCP servers that are killed, hang and answer nonsense. */
import { join } from 'node:path';
import { createRng, openEnv, rollout, scriptedPolicy, type Trajectory } from '@toolenv/core';
import { defineMcpEnv, type EnvReset } from '@toolenv/mcp';
import { type Played, withinLimit } from './play.ts';

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
    return [draw(rng.float()), draw(rng.float())];
  });
  const numbers = new Map(tasks.map(({ prompt }, number) => [prompt, number]));
  const resets = isReset ? new Resets(seed) : undefined;
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
  const started = performance.now();
  const env = await openEnv(definition);
  const seen = new Set<number>();
  const wrong: string[] = [];
  let aborted = 0;
  const failure = await withinLimit(limit, async () => {
    const trajectories = rollout({
      env,
      policy,
      episodes: tasks.map((task, group) => ({ task, group, sample: 0 })),
      concurrency: count,
      sampling: { maxTokens: 16, temperature: 0 },
      seed,
      retries: 0,
    });
    for await (const trajectory of trajectories) {
      const { group, outcome, reward } = trajectory;
      seen.add(group);
      wrong.push(...foreignCalls(trajectory));
      if (outcome.kind === 'aborted') aborted += 1;
      const fault = plans[group]!.find(({ means }) => means === 'aborts')?.what;
      const may = plans[group]!.some(({ means }) => means === 'either');
      if (fault && outcome.kind !== 'aborted')
        wrong.push(`episode ${group} scored ${reward} after "${fault}"`);
      else if (!fault && !may && reward !== 1 && !resets?.excuses(outcome))
        wrong.push(`episode ${group} ended as ${JSON.stringify(outcome)} with the reward ${reward}`);
    }
    await env.close();
  });
  if (failure !== undefined) wrong.unshift(failure);
  if (seen.size < count) wrong.push(`${count - seen.size} episodes have no trajectory`);
  const faulty = plans.filter((plan) => plan.some(({ what }) => what !== 'works')).length;
  return { episodes: seen.size, aborted, faulty, seconds: (performance.now() - started) / 1000, wrong };
}

/** Resets that do what is drawn for them. A server that dies after its reset aborts the next episode, if that has begun. */
class Resets {
  readonly #seed: number;
  #count = 0;
  #deaths = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  readonly reset: EnvReset = ({ call }) => {
    this.#count += 1;
    const { what } = draw(createRng(this.#seed, 'reset', this.#count).float());
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

/** An episode's own calls are the first and the second that its server counts. */
function foreignCalls({ group, steps }: Trajectory): string[] {
  return steps.flatMap(({ calls }, turn) => {
    const said = JSON.stringify(calls[0]?.result?.content ?? '');
    const isForeign = /call \d/.test(said) && !said.includes(`call ${turn + 1}"`);
    return isForeign ? [`call ${turn + 1} of episode ${group} answers ${said}`] : [];
  });
}

function draw(drawn: number): (typeof deeds)[number] {
  let below = 0;
  return deeds.find(({ share }) => {
    below += share;
    return drawn < below;
  })!;
}
