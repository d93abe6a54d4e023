/** The part `harbor`: episodes of harbor-v1 in containers of podman, a tenth of them played by hostile agents, and a tenth left in the middle. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRng, type OpenedEnv, openEnv, playTask, type Scripted } from '@toolenv/core';
import harbor from '@toolenv/envs-harbor/harbor-v1';
import { checkEnv, reportText } from '@toolenv/testing';
import {
  changeAttacks,
  commandAttacks,
  programAttacks,
} from '../../../packages/envs-harbor/process-test/harbor-attacks.ts';
import { copyTasks, taskNamed } from '../../../packages/envs-harbor/process-test/harbor-tasks.ts';
import type { PlayedTask } from '../../../packages/envs-harbor/src/task/read-tasks.ts';
import { missing, PodmanService } from '../../../packages/sandbox/process-test/podman-service.ts';
import { ownLabels } from '../../../packages/sandbox/src/process-owner.ts';
import { atOnce } from '../../at-once.ts';
import { check, checkNone, type PartInput, type Reporter } from '../part.ts';

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

interface Played {
  episodes: number;
  attacked: number;
  left: number;
  wrong: string[];
  /** The rules of an environment that hold, and what the check found, for all rules. */
  rules: [held: number, found: string];
  /** MiB that the process holds, without what can be collected: after a tenth of the episodes, and after the last. */
  memory: [early: number, late: number];
  seconds: number;
}

/** What is done in an episode, and what it must earn; `undefined` for one that is left in the middle. */
interface Plan {
  what: string;
  task: string;
  script: readonly Scripted[];
  reward: number | undefined;
}

const bash = (command: string): Scripted => [{ name: 'bash', arguments: { command } }];

const attacks: readonly Plan[] = [
  ...Object.entries(commandAttacks).map(([what, command]) => ({
    what,
    task: 'errors',
    script: [bash(command), bash('echo on'), 'Done.'],
    reward: 0,
  })),
  ...Object.entries(changeAttacks).map(([what, command]) => ({
    what: `${what}, without artifacts`,
    task: 'undeclared',
    script: [bash(command), bash('echo on'), 'Done.'],
    reward: 0,
  })),
  ...Object.entries(programAttacks).map(([what, program]) => ({
    what: `${what} by a program`,
    task: 'reverse',
    script: [bash(`cat > reverse.sh << 'END'\n${program}\nEND`), 'Done.'],
    reward: 0,
  })),
];

async function playHarbor(
  count: number,
  { seed, allRules, say }: { seed: number; allRules: boolean; say: (line: string) => void },
): Promise<Played> {
  const started = performance.now();
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-harbor-'));
  const service = new PodmanService();
  const played: Played = {
    ...{ episodes: 0, attacked: 0, left: 0, wrong: [], memory: [0, 0], seconds: 0, rules: [0, ''] },
  };
  try {
    await service.start();
    await copyTasks(folder);
    // Programs of attackers take their time twice: as commands, and in the tests.
    const options = { tasks: folder, socket: service.socket, toolTimeout: 90_000, processes: 128 };
    const env = (await openEnv(harbor, options)) as OpenedEnv<PlayedTask>;
    const jobs = Array.from({ length: count }, (_, number) => async () => {
      const plan = planOf(number, seed);
      const task = await taskNamed(env, plan.task);
      const script = plan.script.length > 0 ? plan.script : harbor.oracle!(task)!;
      if (plan.reward === undefined) await leave(env, task, number);
      else {
        const { outcome, reward } = await playTask(env, task, script as readonly Scripted[], {
          seed: number,
        });
        if (outcome.kind !== 'terminated' || reward !== plan.reward) {
          const why = outcome.kind === 'aborted' ? `: ${outcome.cause.message}` : '';
          played.wrong.push(
            `${plan.what} (${number}): ${outcome.kind}${why}, scored ${reward} instead of ${plan.reward}`,
          );
        }
      }
      played.episodes += 1;
      if (number % 10 === 0) played.attacked += 1;
      if (plan.reward === undefined) played.left += 1;
      if (played.episodes === Math.ceil(count / 10)) played.memory[0] = await held();
      if (played.episodes % 10 === 0) say(`${played.episodes} episodes, ${played.wrong.length} wrong`);
    });
    await atOnce(2, jobs);
    played.memory[1] = await held();
    await env.close();
    if (allRules) {
      const options = { tasks: join(folder, 'errors'), socket: service.socket };
      const checked = await checkEnv(harbor, { options, actions: 10, timeout: 60_000 });
      played.rules = [checked.passed.length, reportText(checked)];
    }
    played.wrong.push(...leftovers());
  } finally {
    service.stop();
    await rm(folder, { recursive: true });
  }
  return { ...played, seconds: (performance.now() - started) / 1000 };
}

/** MiB of objects and buffers. A huge artifact leaves freed memory behind, which the process keeps. */
async function held(): Promise<number> {
  // Buffers are freed a moment after their objects.
  for (let times = 0; times < 3; times++) {
    globalThis.gc?.();
    await sleep(100);
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

function planOf(number: number, seed: number): Plan {
  if (number % 10 === 0) return attacks[(number / 10) % attacks.length]!;
  const task = createRng(seed, 'harbor', number).pick(['errors', 'reverse', 'stock', 'undeclared']);
  if (number % 10 === 5) return { what: 'left', task, script: [], reward: undefined };
  if (number % 2 === 1) return { what: 'right work', task, script: [], reward: 1 };
  return { what: 'wrong work', task, script: [bash('echo 1 > errors.txt; ls'), 'Done.'], reward: 0 };
}

/** Closes an episode while its container starts, a command runs, or its verifier works. */
async function leave(env: OpenedEnv<PlayedTask>, task: PlayedTask, number: number): Promise<void> {
  const episode = env.episode();
  await episode.reset({ task, seed: number });
  const call = { id: '1', name: 'bash', arguments: { command: 'sleep 1' } };
  const turns = [
    { text: '', toolCalls: [call], stopReason: 'tool_call' as const },
    { text: 'Done.', toolCalls: [], stopReason: 'stop' as const },
  ];
  const step = episode.step(turns[number % 4 < 2 ? 0 : 1]!).catch(() => {});
  await sleep((number % 7) * 500);
  await episode.close();
  await step;
}

/** Containers and images of this process that should be gone. */
function leftovers(): string[] {
  const labels = ['--filter', `label=dev.toolenv.owner=${ownLabels()['dev.toolenv.owner']}`];
  const listed = (args: string[]) =>
    execFileSync('podman', args).toString().split('\n').filter(Boolean).length;
  const containers = listed(['ps', '--all', '--quiet', ...labels]);
  const images = listed(['images', '--quiet', ...labels]);
  return [
    ...(containers > 0 ? [`${containers} containers are left`] : []),
    ...(images > 0 ? [`${images} images are left`] : []),
  ];
}
