/** The folder of an evaluation: what is evaluated, its episodes as they end, and summaries. One evaluation uses it at a time. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolEnvError, type Trajectory } from '@toolenv/core';
import {
  append,
  ensureDir,
  type FolderLock,
  lockFolder,
  refuseLockedFolder,
  removePartials,
  writeAtomic,
} from '@toolenv/core/files';
import { encodeTrajectory, readTrajectories, trajectoryMistake } from '@toolenv/core/recording';
import { jsonWithoutSecrets } from '@toolenv/core/secrets';
import { refuseUsedFolder } from '@toolenv/training';
import { isSameValue } from '@toolenv/training/runs';

const identityFile = 'evaluation.json';
const remedy = 'choose another folder, or resume the evaluation with --resume';

/** Refuses a folder that has files or is in use, before the work begins. Changes nothing. */
export async function refuseEvaluationFolder(out: string, resume: boolean): Promise<void> {
  await refuseLockedFolder(out);
  if (!resume) await refuseUsedFolder(out, remedy);
}

/** Keeps others out of the folder until the lock is released. Throws as `lockFolder` and `refuseUsedFolder` do. */
export async function lockEvaluationFolder(out: string, resume: boolean): Promise<FolderLock> {
  const lock = await lockFolder(out);
  try {
    if (!resume) await refuseUsedFolder(out, remedy);
    return lock;
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** The files of one policy. */
export class EvaluationFolder {
  readonly #out: string;
  /** The episodes that earlier runs finished. */
  readonly finished: readonly Trajectory[];

  private constructor(out: string, finished: readonly Trajectory[]) {
    this.#out = out;
    this.finished = finished;
  }

  /**
   * Reads what an earlier run left. Aborted episodes, those that break a rule and a half-written line are removed, because these
   * episodes run again.
   * @param identity What decides an episode, as JSON.
   * @throws ToolEnvError `usage.other_evaluation` if the folder has the episodes of something else, `infrastructure.disk`.
   */
  static async open(out: string, identity: Readonly<Record<string, unknown>>): Promise<EvaluationFolder> {
    await ensureDir(out);
    await removePartials(out);
    const before = await readEvaluation(out);
    if (before === undefined) {
      await writeJson(join(out, identityFile), identity);
      return new EvaluationFolder(out, []);
    }
    const plain = JSON.parse(jsonWithoutSecrets(identity)) as Record<string, unknown>;
    const names = new Set([...Object.keys(before), ...Object.keys(plain)]);
    const other = [...names].find((name) => !isSameValue(before[name], plain[name]));
    if (other !== undefined) {
      const [was, is] = [before[other], plain[other]].map((value) => JSON.stringify(value));
      const message = `${out} has an evaluation with ${other} ${was}, and this one has ${is}: choose another folder.`;
      throw new ToolEnvError('usage.other_evaluation', message);
    }
    const file = join(out, 'trajectories.jsonl');
    const finished: Trajectory[] = [];
    for await (const trajectory of readFinished(file)) finished.push(trajectory);
    const lines = finished.map((trajectory) => `${encodeTrajectory(trajectory)}\n`);
    await writeAtomic(file, lines.join(''));
    return new EvaluationFolder(out, finished);
  }

  async addEpisode(trajectory: Trajectory): Promise<void> {
    const file = join(this.#out, 'trajectories.jsonl');
    await append(file, `${encodeTrajectory(trajectory)}\n`);
  }
}

/** Writes a summary whole. */
export async function writeJson(file: string, summary: object): Promise<void> {
  // The causes of aborted episodes repeat what servers said.
  await writeAtomic(file, `${jsonWithoutSecrets(summary, 2)}\n`);
}

/**
 * What an earlier evaluation recorded of itself; `undefined` for a new folder.
 * @throws ToolEnvError `usage.other_evaluation`
 */
export async function readEvaluation(out: string): Promise<Record<string, unknown> | undefined> {
  try {
    return JSON.parse(await readFile(join(out, identityFile), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    const message = `${join(out, identityFile)} cannot be read: choose another folder.`;
    throw new ToolEnvError('usage.other_evaluation', message, { cause: error });
  }
}

async function* readFinished(file: string): AsyncGenerator<Trajectory> {
  try {
    for await (const trajectory of readTrajectories(file, { skipHalfWritten: true })) {
      if (trajectory.outcome.kind === 'aborted') continue;
      const wrong = trajectoryMistake(trajectory);
      if (wrong === undefined) yield trajectory;
      else process.emitWarning(`An episode of ${file} breaks ${wrong}: it is played again.`);
    }
  } catch (error) {
    // The earlier run ended before its first episode did.
    const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
    if (code !== 'ENOENT' && cause?.code !== 'ENOENT') throw error;
  }
}
