/** Whether the data of a resumed run are those that it began with. */
import { ToolEnvError } from '@toolenv/core';
import type { TokenRow } from '@toolenv/core/learner';

/** 32 bits of all tokens and masks (FNV-1a). */
export function checksum(rows: readonly TokenRow[]): number {
  let hash = 0x811c9dc5;
  const add = (value: number) => {
    hash = Math.imul(hash ^ value, 0x01000193);
  };
  for (const { tokens, mask } of rows) {
    add(tokens.length);
    for (const token of tokens) add(token);
    for (const bit of mask) add(bit);
  }
  return hash >>> 0;
}

/**
 * The check before a step. The loop replaces `memory.data` by that of the checkpoint.
 * @throws ToolEnvError `usage.other_data`
 */
export function refuseOtherData(memory: { data: number }, file: string): () => void {
  const now = memory.data;
  return () => {
    if (memory.data === now) return;
    const message = `${file} is not what the run began with, or is encoded in another way: restore the file, or begin a new run.`;
    throw new ToolEnvError('usage.other_data', message);
  };
}
