/** Signals to real processes: every command ends with its exit code, keeps what it has, and leaves no process behind. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture } from '../test/fixture.ts';
import { cli, startCli } from '../test/start-cli.ts';

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-signals-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const stubborn = join(import.meta.dirname, '../test/stubborn');
const play = ['--policy', fixture.policy, '--weight', '1'];
const train = [...play, '--trainer', fixture.trainer];

/** A command at work with a server that only SIGKILL ends, and the ids of the server and its child process. */
async function startStubborn(
  folder: string,
  args: readonly string[],
): Promise<{ child: ChildProcess; finished: ReturnType<typeof startCli>['finished']; servers: number[] }> {
  const pids = join(folder, 'pids');
  const { child, finished } = startCli([...args], undefined, { ...process.env, STUBBORN_PIDS: pids });
  const ids = () => (existsSync(pids) ? readFileSync(pids, 'utf8').split(' ').map(Number) : []);
  await expect.poll(ids, { timeout: 50_000 }).toHaveLength(2);
  const servers = ids();
  onTestFinished(() => {
    for (const pid of [child.pid!, ...servers.filter(lives)]) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
  });
  expect(servers.filter(lives)).toEqual(servers);
  return { child, finished, servers };
}

function lives(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z');
  } catch {
    return false;
  }
}

const env = join(stubborn, 'env.ts');
const commands: Record<string, (folder: string) => string[]> = {
  train: (folder) => ['train', env, ...train, '--out', join(folder, 'run')],
  eval: () => ['eval', env, ...play],
  serve: () => ['serve', env, '--http', '0'],
  check: () => ['check', env],
  tools: (folder) => {
    const server = [process.execPath, join(stubborn, 'server.js'), join(folder, 'pids')].join(' ');
    return ['tools', '--mcp', server, '--call', 'press'];
  },
};

describe('when the terminal is closed (SIGHUP)', () => {
  it('every command ends with exit code 129, and its servers end too', async () => {
    const end = async (name: string) => {
      const folder = await makeFolder();
      const { child, finished, servers } = await startStubborn(folder, commands[name]!(folder));
      child.kill('SIGHUP');
      const { code, stderr } = await finished;
      expect({ name, code, stack: /^\s+at .*$/m.exec(stderr) }).toEqual({ name, code: 129, stack: null });
      await expect.poll(() => servers.filter(lives), { timeout: 10_000 }).toEqual([]);
    };
    await Promise.all(Object.keys(commands).map(end));
  });

  it.each([
    ['SIGHUP', 129],
    ['SIGTERM', 143],
  ] as const)('train keeps its finished steps, as at any signal: %s', async (signal, expected) => {
    const out = join(await makeFolder(), 'run');
    const steps = ['--steps', '100', '--checkpoint-every', '100', '--wait-at-step', '4'];
    const more = ['--out', out, ...steps, '--json'];
    const { child, finished } = startCli(['train', fixture.env, ...train, ...more]);
    child.stdout!.on('data', (text: string) => {
      if (text.includes('"type":"rollout","step":4')) child.kill(signal);
    });
    const { code, stderr } = await finished;
    expect(stderr).toMatch(/Stopped; 3 steps are kept: continue with\n {2}toolenv train .+ --resume\b/);
    expect(code).toBe(expected);
    expect(await readdir(join(out, 'checkpoints'))).toEqual(['step-3']);
  });

  const hasPty = spawnSync('python3', ['-c', 'import pty']).status === 0;
  it.runIf(hasPty)('a terminal that is really closed ends train in the same way', async () => {
    const out = join(await makeFolder(), 'run');
    const more = ['--out', out, '--steps', '1000', '--checkpoint-every', '1000', '--pause', '60'];
    const command = [process.execPath, cli, 'train', fixture.env, ...train, ...more];
    // Opens a terminal, starts the command in it, closes it once metrics were written, and prints the exit code.
    const program = `
import os, pty, select, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
while not os.path.exists(sys.argv[1]) or open(sys.argv[1]).read().count('update') < 2:
    if select.select([terminal], [], [], 0.05)[0]:
        os.read(terminal, 65536)
os.close(terminal)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;
    const child = spawn('python3', ['-c', program, join(out, 'metrics.jsonl'), ...command], {
      cwd: fixture.folder,
    });
    let code = '';
    child.stdout.on('data', (text: Buffer) => {
      code += text;
    });
    await once(child, 'close');
    // A negative number is the signal that ended the command: Node aborts where it cannot restore a terminal.
    expect(code).toBe('129\n');
    expect(await readdir(join(out, 'checkpoints'))).toHaveLength(1);
    expect((await readdir(out)).filter((name) => name.startsWith('lock-'))).toEqual([]);
  });
});

describe('Ctrl-C in a terminal', () => {
  const hasPty = spawnSync('python3', ['-c', 'import pty']).status === 0;
  /** Presses Ctrl-C once the screen shows `sign`, and returns its rows as a person sees them at the end. */
  async function rowsAfter(sign: string, args: readonly string[]): Promise<string[]> {
    const program = `
import os, pty, select, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
seen, pressed = b'', False
while True:
    try:
        seen += os.read(terminal, 65536)
    except OSError:
        break
    if not pressed and sys.argv[1].encode() in seen:
        os.write(terminal, bytes([3]))
        pressed = True
sys.stdout.buffer.write(seen)
`;
    const child = spawn('python3', ['-c', program, sign, process.execPath, cli, ...args], {
      cwd: fixture.folder,
    });
    let screen = '';
    child.stdout.on('data', (text: Buffer) => {
      screen += text;
    });
    await once(child, 'close');
    return rowsOf(screen);
  }

  it.runIf(hasPty)('leaves no piece of the progress bar', async () => {
    const out = join(await makeFolder(), 'run');
    const more = ['--out', out, '--steps', '1000', '--pause', '60'];
    const rows = await rowsAfter(' left', ['train', fixture.env, ...train, ...more]);
    expect(rows.slice(0, 2)).toEqual([
      'Stopping… (once more to quit at once)',
      expect.stringMatching(
        /^Stopped; ((1 step is|\d+ steps are) kept: continue with|no step was finished\.)$/,
      ),
    ]);
    // The command may need several rows.
    if (rows.length > 2) expect(rows.slice(2).join('')).toMatch(/^ {2}toolenv train .+--resume/);
  });

  it.runIf(hasPty)('at a prompt offers no second one', async () => {
    const rows = await rowsAfter('> ', ['play', fixture.env]);
    expect(rows.slice(-2)).toEqual(['> ^C', 'Stopping…']);
  });
});

/** The rows that are not empty, after the escape sequences that move the cursor within a row and clear it. */
function rowsOf(screen: string): string[] {
  const rows = [''];
  let column = 0;
  // A sign in place of the escape character, so that patterns have no control characters.
  for (const [part] of screen.replaceAll('\u001b', '␛').matchAll(/␛\[[\d;?]*[A-Za-z]|␛.|./gsu)) {
    const row = rows.at(-1)!;
    if (part === '\n') {
      rows.push('');
      column = 0;
    } else if (part === '\r' || /^␛\[1?G$/.test(part)) column = 0;
    else if (/^␛\[0?K$/.test(part)) rows[rows.length - 1] = row.slice(0, column);
    else if (part === '␛[2K') rows[rows.length - 1] = ' '.repeat(column);
    else if (!part.startsWith('␛')) {
      rows[rows.length - 1] = row.padEnd(column).slice(0, column) + part + row.slice(column + 1);
      column += 1;
    }
  }
  return rows.map((row) => row.trimEnd()).filter((row) => row !== '');
}

describe('a second signal ends at once', () => {
  it.each([
    ['SIGINT', 'SIGINT', 130],
    ['SIGINT', 'SIGHUP', 129],
    ['SIGHUP', 'SIGTERM', 143],
  ] as const)('%s, then %s', async (first, second, expected) => {
    const folder = await makeFolder();
    const patient = [...commands.train!(folder), '--env-option', 'closeGrace=6'];
    const { child, finished, servers } = await startStubborn(folder, patient);
    const locks = async () =>
      (await readdir(join(folder, 'run')).catch(() => [])).filter((name) => name.startsWith('lock-'));
    await expect.poll(locks, { timeout: 60_000 }).toHaveLength(1);
    const stopping = new Promise<void>((resolve) => {
      child.stderr!.on('data', (text: string) => text.includes('Stopping') && resolve());
    });
    child.kill(first);
    // A busy machine delivers the first late. The second is another event 300 ms after that.
    await stopping;
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(child.exitCode).toBeNull();
    const started = performance.now();
    child.kill(second);
    expect((await finished).code).toBe(expected);
    // The server alone would take 12 seconds to end.
    expect(performance.now() - started).toBeLessThan(6_000);
    await expect.poll(() => servers.filter(lives), { timeout: 10_000 }).toEqual([]);
    expect(await locks()).toEqual([]);
  });
});

describe('a reader that goes away (| head -1)', () => {
  const episodes = async (folder: string) => {
    const file = join(folder, 'trajectories.jsonl');
    const { code } = await startCli(['eval', fixture.env, ...play, '--out', join(folder, 'eval')]).finished;
    expect(code).toBe(0);
    const text = readFileSync(join(folder, 'eval/trajectories.jsonl'), 'utf8');
    await writeFile(file, text.repeat(40));
    return file;
  };
  it.each<[string, (folder: string) => Promise<string[]> | string[]]>([
    ['list', () => ['list']],
    ['--help', () => ['--help']],
    ['info', () => ['info', fixture.env]],
    ['eval', () => ['eval', fixture.env, ...play, '--json']],
    ['show', async (folder) => ['show', await episodes(folder), '--json']],
    ['train', (folder) => ['train', fixture.env, ...train, '--out', join(folder, 'run'), '--json']],
  ])('%s ends quietly', async (_name, args) => {
    const { child, finished } = startCli(await args(await makeFolder()));
    child.stdout!.once('data', () => child.stdout!.destroy());
    const { code, stderr } = await finished;
    expect(stderr).not.toMatch(/EPIPE|Error|^\s+at /m);
    expect(code).toBe(0);
  });
});

it.each(['timer', 'rejection'])(
  'an error that nobody caught, from a %s, stops the run in one line and keeps the finished steps',
  async (from) => {
    const out = join(await makeFolder(), 'run');
    const careless = join(import.meta.dirname, '../test/careless/env.ts');
    const steps = ['--steps', '100', '--checkpoint-every', '100', '--pause', '60'];
    const args = ['train', careless, ...train, '--out', out, ...steps];
    const { code, stderr } = await startCli(args, undefined, { ...process.env, CARELESS: from }).finished;
    expect(stderr).toMatch(
      /toolenv: an error was not caught: Error: left behind, at .*careless\/env\.ts:\d+:\d+\. Await the promise, or catch its error\. Stopping…\n/,
    );
    expect(stderr).not.toMatch(/^ {4}at /m);
    expect(stderr).toMatch(
      /Stopped; \d+ steps? (is|are) kept: continue with\n {2}toolenv train .+ --resume\b/,
    );
    expect(code).toBe(1);
    expect(await readdir(join(out, 'checkpoints'))).toHaveLength(1);
    expect((await readdir(out)).filter((name) => name.startsWith('lock-'))).toEqual([]);
  },
);

it('an error that nobody caught ends work that waits for ever', async () => {
  const source = join(import.meta.dirname, '../src/run/run-as-process.ts');
  const work =
    '() => { setTimeout(() => { throw new Error("left behind"); }); return new Promise(() => {}); }';
  const program = `import { runAsProcess } from ${JSON.stringify(source)}; await runAsProcess(${work});`;
  const nodeArgs = ['--import', import.meta.resolve('tsx'), '--conditions=@toolenv/source'];
  const child = spawn(process.execPath, [...nodeArgs, '--input-type=module', '--eval', program]);
  const [code] = await once(child, 'close');
  expect(code).toBe(1);
});
