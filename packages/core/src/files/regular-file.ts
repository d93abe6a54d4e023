/** Opens and reads the files of checkpoints and runs. Others may have made the folder: a name may stand for a pipe or a device. */
import { constants, type FileHandle, open } from 'node:fs/promises';
import { ToolEnvError } from '../protocol/errors.ts';

/** Bytes of a file of text. The largest tokenizer.json of known models has some 35 MB. */
const most = 2 ** 27;

/** What helps if a file of a checkpoint cannot be read. */
const checkpointRemedy = 'copy the whole checkpoint again';

/**
 * Opens a file for reading. Links are followed, because caches of Hugging Face consist of them.
 * @param remedy Ends the message of the error.
 * @throws ToolEnvError `usage.checkpoint_damaged` if it is no regular file, and what `open` throws.
 */
export async function openRegular(file: string, remedy: string = checkpointRemedy): Promise<FileHandle> {
  // Without O_NONBLOCK, opening a pipe waits for a writer. Windows lacks the flag.
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if ((await handle.stat()).isFile()) return handle;
    const message = `${file} is not a regular file: ${remedy}.`;
    throw new ToolEnvError('usage.checkpoint_damaged', message);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * The text of a file of at most 128 MiB.
 * @param remedy Ends the message of the error.
 * @throws ToolEnvError `usage.checkpoint_damaged` if it is larger, and as {@link openRegular} does.
 */
export async function readRegular(file: string, remedy?: string): Promise<string> {
  const handle = await openRegular(file, remedy);
  try {
    const { size } = await handle.stat();
    if (size > most) {
      const message = `${file} has ${size} bytes, and at most ${most} are read: ${remedy ?? 'use another checkpoint'}.`;
      throw new ToolEnvError('usage.checkpoint_damaged', message);
    }
    // A byte more shows whether the file ends where it says.
    const bytes = Buffer.alloc(size + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      ({ bytesRead: read } = await handle.read(bytes, length, bytes.length - length, length));
    if (length === size) return bytes.toString('utf8', 0, size);
    const message = `${file} changes while it is read: copy it again.`;
    throw new ToolEnvError('usage.checkpoint_damaged', message);
  } finally {
    await handle.close();
  }
}
