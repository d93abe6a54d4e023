/** Attacks on the folder of a run: two runs at once, groups of a hostile worker. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { aborted, collect, rollout, ToolEnvError, type Trajectory } from '@toolenv/core';
import { BanditModel, openBandit } from '@toolenv/testing';
import { fixture } from '../../../packages/cli/test/fixture.ts';
import { cli, startCli } from '../../../packages/cli/test/start-cli.ts';
import { GroupFiles } from '../../../packages/training/src/rollouts/workers/group-files.ts';
import { type Attack, holds, within } from './attack.ts';
import { slow, trainArgs } from './train-args.ts';

export const runs: Attack[] = [
  {
    name: 'two runs at once, in two containers',
    attack: 'a second run begins in the folder of a live run, and neither sees the process of the other',
    expected: 'the second run is refused, and the first run continues',
    async run(folder) {
      // Process numbers of its own, as a container has them. Where the system forbids that, there is nothing to attack with.
      const apart = ['--pid', '--fork', '--kill-child', '--mount-proc'];
      if (process.getuid?.() !== 0) apart.unshift('--user', '--map-root-user');
      if (spawnSync('unshare', [...apart, 'true']).status !== 0) return;
      const out = join(folder, 'run');
      const args = [...apart, process.execPath, cli, ...trainArgs(out, ...slow)];
      const first = spawn('unshare', args, { cwd: fixture.folder, stdio: 'ignore' });
      try {
        await within(30_000, appears(join(out, 'metrics.jsonl')));
        const second = await within(30_000, startCli(trainArgs(out, '--resume')).finished);
        holds(second.code === 2, `exit code ${second.code}: ${second.stderr}`);
        holds(/is in use by process 1:/.test(second.stderr), `wrote ${second.stderr}`);
        holds(first.exitCode === null, 'the first run ended');
      } finally {
        first.kill('SIGKILL');
      }
    },
  },
  {
    name: 'groups of a hostile worker',
    attack:
      'a worker writes groups with a reward for an aborted episode, a reward against its components, a reward without a step, one episode of two, log-probabilities of NaN and of 50, and a token beyond the vocabulary',
    expected: 'a trainer reads none of them, and an honest group',
    async run(folder) {
      const env = await openBandit({ best: 1 });
      const honest = await collect(
        rollout({
          ...{ env, policy: new BanditModel(), concurrency: 2, seed: 1 },
          episodes: [0, 1].map((sample) => ({ task: { machine: 0 }, group: 0, sample })),
          sampling: { maxTokens: 1, temperature: 1 },
        }),
      );
      const [first, second] = honest as [Trajectory, Trajectory];
      const withTokens = (changes: object): Trajectory => {
        const { steps } = first;
        const action = { ...steps[0]!.action, tokens: { ...steps[0]!.action.tokens!, ...changes } };
        return { ...first, steps: [{ ...steps[0]!, action }] };
      };
      const cause = new ToolEnvError('infrastructure.gone', 'gone');
      const groups = {
        honest,
        'an aborted episode with a reward': [{ ...first, outcome: aborted(cause), reward: 1 }, second],
        'a reward against its components': [{ ...first, reward: 0.123 }, second],
        'a reward without a step': [{ ...first, steps: [], rewards: { win: 1 }, reward: 1 }, second],
        'one episode of two': [first],
        'log-probabilities of NaN': [withTokens({ logprobs: Float32Array.of(Number.NaN) }), second],
        'a log-probability of 50': [withTokens({ logprobs: Float32Array.of(50) }), second],
        'a token beyond the vocabulary': [withTokens({ prompt: Int32Array.of(10) }), second],
      };
      const files = new GroupFiles(folder, { samples: 2, vocabularySize: 10 });
      for (const [what, episodes] of Object.entries(groups)) {
        await files.write(0, episodes, { taskIndex: 0, worker: 'hostile' });
        const read = await files.read(0);
        holds((read !== undefined) === (what === 'honest'), `${what}: ${read ? 'was read' : files.damage}`);
        await rm(files.file(0), { force: true });
      }
    },
  },
];

async function appears(path: string): Promise<void> {
  while (!existsSync(path)) await sleep(50);
}
