/** Signals: a terminal that closes, and an impatient user. */
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCli } from '../../../packages/cli/test/start-cli.ts';
import { type Attack, holds, within } from './attack.ts';
import { slow, trainArgs } from './train-args.ts';

export const signals: Attack[] = [
  ...(['SIGHUP', 'SIGTERM', 'SIGINT'] as const).map(
    (signal): Attack => ({
      name: `${signal} in training`,
      attack: `a run gets ${signal} in its third step`,
      expected: 'it keeps its finished steps and ends with the exit code of the signal',
      async run(folder) {
        const out = join(folder, 'run');
        const { child, finished } = startCli(trainArgs(out, ...slow, '--checkpoint-every', '100'));
        child.stdout!.on('data', (text: string) => {
          if (text.includes('"type":"rollout","step":3')) child.kill(signal);
        });
        const { code, stderr } = await within(40_000, finished);
        const expected = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }[signal];
        holds(code === expected, `exit code ${code}: ${stderr}`);
        holds(existsSync(join(out, 'checkpoints/step-2')), 'the finished steps are lost');
      },
    }),
  ),
  ...['openai', 'tinker'].map(
    (client): Attack => ({
      name: `silent server of ${client}`,
      attack: `a model server of ${client} accepts and never answers, and the start gets SIGTERM`,
      expected: 'the command ends within three seconds of the signal',
      async run() {
        const silent = createServer().listen(0, '127.0.0.1');
        await once(silent, 'listening');
        const connected = once(silent, 'connection');
        const root = join(import.meta.dirname, '../../..');
        const policy = `${client}:http://127.0.0.1:${(silent.address() as AddressInfo).port}#m`;
        const tokens = client === 'tinker' ? ['--tokenizer', 'packages/checkpoints/tiny'] : [];
        const args = ['eval', '@toolenv/envs-classic/arithmetic-v1', '--policy', policy, ...tokens];
        const { child, finished } = startCli(args, root);
        try {
          await within(30_000, connected);
          child.kill('SIGTERM');
          const { code, stderr } = await within(3_000, finished);
          holds(code === 143, `exit code ${code}: ${stderr}`);
        } finally {
          child.kill('SIGKILL');
          silent.close();
        }
      },
    }),
  ),
  {
    name: 'closed terminal with MCP servers',
    attack: 'the terminal of a process with an MCP server closes',
    expected: 'no server stays behind',
    run: () => leavesNobody(['SIGHUP'], 15_000),
  },
  {
    name: 'second Ctrl-C',
    attack: 'a user presses Ctrl-C twice while a trainer does not stop',
    expected: 'the process ends within two seconds of the second Ctrl-C',
    async run(folder) {
      const args = trainArgs(join(folder, 'run'), ...slow, '--stubborn', 'true');
      const { child, finished } = startCli(args);
      await within(30_000, once(child.stdout!, 'data'));
      child.kill('SIGINT');
      await sleep(500);
      child.kill('SIGINT');
      await within(2_000, finished).finally(() => child.kill('SIGKILL'));
    },
  },
  {
    name: 'second Ctrl-C with MCP servers',
    attack: 'a user presses Ctrl-C twice in a process with an MCP server that does not stop',
    expected: 'the process and the server end within two seconds',
    run: () => leavesNobody(['SIGINT', 'SIGINT'], 2_500),
  },
];

/** Serves an environment with a stubborn MCP server, sends the signals, and looks for a server that stays. */
async function leavesNobody(names: NodeJS.Signals[], limit: number): Promise<void> {
  const mark = `chaos-${process.pid}`;
  process.env.TOOLENV_CHAOS = mark;
  const { child, finished } = startCli([
    'serve',
    join(import.meta.dirname, 'stubborn-env.ts'),
    '--http',
    '0',
  ]);
  try {
    await within(30_000, starts(mark));
    for (const name of names) {
      child.kill(name);
      await sleep(400);
    }
    await within(limit, finished);
    // The system may need a moment to end a process that was killed.
    await sleep(1_000);
    const left = withArgument(mark);
    holds(left.length === 0, `${left.length} servers stay behind`);
  } finally {
    child.kill('SIGKILL');
    for (const pid of withArgument(mark)) process.kill(pid, 'SIGKILL');
  }
}

async function starts(mark: string): Promise<void> {
  while (withArgument(mark).length === 0) await sleep(50);
}

/** Processes that have the argument, from /proc. */
function withArgument(argument: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 0 && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument);
      } catch {
        // The process has ended.
        return false;
      }
    });
}
