/**
 * Runs inside a bubblewrap sandbox, where it starts the commands, bounds them and reaches the files. It reads a request from each line of
 * stdin and answers with a line on stdout. It uses nothing but Node, whose binary is the only file of the machine beside the system's
 * programs that the sandbox has.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import { createInterface } from 'node:readline';

/** @typedef {{ id: number, asked: string, script: string, stdin?: string, timeout: number, output: number, wasted: number, path: string, content: string, most: number }} Request */

const shell = await fs.access('/bin/bash').then(
  () => '/bin/bash',
  () => '/bin/sh',
);

/** Ends the command that runs. */
let stop = () => {};

/**
 * The first bytes of a stream.
 * @param {import('node:stream').Readable} stream
 * @param {number} most
 * @param {(bytes: number) => void} count
 */
function keep(stream, most, count) {
  /** @type {Buffer[]} */
  const chunks = [];
  let size = 0;
  let cut = false;
  stream.on('data', (/** @type {Buffer} */ chunk) => {
    count(chunk.length);
    const part = chunk.subarray(0, most - size);
    if (part.length < chunk.length) cut = true;
    if (part.length === 0) return;
    size += part.length;
    chunks.push(Buffer.from(part));
  });
  stream.on('error', () => {});
  return () => {
    // Processes in the background may hold the stream: they wait once it is full.
    stream.pause();
    return { bytes: Buffer.concat(chunks).toString('base64'), cut };
  };
}

/** @param {Request} request */
function run({ script, stdin, timeout, output, wasted }) {
  return new Promise((settle) => {
    const child = spawn(shell, ['-c', script], { detached: true, stdio: 'pipe' });
    let timedOut = false;
    let seen = 0;
    const kill = () => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {
        // It has ended.
      }
    };
    stop = kill;
    const count = (/** @type {number} */ bytes) => {
      seen += bytes;
      if (seen > wasted) kill();
    };
    const takeOut = keep(child.stdout, output, count);
    const takeError = keep(child.stderr, output, count);
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, timeout);
    child.stdin.on('error', () => {});
    child.stdin.end(stdin ?? '');
    child.once('error', (error) => {
      clearTimeout(timer);
      settle({ failed: error.message });
    });
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      stop = () => {};
      const end = () => {
        clearTimeout(patience);
        const out = takeOut();
        const err = takeError();
        const exitCode = timedOut ? 124 : (code ?? (signal === 'SIGKILL' ? 137 : 128));
        settle({ stdout: out.bytes, stderr: err.bytes, exitCode, truncated: out.cut || err.cut, timedOut });
      };
      // A process in the background may hold the streams.
      const patience = setTimeout(end, 50);
      child.once('close', end);
    });
  });
}

/** @param {Request} request */
async function read({ path, most }) {
  const found = await fs.stat(path);
  if (!found.isFile()) return { problem: 'it is not a file' };
  if (found.size > most) return { problem: `it has ${found.size} bytes, and ${most} is the most` };
  const file = await fs.open(path);
  try {
    // The file may grow meanwhile.
    const { buffer, bytesRead } = await file.read(Buffer.alloc(found.size), 0, found.size, 0);
    return { content: buffer.subarray(0, bytesRead).toString('base64') };
  } finally {
    await file.close();
  }
}

/** @param {Request} request */
async function write({ path, content }) {
  await fs.mkdir(path.replace(/\/[^/]*$/, '') || '/', { recursive: true });
  const there = await fs.stat(path).catch(() => undefined);
  if (there && !there.isFile()) return { problem: 'it is not a file' };
  await fs.writeFile(path, Buffer.from(content, 'base64'));
  return {};
}

/** @param {Request} request */
async function list({ path, most }) {
  const names = (await fs.readdir(path)).sort().slice(0, most);
  const entries = [];
  for (const name of names) {
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
};

/** @type {Record<string, (request: Request) => Promise<object> | object>} */
const answers = { run, read, write, list };

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
  if (request.asked === 'stop') stop();
  else
    void Promise.resolve(answer(request)).then((found) =>
      process.stdout.write(`${JSON.stringify({ id: request.id, ...found })}\n`),
    );
}
