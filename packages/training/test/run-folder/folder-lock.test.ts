/** lockFolder: one live process at a time, and no trace of processes that have ended. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { lockFolder, processStart, refuseLockedFolder } from '../../src/run-folder/folder-lock.ts';

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
    const [boot, ticks] = processStart(other.pid)!.split('_');
    const stale = [
      await claim(other.pid, `${boot}_${Number(ticks) - 1}`),
      // Before the machine was started anew.
      await claim(process.pid, `00000000_${processStart(process.pid)!.split('_')[1]}`),
    ];
    expect(await readdir(folder)).toHaveLength(stale.length);
    await (await lockFolder(folder)).release();
    expect(await readdir(folder)).toEqual([]);
  },
);

test('a process of another host keeps its lock, and the remedy names the file', async () => {
  const name = await claim(4711, 'abcdef01_12', 'far-away.example');
  await expect(lockFolder(folder)).rejects.toMatchObject({
    code: 'usage.folder_in_use',
    message: `The folder ${folder} is in use by process 4711 on host far-away.example: wait until its run ends, or choose another folder. If that process has ended, remove ${join(folder, name)}.`,
  });
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
  const source = join(import.meta.dirname, '../../src/run-folder/folder-lock.ts');
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
