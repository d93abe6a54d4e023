/** Every file of a run on a full disk: one line that names the file, and what was written before stays. */
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFolder, partialOf, writeAtomic } from '@toolenv/core/files';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { TensorBoardLog } from '../../src/reports/tensorboard-log.ts';
import { recordChanges } from '../../src/run-folder/run-config.ts';
import { RunLog, readMetrics } from '../../src/run-folder/run-log.ts';

let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), 'full-disk-'));
});
afterEach(() => rm(out, { recursive: true }));

/** Makes every write to a file fail as on a full disk. */
async function fill(name: string): Promise<void> {
  await symlink('/dev/full', join(out, name));
}

function fullDisk(name: string): object {
  return {
    code: 'infrastructure.disk',
    message: `${join(out, name)} cannot be written (ENOSPC: no space left on device, write): make room on the disk.`,
  };
}

const update = (step: number) => ({ type: 'update' as const, step, metrics: { loss: step } });

describe.runIf(process.platform === 'linux')('a full disk', () => {
  test('names metrics.jsonl', async () => {
    await fill('metrics.jsonl');
    await expect(new RunLog(out).write(update(1))).rejects.toMatchObject(fullDisk('metrics.jsonl'));
  });

  test('names trajectories.jsonl', async () => {
    await fill('trajectories.jsonl');
    const trajectory = { steps: [], outcome: { kind: 'terminated', reason: 'answered' } };
    const write = new RunLog(out).writeEpisodes([trajectory as never], { step: 1 });
    await expect(write).rejects.toMatchObject(fullDisk('trajectories.jsonl'));
  });

  test('keeps the log whose half-written line a resumed run drops', async () => {
    const log = new RunLog(out);
    for (const step of [1, 2]) await log.write(update(step));
    await appendFile(join(out, 'metrics.jsonl'), '{"type":"upd');
    await fill(partialOf('metrics.jsonl'));
    const resumed = new RunLog(out, { resume: true });
    await expect(resumed.write(update(2))).rejects.toMatchObject(fullDisk('metrics.jsonl'));
    expect(await readMetrics(out)).toEqual([update(1), update(2)]);
    expect(await readdir(out)).toEqual(['metrics.jsonl']);
    await new RunLog(out, { resume: true }).write(update(2));
    expect(await readMetrics(out)).toEqual([update(1), update(2)]);
  });

  test.each(['config.json', 'curves.svg', 'summary.json'])('keeps the earlier %s', async (name) => {
    const file = join(out, name);
    await writeAtomic(file, 'earlier');
    await fill(partialOf(name));
    await expect(writeAtomic(file, 'later')).rejects.toMatchObject(fullDisk(name));
    expect(await readFile(file, 'utf8')).toBe('earlier');
    expect(await readdir(out)).toEqual([name]);
    await writeAtomic(file, 'later');
    expect(await readFile(file, 'utf8')).toBe('later');
  });

  test('keeps config.json if changes.jsonl cannot be written', async () => {
    await writeFile(join(out, 'config.json'), '{"seed":1}');
    await fill(partialOf('changes.jsonl'));
    await expect(recordChanges(out, 3, { seed: 2 })).rejects.toMatchObject(fullDisk('changes.jsonl'));
    expect(await readFile(join(out, 'config.json'), 'utf8')).toBe('{"seed":1}');
  });

  test("names TensorBoard's file", async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 7 });
    const log = new TensorBoardLog(join(out, 'tensorboard'));
    vi.useRealTimers();
    await mkdir(join(out, 'tensorboard'));
    const name = 'tensorboard/events.out.tfevents.00000000000007.toolenv';
    await fill(name);
    await expect(log.write(update(1))).rejects.toMatchObject(fullDisk(name));
  });
});

test('a path below a file is refused before anything is written', async () => {
  await writeFile(join(out, 'file'), '');
  await expect(lockFolder(join(out, 'file/run'))).rejects.toMatchObject({ code: 'usage.folder' });
  await expect(writeAtomic(join(out, 'file/config.json'), '{}')).rejects.toMatchObject({
    code: 'infrastructure.disk',
    message: expect.stringMatching(/config\.json cannot be written \(ENOTDIR.*\): choose a path that leads/),
  });
});
