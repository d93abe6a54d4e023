/** Failures of the machine, which must abort an episode: what attempts could be taken for if every failure were scored. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEnv, playTask, type Scripted, type Tool, type Trajectory } from '@toolenv/core';
import math from '@toolenv/envs-code/math-v1';
import { type CodeMaterial, createBash, createPython, type EpisodeSandboxes } from '@toolenv/tools-code';
import fileEnv from './file-env.ts';
import { missingBubblewrap, sandboxes } from './settings.ts';

export interface Fault {
  name: string;
  missing?: string | undefined;
  /** Of the error that aborts the episode. */
  code: string;
  /** Plays an episode in which it happens. */
  play(): Promise<Trajectory>;
}

/** Milliseconds from the call of a tool to the failure. */
const moment = 500;

/** Appears in the command that runs while its sandbox is killed. */
const slept = 7_654_321;

export const faults: readonly Fault[] = [
  {
    name: 'interpreter that is ended from outside',
    code: 'infrastructure.python',
    async play() {
      const python = await createPython();
      const env = await openEnv(
        math,
        {},
        { tools: { python: async () => failing(python, () => python.close!()) } },
      );
      const loop: Scripted = [{ name: 'python', arguments: { code: 'while True: pass' } }];
      return playTask(env, env.tasks.train.get(0), [loop, 'I do not know.']).finally(() => env.close());
    },
  },
  {
    name: 'virtual sandbox that is closed from outside',
    code: 'infrastructure.sandbox',
    play: () => playInShell('virtual', ({ sandboxes }) => (sandboxes as EpisodeSandboxes).close()),
  },
  {
    name: 'bubblewrap sandbox that is killed from outside',
    code: 'infrastructure.sandbox',
    missing: missingBubblewrap,
    play: () =>
      playInShell('bubblewrap', async () => process.kill(await ownerOf(`sleep ${slept}`), 'SIGKILL')),
  },
];

async function playInShell(
  kind: keyof typeof sandboxes,
  fail: (material: CodeMaterial) => Promise<unknown>,
): Promise<Trajectory> {
  const shell = async (material: object) =>
    failing(await createBash(material, { timeout: 30_000 }), () => fail(material));
  const env = await openEnv(fileEnv, { sandbox: sandboxes[kind] }, { tools: { shell } });
  const wait: Scripted = [{ name: 'bash', arguments: { command: `sleep ${slept}` } }];
  return playTask(env, env.tasks.train.get(0), [wait, 'Done.']).finally(() => env.close());
}

/** A tool whose machine fails while it runs. */
function failing<Args>(tool: Tool<Args>, fail: () => Promise<unknown>): Tool {
  return {
    ...tool,
    async execute(args, context) {
      const [result] = await Promise.all([tool.execute(args as Args, context), sleep(moment).then(fail)]);
      return result;
    },
  } as Tool;
}

/** The process that made the namespaces in which a command runs, once it runs. */
async function ownerOf(command: string): Promise<number> {
  for (;;) {
    const processes = readdirSync('/proc').flatMap(readProcess);
    const found = processes.find(({ args }) => args.join(' ') === command);
    const first = processes.find(({ space, args }) => space === found?.space && args[0] === '/usr/bin/bwrap');
    if (first) return first.parent;
    await sleep(moment);
  }
}

function readProcess(name: string): { args: string[]; parent: number; space: string }[] {
  try {
    const args = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').slice(0, -1);
    const parent = Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1]);
    return [{ args, parent, space: readlinkSync(`/proc/${name}/ns/pid`) }];
  } catch {
    return [];
  }
}
