/** Training and evaluation as processes that can be held up, and what their folders must have in the end. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fixture } from '../../../packages/cli/test/fixture.ts';
import { cli } from '../../../packages/cli/test/start-cli.ts';

export interface Job {
  name: 'training' | 'evaluation';
  args(out: string): string[];
  /** It appears when the first step or episode is written, and the other when the work is done. */
  begun: string;
  done: string;
}

const slowLamp = join(import.meta.dirname, '../../../packages/cli/test/slow-lamp/env.ts');

export const jobs: readonly Job[] = [
  {
    name: 'training',
    args: (out) => [
      ...['train', fixture.env, '--policy', fixture.policy, '--trainer', fixture.trainer, '--out', out],
      ...['--checkpoint-every', '2', '--steps', '24', '--pause', '60'],
    ],
    begun: 'metrics.jsonl',
    done: 'policy',
  },
  {
    name: 'evaluation',
    args: (out) => [
      ...['eval', slowLamp, '--milliseconds', '80', '--policy', 'fixture-plugin/idle-v1'],
      ...['--count', '40', '--concurrency', '2', '--out', out],
    ],
    begun: 'trajectories.jsonl',
    done: 'summary.json',
  },
];

/** Process numbers of its own, as a container has them; `undefined` where the system forbids that. */
const apart = ['--pid', '--fork', '--kill-child', '--mount-proc'];
if (process.getuid?.() !== 0) apart.unshift('--user', '--map-root-user');
export const canBeApart: boolean = spawnSync('unshare', [...apart, 'true']).status === 0;

export interface Ended {
  code: number | null;
  stderr: string;
}

/** A process that works on a job. It ends when its parent does. */
export class Working {
  readonly #child: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly #isApart: boolean;

  /** @param options.isApart In a process namespace of its own. */
  constructor(args: readonly string[], { isApart = false }: { isApart?: boolean } = {}) {
    this.#isApart = isApart;
    const command = [process.execPath, cli, ...args];
    const [file, ...rest] = isApart ? ['unshare', ...apart, ...command] : command;
    this.#child = spawn(file!, rest, { cwd: fixture.folder, stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    this.ended = once(this.#child, 'close').then(([code]) => ({ code, stderr }));
  }

  get isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): Promise<void> {
    const pid = this.#child.pid!;
    const children = this.#isApart ? await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8') : `${pid}`;
    for (const each of children.trim().split(' ')) process.kill(Number(each), name);
  }

  /** Resolves to whether the file was there before the process ended. */
  async makes(file: string): Promise<boolean> {
    while (!existsSync(file)) {
      if (this.isOver) return existsSync(file);
      await sleep(10);
    }
    return true;
  }
}

export async function claimsIn(out: string): Promise<string[]> {
  return (await readdir(out)).filter((name) => name.startsWith('lock-'));
}

export async function removeClaims(out: string): Promise<void> {
  for (const name of await claimsIn(out)) await rm(join(out, name), { force: true });
}

/** The names of all files, and every line and weight, without times: what must not depend on who did the work. */
export async function resultOf(out: string): Promise<Record<string, unknown>> {
  const entries = await readdir(out, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(out.length + 1))
    .sort();
  const compared = names.filter((name) => /(^(metrics|trajectories)\.jsonl|(?<!^)config\.json)$/.test(name));
  const texts = compared.map(async (name) => {
    const lines = (await readFile(join(out, name), 'utf8')).split('\n').map(withoutTimes);
    // The episodes of an evaluation are written as they end.
    return [name, name === 'trajectories.jsonl' ? lines.sort() : lines] as const;
  });
  return { names, ...Object.fromEntries(await Promise.all(texts)) };
}

function withoutTimes(line: string): string {
  return line.replaceAll(/"(milliseconds|(time|memory)\/\w+|(step_)?time)":[^,}]*/g, '');
}
