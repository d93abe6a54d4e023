/** The part `episodes`: thousands of episodes at once whose tools, servers, environment and policy do everything wrong. */
import { check, checkNone, type PartInput, type Reporter } from '../part.ts';
import { faults } from './faults.ts';
import { flat, growthOf, heapInUse } from './memory.ts';
import { drawPlan, type EpisodeFault, type EpisodePlan, episodeFaults } from './plan.ts';
import { play } from './play.ts';
import { playServers } from './servers.ts';

const full = { atOnce: 10_000, waves: 10, perWave: 1_000, servers: 200, toolTimeout: 1_000, limit: 300_000 };
const quick = { atOnce: 1_000, waves: 6, perWave: 100, servers: 40, toolTimeout: 500, limit: 60_000 };

export async function run({ quick: isQuick, seed }: PartInput, { say, report }: Reporter): Promise<void> {
  const size = isQuick ? quick : full;

  say(`${faults.length + Object.keys(episodeFaults).length} faults, one at a time`);
  const single = await playEachFault();
  report(checkNone('each fault by itself', single.wrong, `${single.count} faults`));

  say(`${size.atOnce} episodes at once`);
  const plans = (count: number, wave: number) =>
    Array.from({ length: count }, (_, number) => drawPlan(seed + wave, number));
  const { atOnce, waves, perWave, servers, ...limits } = size;
  const all = await play(plans(atOnce, 0), limits);
  const counts = `${all.episodes} episodes, ${all.faulty} with faults, ${all.aborted} aborted, ${all.seconds.toFixed(0)} s`;
  report(checkNone(`${atOnce} episodes at once`, all.wrong, counts));

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

  for (const [name, reset] of [
    ['servers that die', false],
    ['servers that die and are reset', true],
  ] as const) {
    say(`${servers} episodes on ${name}`);
    const played = await playServers(servers, { seed, limit: limits.limit, reset });
    const counts = `${played.episodes} episodes, ${played.faulty} with faults, ${played.aborted} aborted, ${played.seconds.toFixed(0)} s`;
    report(checkNone(name, played.wrong, counts));
  }
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
