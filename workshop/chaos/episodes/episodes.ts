/** The part `episodes`: thousands of episodes at once whose tools, servers, agents, environment and policy do everything wrong. */
import { existsSync } from 'node:fs';
import { check, checkNone, type PartInput, type Reporter } from '../part.ts';
import { playAgents } from './agents.ts';
import { faults } from './faults.ts';
import { flat, growthOf, heapInUse } from './memory.ts';
import { drawPlan, type EpisodeFault, type EpisodePlan, episodeFaults } from './plan.ts';
import { type Played, play } from './play.ts';
import { playServers } from './servers.ts';

const full = {
  atOnce: 10_000,
  waves: 10,
  perWave: 1_000,
  servers: 200,
  agents: 100,
  toolTimeout: 1_000,
  limit: 300_000,
};
const quick = {
  atOnce: 1_000,
  waves: 6,
  perWave: 100,
  servers: 40,
  agents: 16,
  toolTimeout: 500,
  limit: 60_000,
};

export async function run({ quick: isQuick, seed }: PartInput, { say, report }: Reporter): Promise<void> {
  const size = isQuick ? quick : full;

  say(`${faults.length + Object.keys(episodeFaults).length} faults, one at a time`);
  const single = await playEachFault();
  report(checkNone('each fault by itself', single.wrong, `${single.count} faults`));

  say(`${size.atOnce} episodes at once`);
  const plans = (count: number, wave: number) =>
    Array.from({ length: count }, (_, number) => drawPlan(seed + wave, number));
  const { atOnce, waves, perWave, servers, agents, ...limits } = size;
  const all = await play(plans(atOnce, 0), limits);
  report(checkNone(`${atOnce} episodes at once`, all.wrong, countsOf(all)));

  say(`${waves} waves of ${perWave} episodes`);
  const heap: number[] = [];
  const wrong: string[] = [];
  for (let wave = 1; wave <= waves; wave++) {
    const played = await play(plans(perWave, wave), limits);
    wrong.push(...played.wrong.map((what) => `wave ${wave}: ${what}`));
    heap.push(heapInUse());
    // The episodes of a rollout that hangs go on, so that later waves would say nothing.
    if (played.episodes < perWave) break;
  }
  report(checkNone('waves of episodes', wrong, `${waves} waves of ${perWave} episodes`));
  const growth = growthOf(heap);
  report(
    check(
      'memory is flat',
      growth < flat,
      `heap ${heap.at(-1)!.toFixed(1)} MB, grew by ${growth.toFixed(2)} MB`,
    ),
  );

  const played = (name: string, reset: boolean) => {
    say(`${servers} episodes on ${name}`);
    return playServers(servers, { seed, limit: limits.limit, reset });
  };
  const alone = await played('servers that die', false);
  report(checkNone('servers that die', alone.wrong, countsOf(alone)));
  const again = await played('servers that die and are reset', true);
  report(checkNone('servers that die and are reset', again.wrong, countsOf(again)));

  say(`${agents} episodes of programs`);
  const programs = await playAgents(agents, { seed, limit: limits.limit, confine: false });
  report(checkNone('agents that die', programs.wrong, countsOf(programs)));
  if (!existsSync('/usr/bin/bwrap')) return;
  const confined = await playAgents(agents, { seed, limit: limits.limit, confine: true });
  report(checkNone('confined agents that die', confined.wrong, countsOf(confined)));
}

function countsOf({ episodes, faulty, aborted, seconds }: Played): string {
  return `${episodes} episodes, ${faulty} with faults, ${aborted} aborted, ${seconds.toFixed(0)} s`;
}

/** Each fault in two episodes, so that a failure names the fault. */
async function playEachFault(): Promise<{ count: number; wrong: string[] }> {
  const wrong: string[] = [];
  const plans: [name: string, plan: EpisodePlan][] = [
    ...faults.map((fault): [string, EpisodePlan] => [fault.name, { turns: [[fault]], right: true }]),
    ...Object.keys(episodeFaults).map((name): [string, EpisodePlan] => [
      name,
      { turns: [[undefined]], right: true, episodeFault: name as EpisodeFault },
    ]),
  ];
  for (const [name, plan] of plans) {
    const played = await play([plan, plan], { toolTimeout: 200, limit: 10_000 });
    wrong.push(...played.wrong.slice(0, 1).map((what) => `${name}: ${what}`));
  }
  return { count: plans.length, wrong };
}
