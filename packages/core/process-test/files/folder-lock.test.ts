/** lockFolder: one live process at a time, and no trace of processes that have ended. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { append } from '../../src/files/append.ts';
import {
  lockFolder,
  processStart,
  refuseLockedFolder,
  refuseLostFolder,
} from '../../src/files/folder-lock.ts';
import { watchHeartbeat } from '../../src/files/heartbeat.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'folder-lock-'));
});
afterEach(() => rm(folder, { recursive: true }));

const isLinux = process.platform === 'linux';

async function sleeper(): Promise<{ pid: number; kill(): Promise<void> }> {
  const child = spawn('sleep', ['1000']);
  await once(child, 'spawn');
  const ended = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    pid: child.pid!,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The claim of another process. */
async function claim(pid: number, start: string | undefined, host = hostname()): Promise<string> {
  const name = `lock-${pid}-${start ?? 'unknown'}-0123abcd@${encodeURIComponent(host)}`;
  await writeFile(join(folder, name), '');
  return name;
}

test('a process locks a folder once, and again after it has released it', async () => {
  const out = join(folder, 'a', 'b');
  const lock = await lockFolder(out);
  for (const attempt of [lockFolder, refuseLockedFolder])
    await expect(attempt(out)).rejects.toMatchObject({
      code: 'usage.folder_in_use',
      message: expect.stringMatching(
        `^The folder ${out} is in use by this process \\(${process.pid}\\): wait until its run ends, or choose another folder\\.`,
      ),
    });
  await lock.release();
  expect(await readdir(out)).toEqual([]);
  await refuseLockedFolder(out);
  await (await lockFolder(out)).release();
});

test('a live process keeps its lock; a killed process loses it', async () => {
  const other = await sleeper();
  const name = await claim(other.pid, processStart(other.pid));
  await expect(lockFolder(folder)).rejects.toMatchObject({
    message: expect.stringMatching(`^The folder ${folder} is in use by process ${other.pid}: `),
  });
  expect(await readdir(folder)).toEqual([name]);
  await other.kill();
  const lock = await lockFolder(folder);
  expect(await readdir(folder)).not.toContain(name);
  await lock.release();
  expect(await readdir(folder)).toEqual([]);
});

test.runIf(isLinux)(
  'a process that only has the number of an ended process does not keep its lock',
  async () => {
    const other = await sleeper();
    const [boot, namespace, ticks] = processStart(other.pid)!.split('_');
    await claim(other.pid, `${boot}_${namespace}_${Number(ticks) - 1}`);
    await (await lockFolder(folder)).release();
    expect(await readdir(folder)).toEqual([]);
  },
);

const quick = { every: 30, expiry: 400 };
/** Claims of processes whose numbers say nothing here, although this process has the same number and perhaps the same host name. */
const elsewhere: [where: string, start: () => string | undefined, host: string][] = [
  ['on another host', () => 'abcdef01_4026531836_12', 'far-away.example'],
  ['on another host of the same name', () => 'abcdef01_4026531836_12', hostname()],
  [
    'in another namespace of this host, such as another container',
    () => processStart(process.pid)?.replace(/_\d+_/, '_1_'),
    hostname(),
  ],
];

test.each(elsewhere)(
  'a process %s keeps its lock as long as its heart beats',
  async (_where, start, host) => {
    const name = await claim(process.pid, start(), host);
    let beats = 0;
    const heart = setInterval(() => writeFileSync(join(folder, name), String(++beats)), quick.every);
    onTestFinished(() => clearInterval(heart));
    const where = host === hostname() ? '' : ` on host ${host}`;
    const inUse = {
      code: 'usage.folder_in_use',
      message: `The folder ${folder} is in use by process ${process.pid}${where}: wait until its run ends, or choose another folder.`,
    };
    await expect(lockFolder(folder, quick)).rejects.toMatchObject(inUse);
    await expect(refuseLockedFolder(folder, { every: 100 })).rejects.toMatchObject(inUse);
    expect(await readdir(folder)).toEqual([name]);
    clearInterval(heart);
    await refuseLockedFolder(folder, quick);
    expect(await readdir(folder)).toEqual([name]);
    const stopped = performance.now();
    const lock = await lockFolder(folder, quick);
    expect(performance.now() - stopped).toBeGreaterThan(quick.expiry - 1);
    expect(await readdir(folder)).not.toContain(name);
    await lock.release();
  },
);

test('the locks of many processes that ended elsewhere are watched together', async () => {
  for (const pid of [1, 2, 3, 4, 5, 6, 7, 8]) await claim(pid, 'abcdef01_4026531836_12', 'far-away.example');
  const began = performance.now();
  const lock = await lockFolder(folder, { every: 30, expiry: 200 });
  expect(performance.now() - began).toBeLessThan(2 * 200 + 1000);
  await lock.release();
  expect(await readdir(folder)).toEqual([]);
});

test('the heart of a process beats while a training step blocks its event loop, and stops with its lock', async () => {
  const source = join(import.meta.dirname, '../../src/files/folder-lock.ts');
  const program = `
    import { lockFolder } from ${JSON.stringify(source)};
    const lock = await lockFolder(${JSON.stringify(folder)}, { every: 20 });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
    await lock.release();`;
  const file = join(folder, 'program.mts');
  await writeFile(file, program);
  const args = ['--import', import.meta.resolve('tsx'), '--conditions=@toolenv/source', file];
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname, stdio: 'inherit' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const claimed = async () => (await readdir(folder)).find((name) => name.startsWith('lock-'));
  await expect.poll(claimed, { timeout: 30_000 }).toBeDefined();
  const lock = join(folder, (await claimed())!);
  // The loop is blocked from now on.
  expect([await watchHeartbeat(lock, 10_000), await watchHeartbeat(lock, 10_000)]).toEqual([
    'beats',
    'beats',
  ]);
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  expect(await watchHeartbeat(lock, 200)).toBe('silent');
}, 60_000);

test('a lock that is released is gone, and its heartbeat makes no file', async () => {
  const lock = await lockFolder(folder, { every: 10 });
  const [name] = await readdir(folder);
  expect(await watchHeartbeat(join(folder, name!), 5000)).toBe('beats');
  await lock.release();
  await sleep(50);
  expect(await readdir(folder)).toEqual([]);
});

test('of many that want it at once, one at most gets it', async () => {
  const results = await Promise.allSettled(Array.from({ length: 12 }, () => lockFolder(folder)));
  const locks = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  expect(locks.length).toBeLessThanOrEqual(1);
  for (const lock of locks) await lock.release();
  expect(await readdir(folder)).toEqual([]);
});

test('processes never hold it at the same time, also when they are killed', async () => {
  const out = join(folder, 'run');
  const inside = join(folder, 'inside');
  const source = join(import.meta.dirname, '../../src/files/folder-lock.ts');
  // Enters 15 times. A folder that exists already shows that another process is inside.
  const program = `
    import { mkdir, rmdir } from 'node:fs/promises';
    import { lockFolder } from ${JSON.stringify(source)};
    for (let entered = 0; entered < 15; ) {
      const lock = await lockFolder(${JSON.stringify(out)}).catch((error) => {
        if (error.code !== 'usage.folder_in_use') throw error;
      });
      if (!lock) continue;
      await mkdir(${JSON.stringify(inside)});
      await rmdir(${JSON.stringify(inside)});
      entered += 1;
      if (entered === Number(process.env.DIE_AT)) process.kill(process.pid, 'SIGKILL');
      await lock.release();
    }`;
  const file = join(folder, 'program.mts');
  await writeFile(file, program);
  const args = ['--import', import.meta.resolve('tsx'), '--conditions=@toolenv/source', file];
  const results = await Promise.all(
    ['5', '10', '', ''].map(async (dieAt) => {
      const cwd = import.meta.dirname;
      const child = spawn(process.execPath, args, {
        cwd,
        env: { ...process.env, DIE_AT: dieAt },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let stderr = '';
      child.stderr.on('data', (text: Buffer) => {
        stderr += text;
      });
      const [code, signal] = await once(child, 'close');
      return { code, signal, stderr };
    }),
  );
  expect(results.map(({ stderr }) => stderr)).toEqual(['', '', '', '']);
  expect(results.map(({ code, signal }) => signal ?? code)).toEqual(['SIGKILL', 'SIGKILL', 0, 0]);
  await (await lockFolder(out)).release();
  expect(await readdir(out)).toEqual([]);
}, 180_000);

test('names a file in place of a folder', async () => {
  const file = join(folder, 'file');
  await writeFile(file, '');
  for (const wrong of [file, join(file, 'run')])
    await expect(lockFolder(wrong)).rejects.toMatchObject({ code: 'usage.folder' });
});

/** As a successor does after the expiry, or a person with `rm lock-*`. */
async function removeClaims(): Promise<void> {
  for (const name of await readdir(folder))
    if (name.startsWith('lock-')) await rm(join(folder, name), { force: true });
}

test('a process whose lock is gone writes no more into the folder, and elsewhere as before', async () => {
  const [inside, outside] = [join(folder, 'a/b'), `${folder}-beside`];
  onTestFinished(() => rm(outside, { force: true }));
  const file = join(folder, 'log');
  const lock = await lockFolder(folder);
  await append(file, 'one\n');
  await refuseLostFolder(inside);
  await removeClaims();
  const lost = {
    code: 'infrastructure.folder_lost',
    message: `The lock of this process on the folder ${folder} is gone: it was removed, or another process took the folder over. This process stops and leaves the folder as it is: resume when no other process uses it.`,
  };
  for (const path of [folder, file, inside]) await expect(refuseLostFolder(path)).rejects.toMatchObject(lost);
  await expect(append(file, 'two\n')).rejects.toMatchObject(lost);
  expect(await readFile(file, 'utf8')).toBe('one\n');
  await append(outside, 'three\n');
  await lock.release();
  await append(file, 'four\n');
  expect(await readFile(file, 'utf8')).toBe('one\nfour\n');
});

test('a process that was held up learns who has its folder now', async () => {
  const lock = await lockFolder(folder);
  await removeClaims();
  await claim(4242, 'abcdef01_4026531836_12', 'far-away.example');
  await expect(refuseLostFolder(folder)).rejects.toMatchObject({
    message: `The folder ${folder} was taken over by process 4242 on host far-away.example while this process stood still. This process stops and leaves the folder as it is: resume when no other process uses it.`,
  });
  await lock.release();
});
