/**
 * Reaches the files of a bubblewrap sandbox. It reads a request from each line of stdin and answers with a line on stdout. It uses nothing
 * but Node, whose binary is the only file of the machine beside the system's programs that the sandbox has. Commands may swap a file for
 * anything else at any moment: so what is open is looked at, and nothing waits for another process.
 */
import { constants } from 'node:fs';
import fs from 'node:fs/promises';
import { createInterface } from 'node:readline';

/** @typedef {{ id: number, asked: string, path: string, content: string, most: number }} Request */

const { O_RDONLY, O_WRONLY, O_CREAT, O_NONBLOCK, O_NOCTTY } = constants;
const waitsForNothing = O_NONBLOCK | O_NOCTTY;

/** @param {Request} request */
async function read({ path, most }) {
  const file = await fs.open(path, O_RDONLY | waitsForNothing);
  try {
    const { size, ...found } = await file.stat();
    if (!isRegular(found)) return { problem: 'it is not a file' };
    if (size > most) return { problem: `it has ${size} bytes, and ${most} is the most` };
    // The file may grow meanwhile.
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
    return { content: buffer.subarray(0, bytesRead).toString('base64') };
  } finally {
    await file.close();
  }
}

/** @param {Request} request */
async function write({ path, content }) {
  await fs.mkdir(path.replace(/\/[^/]*$/, '') || '/', { recursive: true });
  const file = await fs.open(path, O_WRONLY | O_CREAT | waitsForNothing, 0o666);
  try {
    if (!isRegular(await file.stat())) return { problem: 'it is not a file' };
    await file.truncate();
    await file.writeFile(Buffer.from(content, 'base64'));
    return {};
  } finally {
    await file.close();
  }
}

/** @param {{ mode: number }} found */
function isRegular({ mode }) {
  return (mode & constants.S_IFMT) === constants.S_IFREG;
}

/** @param {Request} request */
async function list({ path, most }) {
  const names = [];
  // No more than asked for: a folder may have millions.
  for await (const { name } of await fs.opendir(path)) if (names.push(name) === most) break;
  const entries = [];
  for (const name of names.sort()) {
    const found = await fs.lstat(`${path}/${name}`).catch(() => undefined);
    if (!found) continue;
    const type = found.isFile()
      ? 'file'
      : found.isDirectory()
        ? 'folder'
        : found.isSymbolicLink()
          ? 'link'
          : 'other';
    entries.push({ name, type, size: type === 'file' ? found.size : 0 });
  }
  return { entries };
}

/** @type {Record<string, string>} */
const problems = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'it is not a folder',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
  EACCES: 'permission denied',
  EROFS: 'it cannot be written',
  // A FIFO without a reader, or a socket.
  ENXIO: 'it is not a file',
  EAGAIN: 'a process holds it',
};

/** @type {Record<string, (request: Request) => Promise<object>>} */
const answers = { read, write, list };

/** @param {Request} request */
async function answer(request) {
  try {
    return await answers[request.asked]?.(request);
  } catch (error) {
    const code = String(/** @type {NodeJS.ErrnoException} */ (error).code);
    return { problem: problems[code] ?? code };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = /** @type {Request} */ (JSON.parse(line));
  const found = await answer(request);
  process.stdout.write(`${JSON.stringify({ id: request.id, ...found })}\n`);
}
