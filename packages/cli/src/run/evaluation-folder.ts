/** The folder of an evaluation: its episodes as they end, and its summary. No other evaluation can use it meanwhile. */
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Trajectory } from '@toolenv/core';
import { encodeTrajectory, writing } from '@toolenv/core/recording';
import {
  type FolderLock,
  lockFolder,
  refuseLockedFolder,
  refuseUsedFolder,
  writeWhole,
} from '@toolenv/training';

/** Refuses a folder that has files or is in use, before the work begins. Changes nothing. */
export async function refuseEvaluationFolder(out: string): Promise<void> {
  await refuseLockedFolder(out);
  await refuseUsedFolder(out, 'choose another folder');
}

export class EvaluationFolder {
  readonly #out: string;
  readonly #lock: FolderLock;

  private constructor(out: string, lock: FolderLock) {
    this.#out = out;
    this.#lock = lock;
  }

  /** @throws As `lockFolder` and `refuseUsedFolder` do. */
  static async open(out: string): Promise<EvaluationFolder> {
    const lock = await lockFolder(out);
    try {
      await refuseUsedFolder(out, 'choose another folder');
      return new EvaluationFolder(out, lock);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  async addEpisode(trajectory: Trajectory): Promise<void> {
    const file = join(this.#out, 'trajectories.jsonl');
    await writing(file, () => appendFile(file, `${encodeTrajectory(trajectory)}\n`));
  }

  async writeSummary(summary: string): Promise<void> {
    await writeWhole(join(this.#out, 'summary.json'), `${summary}\n`);
  }

  close(): Promise<void> {
    return this.#lock.release();
  }
}
