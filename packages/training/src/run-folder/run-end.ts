/** end.json: how a training run ended, which its other files do not say. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '@toolenv/core';
import { hasClaim, isFolderLost, writeAtomic } from '@toolenv/core/files';
import { jsonWithoutSecrets } from '@toolenv/core/secrets';
import type { RunEnd } from '../reports/metric-sink.ts';
import { readJson } from './read-json.ts';

const endFile = 'end.json';

/** `running` has a live process, `done` has made all its steps, `stopped` was interrupted, and `crashed` failed. */
export interface RunStatus {
  kind: 'running' | 'done' | 'stopped' | 'crashed';
  /** Why the run crashed. */
  why?: string;
}

interface RecordedEnd {
  end: RunEnd;
  message?: string;
}

/** The end of a run hides no other error: without the file, {@link readStatus} goes by the steps. */
export async function recordEnd(out: string, end: RunEnd, error?: unknown): Promise<void> {
  const recorded: RecordedEnd = { end, ...(end === 'failed' && { message: messageOf(error) }) };
  await writeAtomic(join(out, endFile), `${jsonWithoutSecrets(recorded)}\n`).catch((unwritten: unknown) => {
    // The process that has the folder now says how the run ended.
    if (end === 'finished' && isFolderLost(unwritten)) throw unwritten;
  });
}

/** For a run that is resumed. */
export async function forgetEnd(out: string): Promise<void> {
  await rm(join(out, endFile), { force: true });
}

/**
 * How the run in a folder is going. A process on another machine counts as alive while its lock has a heartbeat.
 * @param isComplete Whether the run has made all its steps. It decides for a run that did not record its end.
 */
export async function readStatus(folder: string, isComplete: boolean): Promise<RunStatus> {
  const claim = await hasClaim(folder);
  if (claim === 'live') return { kind: 'running' };
  const recorded = await readEnd(folder);
  if (recorded?.end === 'failed') return { kind: 'crashed', why: recorded.message };
  if (recorded) return { kind: recorded.end === 'finished' ? 'done' : 'stopped' };
  if (claim === 'dead') return { kind: 'crashed', why: 'Its process was killed, or ran out of memory.' };
  return { kind: isComplete ? 'done' : 'stopped' };
}

/** A damaged file says nothing. */
function readEnd(folder: string): Promise<RecordedEnd | undefined> {
  return readJson(join(folder, endFile), {
    check(value) {
      const { end, message } = Object(value) as Partial<RecordedEnd>;
      if (end !== 'finished' && end !== 'failed' && end !== 'killed') throw new TypeError('it has no end');
      return { end, ...(typeof message === 'string' && { message }) };
    },
    code: 'usage.other_run',
    remedy: 'remove the file',
  }).catch(() => undefined);
}
