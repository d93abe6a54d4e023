/** The part `harbor`: episodes of harbor-v1 in containers of podman, a tenth of them played by hostile agents, and a tenth left in the middle. */
import { missing } from '../../../packages/sandbox/process-test/podman-service.ts';
import { check, checkNone, type PartInput, type Reporter } from '../part.ts';
import { playHarbor } from './play-harbor.ts';

/** Largest growth of what the process holds in MiB, from the first tenth of the episodes to the last. */
const most = 20;

/** ENV-1 to ENV-39, without ENV-15: there is no label. */
const allRules = 38;

export async function run({ quick, seed }: PartInput, { say, report }: Reporter): Promise<void> {
  if (missing) return report(check('containers', true, `skipped: ${missing}`));
  const count = quick ? 10 : 200;
  say(`${count} episodes, two at a time`);
  const played = await playHarbor(count, { seed, allRules: !quick, say });
  const { episodes, attacked, left, wrong, rules, memory, seconds } = played;
  const counts = `${episodes} episodes, ${attacked} attacked, ${left} left in the middle, ${seconds.toFixed(0)} s`;
  report(checkNone('scores, containers, images and processes', wrong, counts));
  if (!quick) report(check('every rule holds', rules[0] === allRules, rules[1]));
  const [early, late] = memory.map(Math.round) as [number, number];
  report(check('memory is flat', late - early < most, `${early} MiB early, ${late} MiB at the end`));
}
