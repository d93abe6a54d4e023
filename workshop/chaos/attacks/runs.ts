/** Attacks on the folder of a run: other options, two runs at once, damaged state. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { aborted, collect, rollout, ToolEnvError, type Trajectory } from '@toolenv/core';
import { BanditModel, openBandit } from '@toolenv/testing';
import type { Finished } from '../../../packages/cli/test/captured.ts';
import { fixture } from '../../../packages/cli/test/fixture.ts';
import { cli, startCli } from '../../../packages/cli/test/start-cli.ts';
import { GroupFiles } from '../../../packages/training/src/rollouts/workers/group-files.ts';
import { type Attack, holds, within } from './attack.ts';
import { slow, trainArgs } from './train-args.ts';

const careless = join(import.meta.dirname, '../../../packages/cli/test/careless/env.ts');
const tiny = join(import.meta.dirname, '../../../packages/checkpoints/tiny');

export const runs: Attack[] = [
  {
    name: 'another learning rate',
    attack: 'a run is resumed with another learning rate',
    expected: 'it is refused, and the message names the option, its old value and its new value',
    async run(folder) {
      await finished(startCli(grpoArgs(folder, '--learning-rate', '0.001')).finished);
      const { code, stderr } = await startCli(grpoArgs(folder, '--learning-rate', '0.5', '--resume'))
        .finished;
      holds(code === 2, `exit code ${code}`);
      holds(isOneLine(stderr), `wrote ${stderr}`);
      const names = /learning.?rate/i.test(stderr) && stderr.includes('0.001') && stderr.includes('0.5');
      holds(names, `wrote ${stderr}`);
    },
  },
  {
    name: 'another option, allowed',
    attack: 'a run is resumed with another option and --change',
    expected: 'it continues, and its folder says what changed from which step on',
    async run(folder) {
      const out = join(folder, 'run');
      await finished(startCli(trainArgs(out, '--average', 'token')).finished);
      const more = ['--average', 'sequence', '--steps', '8', '--resume'];
      holds((await startCli(trainArgs(out, ...more)).finished).code === 2, 'was accepted without --change');
      await finished(startCli(trainArgs(out, ...more, '--change')).finished);
      const files = (await readdir(out)).filter(
        (name) => name.endsWith('.jsonl') && name !== 'trajectories.jsonl',
      );
      const text = (await Promise.all(files.map((name) => readFile(join(out, name), 'utf8')))).join('\n');
      const line = text.split('\n').find((each) => each.includes('sequence') && each.includes('token'));
      holds(line && /"step":\d/.test(line), 'no line has the step, the old and the new value');
    },
  },
  {
    name: 'two runs at once',
    attack: 'a second run begins in the folder of a live run',
    expected: 'the second run is refused, its message names the process, and the first run continues',
    async run(folder) {
      const out = join(folder, 'run');
      const first = startCli(trainArgs(out, ...slow));
      try {
        await within(30_000, appears(join(out, 'metrics.jsonl')));
        const second = await startCli(trainArgs(out, '--resume')).finished;
        holds(second.code === 2, `exit code ${second.code}: ${second.stderr}`);
        holds(second.stderr.includes(String(first.child.pid)), `wrote ${second.stderr}`);
        holds(first.child.exitCode === null, 'the first run ended');
      } finally {
        first.child.kill('SIGKILL');
        await first.finished;
      }
    },
  },
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
  {
    name: 'a lock of a dead process',
    attack: 'a run is killed with SIGKILL, and resumed',
    expected: 'it continues',
    async run(folder) {
      const out = join(folder, 'run');
      const first = startCli(trainArgs(out, '--pause', '200'));
      await within(30_000, appears(join(out, 'checkpoints/step-2')));
      first.child.kill('SIGKILL');
      await first.finished;
      await finished(startCli(trainArgs(out, '--resume')).finished);
    },
  },
  {
    name: 'an error that nobody catches',
    attack: 'a timer of a tool throws after the call has ended',
    expected: 'the run stops with the place of the error and exit code 1, and keeps its finished steps',
    async run(folder) {
      const out = join(folder, 'run');
      const [command, , ...more] = trainArgs(
        out,
        '--pause',
        '60',
        '--steps',
        '100',
        '--checkpoint-every',
        '100',
      );
      const run = startCli([command!, careless, ...more], undefined, { ...process.env, CARELESS: 'timer' });
      const { code, stderr } = await within(40_000, run.finished);
      holds(
        code === 1 && /Error: left behind, at .*careless\/env\.ts:\d/.test(stderr),
        `exit code ${code}: ${stderr}`,
      );
      holds((await readdir(join(out, 'checkpoints'))).length === 1, 'the finished steps are lost');
    },
  },
  {
    name: 'trainer_state.json that is a pipe',
    slow: true,
    attack: 'trainer_state.json of the newest checkpoint is a pipe that nobody writes to',
    expected: 'an older checkpoint is used',
    async run(folder) {
      const out = join(folder, 'run');
      await finished(startCli(trainArgs(out)).finished);
      const file = join(out, 'checkpoints/step-6/trainer_state.json');
      await rm(file);
      execFileSync('mkfifo', [file]);
      await within(20_000, finished(startCli(trainArgs(out, '--resume', '--steps', '8')).finished));
    },
  },
  ...['null', '[]', '{"step": "2"}', '{"step": -1, "seed": 1}', '{"step": 1e308, "seed": 1}', '\u0000'].map(
    (content): Attack => ({
      name: `trainer_state.json of ${JSON.stringify(content)}`,
      slow: content !== 'null',
      attack: `trainer_state.json of the newest checkpoint is ${JSON.stringify(content)}`,
      expected: 'an older checkpoint is used, or the run is refused in one line',
      async run(folder) {
        const out = join(folder, 'run');
        await finished(startCli(trainArgs(out)).finished);
        await writeFile(join(out, 'checkpoints/step-6/trainer_state.json'), content);
        const { code, stderr } = await startCli(trainArgs(out, '--resume', '--steps', '8')).finished;
        if (code === 0) return;
        holds(code === 2 || code === 1, `exit code ${code}`);
        holds(isOneLine(stderr) && !/^\s+at /m.test(stderr), `wrote ${stderr}`);
      },
    }),
  ),
];

/** A run of one step with GRPO, whose options are all part of its identity. */
function grpoArgs(folder: string, ...more: string[]): string[] {
  const size = ['--steps', '1', '--tasks-per-step', '1', '--group-size', '2', '--max-tokens', '4'];
  const run = ['--policy', tiny, '--out', join(folder, 'run'), '--checkpoint-every', '1'];
  return ['train', '@toolenv/envs-qa/lookup-v1', ...run, ...size, ...more];
}

async function finished(run: Promise<Finished>): Promise<void> {
  const { code, stderr } = await run;
  holds(code === 0, `exit code ${code}: ${stderr}`);
}

/** Whether the errors among the lines are one line. Progress and notes are other lines. */
function isOneLine(stderr: string): boolean {
  return stderr.split('\n').filter((line) => line.startsWith('toolenv:')).length === 1;
}

async function appears(path: string): Promise<void> {
  while (!existsSync(path)) await sleep(50);
}
