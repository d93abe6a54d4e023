/** `npm run interop -- harbor <folder>`: how many Harbor tasks of a folder open with the defaults and with each option, and why the others do not. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openHarbor } from '@toolenv/envs-harbor';
import type { HarborTask, TaskPolicy } from '../../packages/envs-harbor/src/task/harbor-task.ts';
import { findTasks, playable, RefusedTasks } from '../../packages/envs-harbor/src/task/read-tasks.ts';

const defaults: TaskPolicy = { network: 'none', verifier: 'fresh', hostVariables: [] };

/** What a setting of the options opens. */
export interface Opened {
  /** As `toolenv` takes it. */
  flags: string;
  /** Numbers of tasks: that can be played, and among them those without a network that they ask for, and judged in each way. */
  open: number;
  offline: number;
  changes: number;
  shared: number;
}

export interface HarborCorpus {
  tasks: number;
  opened: Opened[];
  /** Of the defaults: folders of tasks by why they are refused, the most frequent reason first. */
  refusals: [reason: string, folders: readonly string[]][];
}

/** @throws ToolEnvError `usage.harbor_tasks` for a folder without a task. */
export async function harborCorpus(folder: string): Promise<HarborCorpus> {
  const folders = Object.values(await findTasks(folder, 'test')).flat();
  const hostVariables = await variablesOf(folders);
  const settings: [flags: string, policy: Partial<TaskPolicy>][] = [
    ['the defaults', {}],
    ['--network verifier', { network: 'verifier' }],
    ['--network declared', { network: 'declared' }],
    ['--verifier shared', { verifier: 'shared' }],
    ...(hostVariables.length > 0
      ? [[`--host-variables ${hostVariables}`, { hostVariables }] as [string, Partial<TaskPolicy>]]
      : []),
  ];
  const opened: Opened[] = [];
  let refusals: HarborCorpus['refusals'] = [];
  for (const [flags, policy] of settings) {
    const refused = new RefusedTasks();
    const tasks = await playable(folders, { ...defaults, ...policy }, refused);
    if (opened.length === 0) refusals = refused.reasons;
    const inSteps = (is: (verifier: HarborTask['steps'][number]['verifier']) => boolean) =>
      tasks.filter(({ steps }) => steps.some(({ verifier }) => is(verifier))).length;
    opened.push({
      flags,
      open: tasks.length,
      offline: tasks.filter(({ isOffline }) => isOffline).length,
      changes: inSteps(({ carriesChanges }) => carriesChanges),
      shared: inSteps(({ kind }) => kind === 'shared'),
    });
  }
  return { tasks: folders.length, opened, refusals };
}

/** Variables of this machine that the tasks name. */
async function variablesOf(folders: readonly string[]): Promise<string[]> {
  const names = new Set<string>();
  for (const folder of folders) {
    const text = await readFile(join(folder, 'task.toml'), 'utf8');
    for (const [, name] of text.matchAll(/\$\{([A-Za-z_]\w*)/g)) names.add(name!);
  }
  return [...names].sort();
}

/** Prints the numbers. @throws As {@link harborCorpus} does. */
export async function reportHarbor(
  given: string,
  check: (holds: boolean, title: string, difference: string) => void,
): Promise<void> {
  const folder = resolve(given);
  const { tasks, opened, refusals } = await harborCorpus(folder);
  const share = (count: number) => `${count} of ${tasks} (${((100 * count) / tasks).toFixed(1)} %)`;
  for (const { flags, open, offline, changes, shared } of opened) {
    const how = [
      [offline, 'without a network that they ask for'],
      [changes, 'judged by what has changed'],
      [shared, "judged in the agent's container"],
    ] as const;
    const notes = how.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
    console.log(`${flags}: ${share(open)} open${notes.map((note) => `, ${note}`).join('')}`);
  }
  const refused = refusals.flatMap(([, folders]) => folders).length;
  console.log(`The defaults refuse ${refused}${refused > 0 ? ':' : '.'}`);
  for (const [reason, [first, ...others]] of refusals)
    console.log(`- ${others.length + 1}, such as ${first!.slice(folder.length + 1) || '.'}: ${reason}`);

  const best = Math.max(...opened.map(({ open }) => open));
  check(best >= 0.99 * tasks, 'the defaults or one option open 99 % of the tasks', share(best));
  const skipping = await openHarbor({ tasks: folder, unplayable: 'skip' });
  const played = Object.values(skipping.tasks).flat().length;
  await skipping.close();
  check(
    played === tasks - refused,
    'with --unplayable skip, no task is stopped by another',
    `${played} of ${tasks - refused} are played`,
  );
}
