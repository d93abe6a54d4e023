/** The part `code`: episodes of code-v1, a tenth of them played by hostile models, and a tenth on interpreters that fail. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createRng,
  openEnv,
  playTask,
  type Scripted,
  type Tool,
  ToolEnvError,
  type Trajectory,
} from '@toolenv/core';
import code from '@toolenv/envs-code/code-v1';
import { createPython } from '@toolenv/tools-code';
import { atOnce } from '../../at-once.ts';
import { check, checkNone, type PartInput, type Reporter } from '../part.ts';

/** Largest growth of the process in MiB, from the first tenth of the episodes to the last. */
const most = 300;

export async function run({ quick, seed }: PartInput, { say, report }: Reporter): Promise<void> {
  const count = quick ? 20 : 1000;
  say(`${count} episodes, two at a time`);
  // The pool of threads of the process, and the memory from which interpreters begin, are there afterwards.
  await playCode(4, seed);
  const { episodes, attacked, aborted, wrong, memory, seconds } = await playCode(count, seed);
  const counts = `${episodes} episodes, ${attacked} attacked, ${aborted} aborted, ${seconds.toFixed(0)} s`;
  report(checkNone('scores, aborts, threads, processes and files', wrong, counts));
  const [early, late] = memory.map(Math.round) as [number, number];
  report(check('memory is flat', late - early < most, `${early} MiB early, ${late} MiB at the end`));
}

interface Played {
  episodes: number;
  attacked: number;
  aborted: number;
  wrong: string[];
  /** MiB of the process: after a tenth of the episodes, and after the last. */
  memory: [early: number, late: number];
  seconds: number;
}

/** Milliseconds of a call, so that attacks end soon. */
const timeout = 1_000;

/** In a program whose interpreter fails. */
const failure = '# the machine fails';

/** A thread needs a moment until it is gone. */
const moment = 500;

async function playCode(count: number, seed: number): Promise<Played> {
  const started = performance.now();
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-code-'));
  const [file, created] = [join(folder, 'kept.txt'), join(folder, 'created.txt')];
  await writeFile(file, 'kept');
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const programs = Object.entries(hostilePrograms({ file, created, port }));
  const played: Played = { episodes: 0, attacked: 0, aborted: 0, wrong: [], memory: [0, 0], seconds: 0 };
  const before = await threadsAndChildren();
  const env = await openEnv(code, {}, { tools: { python: failingPython, tests: failingPython } });
  const jobs = Array.from({ length: count }, (_, number) => async () => {
    const rng = createRng(seed, 'code', number);
    const task = await env.tasks.train.get(rng.int(10_000));
    const kind = number % 10;
    const [what, program] = programs[Math.floor(number / 10) % programs.length]!;
    // Half of the attackers hand in the right solution after the attack, which must count.
    const isRight = kind > 3 || (kind === 0 && Math.floor(number / 10 / programs.length) % 2 === 1);
    const { reference } = task;
    const solution = isRight ? reference : 'def solve(x): return None';
    const call: Scripted = [{ name: 'python', arguments: { code: program } }];
    const scripts: Record<number, Scripted[]> = {
      0: [call, block(isRight ? reference : program)],
      2: [block(`${reference}\n${failure}`)],
    };
    const script = scripts[kind] ?? [block(solution)];
    const trajectory = await playTask(env, task, script, { seed: number });
    played.episodes += 1;
    if (kind === 0) played.attacked += 1;
    if (trajectory.outcome.kind === 'aborted') played.aborted += 1;
    const wrong = verdict(trajectory, kind === 2 ? null : Number(isRight));
    if (wrong) played.wrong.push(`${kind === 0 ? what : `kind ${kind}`} (${number}): ${wrong}`);
    if (played.episodes === Math.ceil(count / 10)) played.memory[0] = process.memoryUsage.rss() / 2 ** 20;
  });
  try {
    await atOnce(2, jobs);
    played.memory[1] = process.memoryUsage.rss() / 2 ** 20;
  } finally {
    await env.close();
    server.close();
  }
  await new Promise((resolve) => setTimeout(resolve, moment));
  const after = await threadsAndChildren();
  if (after.threads > before.threads) played.wrong.push(`${after.threads - before.threads} threads are left`);
  if (after.children > before.children)
    played.wrong.push(`${after.children - before.children} processes are left`);
  if (connections > 0) played.wrong.push(`${connections} connections were made`);
  const files = await readdir(folder);
  if (files.join() !== 'kept.txt') played.wrong.push(`the files of the machine are ${files.join()}`);
  else if ((await readFile(file, 'utf8')) !== 'kept') played.wrong.push('a file of the machine was changed');
  await rm(folder, { recursive: true });
  return { ...played, seconds: (performance.now() - started) / 1000 };
}

/** Python whose machine fails where a program says so. */
async function failingPython(): Promise<Tool> {
  const python = (await createPython({}, { timeout })) as Tool;
  return {
    ...python,
    async execute(args, context) {
      if (String((args as { code?: unknown }).code).includes(failure))
        throw new ToolEnvError('infrastructure.python', 'The thread of Python ended.');
      return python.execute(args, context);
    },
  };
}

function block(program: string): string {
  return `\`\`\`python\n# solve\n${program}\n\`\`\``;
}

/** @param reward `null`: the episode must be aborted. */
function verdict({ outcome, reward }: Trajectory, expected: number | null): string | undefined {
  const isExpected = expected === null ? outcome.kind === 'aborted' && reward === null : reward === expected;
  if (isExpected) return undefined;
  const cause = outcome.kind === 'aborted' ? `: ${outcome.cause.message}` : '';
  return `${outcome.kind}${cause}, scored ${reward} instead of ${expected}`;
}

/** Of this process, where the machine tells. */
async function threadsAndChildren(): Promise<{ threads: number; children: number }> {
  const tasks = await readdir('/proc/self/task').catch((): string[] => []);
  const children = await Promise.all(
    tasks.map((task) => readFile(`/proc/self/task/${task}/children`, 'utf8').catch(() => '')),
  );
  return { threads: tasks.length, children: children.join(' ').split(/\s+/).filter(Boolean).length };
}

/** What hostile models run, as tool calls and as solutions. @param escape What an escape would use: a file to damage, a file to create, and a port to connect to. */
function hostilePrograms({
  file,
  created,
  port,
}: {
  file: string;
  created: string;
  port: number;
}): Readonly<Record<string, string>> {
  const path = JSON.stringify(file);
  const command = JSON.stringify(`touch ${created}; rm ${file}`);
  return {
    'endless loop': 'while True: pass',
    'endless loop that catches its end':
      'while True:\n    try:\n        while True: pass\n    except BaseException: pass',
    'memory bomb': 'kept = []\nwhile True: kept.append("x" * 10**6 + str(len(kept)))',
    'memory bomb in typed arrays':
      'import js\nkept = []\nwhile True: kept.append(js.Uint8Array.new(10**7).fill(1))',
    'a gigabyte of output': 'import sys\nfor _ in range(10**3): sys.__stdout__.write("x" * 10**6)',
    'end of the interpreter': 'import os\nos._exit(0)',
    'written-over memory': 'import ctypes\nctypes.memset(0, 255, 10**7)',
    'escape by js': `import js\njs.process.mainModule.require("fs").unlinkSync(${path})`,
    'escape by run_js': `from pyodide.code import run_js\nrun_js('process.getBuiltinModule("fs").unlinkSync(' + repr(${path}) + ')')`,
    'escape by mountNodeFS': `import pyodide_js\npyodide_js.mountNodeFS("/mnt", "/")\nopen("/mnt" + ${path}, "w").write("x")`,
    'escape by a socket': `import socket\nsocket.create_connection(("127.0.0.1", ${port}), 1)`,
    'escape by os.system': `import os\nos.system(${command})`,
    'escape by a path': `open(${path}, "w").write("x")`,
    'always equal': 'class E:\n    def __eq__(self, other): return True\ndef solve(x): return E()',
    'forged verdict':
      'import sys, json\nf = sys._getframe()\nwhile f:\n    if "data" in f.f_locals: sys.__stdout__.write(f.f_locals["data"]["mark"] + json.dumps(["passed"] * 12) + "\\n")\n    f = f.f_back\nsys.stdout.flush()\ndef solve(x): return x',
    'patched built-ins':
      'import builtins, json\nbuiltins.type = lambda x: int\njson.dumps = lambda *a, **b: "[]"\ndef solve(x): return 0',
  };
}
