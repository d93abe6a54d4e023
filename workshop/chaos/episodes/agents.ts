/** Episodes that programs play in their own loop, over the Agent Client Protocol, which end too early, flood, lie and leave processes behind. */
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createRng, type EnvHandle, openEnv, rollout, type Trajectory } from '@toolenv/core';
import { acpAgent, withHarness } from '@toolenv/harnesses';
import bank from '../../../examples/bank.ts';
import { type BankTask, bankPlayer } from '../../../packages/harnesses/process-test/bank-player.ts';
import { drawDeed } from './draw-deed.ts';
import { judgeAll, type Played } from './play.ts';

/** What a program does, its share of the episodes, and what it means for the episode. */
const deeds = [
  { what: 'dies', share: 0.1, means: 'aborted' },
  { what: 'exits', share: 0.1, means: 'aborted' },
  { what: 'floods', share: 0.05, means: 'aborted' },
  { what: 'stays silent', share: 0.05, means: 'truncated' },
  // It asks its model nothing, so the policy has no part in it.
  { what: 'lies', share: 0.1, means: 'aborted' },
  { what: 'leaves a process', share: 0.2, means: 'right' },
  { what: 'no JSON', share: 0.1, means: 'right' },
  { what: 'works', share: 1, means: 'right' },
] as const;

const root = join(import.meta.dirname, '../../..');
const program = join(root, 'packages/harnesses/process-test/acp-program.js');

/** Plays four episodes at a time. Each has a program of its own. @param confine Whether it sees nothing else of the machine. */
export async function playAgents(
  count: number,
  { seed, limit, confine }: { seed: number; limit: number; confine: boolean },
): Promise<Played> {
  const env = (await openEnv(bank)) as EnvHandle<BankTask>;
  const tasks = await Promise.all(Array.from({ length: count }, (_, index) => env.tasks.test.get(index)));
  const plans = tasks.map((_, number) => drawDeed(deeds, createRng(seed, 'agents', number).float()));
  const mark = `toolenv-chaos-${seed}-${process.pid}-${confine}`;
  const agent = acpAgent({
    name: 'mortal',
    package: 'mortal@1.0.0',
    program: [process.execPath, program],
    env({ ask }) {
      const number = tasks.findIndex(({ amount }) => ask.includes(`Send ${amount} euros`));
      return { WAY: plans[number]!.what, MARK: mark };
    },
  });
  const played = await withHarness(env, agent, {
    toolTimeout: 5_000,
    confine: confine && { read: [dirname(program), join(root, 'node_modules')] },
  });
  const trajectories = rollout({
    ...{ env: played, policy: bankPlayer(tasks), seed, retries: 0, concurrency: 4 },
    episodes: tasks.map((task, group) => ({ task, group, sample: 0 })),
    sampling: { maxTokens: 64, temperature: 0 },
  });
  const judged = await judgeAll(trajectories, {
    count,
    limit,
    judge(trajectory) {
      const { what, means } = plans[trajectory.group]!;
      const found = meaningOf(trajectory);
      return found === means ? undefined : `is ${found} after "${what}"`;
    },
    end: () => played.close(),
  });
  const folders = (await readdir(tmpdir())).filter((name) => name.startsWith('toolenv-mortal-'));
  if (folders.length > 0) judged.wrong.push(`${folders.length} folders are left`);
  const processes = await processesWith(mark);
  if (processes > 0) judged.wrong.push(`${processes} processes are left`);
  return { ...judged, faulty: plans.filter(({ what }) => what !== 'works').length };
}

function meaningOf({ outcome, reward }: Trajectory): string {
  if (outcome.kind !== 'terminated') return outcome.kind;
  return reward === 1 ? 'right' : 'wrong';
}

/** How many processes have the mark in their environment; 0 where the system does not tell. */
async function processesWith(mark: string): Promise<number> {
  const all = await readdir('/proc').catch(() => []);
  const marked = await Promise.all(
    all.map(async (id) => {
      const variables = await readFile(`/proc/${id}/environ`, 'utf8').catch(() => '');
      return variables.includes(`MARK=${mark}`);
    }),
  );
  return marked.filter(Boolean).length;
}
