/**
 * Thread of a virtual sandbox, in JavaScript because Node starts it as it is: a shell whose commands and files are JavaScript. Answers one
 * request at a time, each with what changed in the files, so that they outlive the thread.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { Bash } from 'just-bash';
import { WatchedFiles } from './watched-files.js';

const { disk, memory, home, files: kept } = workerData;
const files = new WatchedFiles(disk * 2 ** 20);
const shell = new Bash({
  fs: files,
  cwd: home,
  env: { HOME: home, LANG: 'C.UTF-8' },
  executionLimitProfile: 'normal',
  executionLimits: {
    // The sandbox has a limit in time instead.
    maxCommandCount: 10_000_000,
    maxLoopIterations: 10_000_000,
    maxLiveBytes: (memory * 2 ** 20) / 2,
    maxInputBytes: (memory * 2 ** 20) / 2,
    maxStringLength: 16 * 2 ** 20,
    maxFileSystemBytes: disk * 2 ** 20,
    maxTraversalEntries: 100_000,
  },
});

/**
 * Why a command could not be loaded, which is not the fault of the command.
 * @type {unknown}
 */
let machineFault;

/** @type {Map<string, import('just-bash').Command>} */
const commands = Reflect.get(shell, 'commands');
// A command is loaded when it is first called, and just-bash makes an exception of a command its output.
for (const command of commands.values()) {
  const { execute } = command;
  command.execute = async (args, context) => {
    try {
      return await execute(args, context);
    } catch (error) {
      const { errno, code } = Object(error);
      // Errors of the files in memory have no number.
      if (typeof errno === 'number' || code === 'ERR_MODULE_NOT_FOUND') machineFault = error;
      throw error;
    }
  };
}

/** Variables that the shell sets itself. */
const ownVariables = /^(SHELLOPTS|BASHOPTS|OPTIND|IFS|OSTYPE|MACHTYPE|HOSTTYPE|PWD|OLDPWD|UID|EUID|PPID)$/;

/** The variables and the working folder that the last command left. */
/** @type {Record<string, string>} */
let variables = { HOME: home, LANG: 'C.UTF-8' };
let folder = home;

/** @typedef {{ path: string, type: 'file' | 'folder' | 'link', mode: number, content?: Uint8Array, target?: string }} Kept */

/**
 * What is at a path and below it.
 * @param {string} path
 * @returns {AsyncGenerator<Kept>}
 */
async function* entriesAt(path) {
  const found = await files.lstat(path).catch(() => undefined);
  if (!found) return;
  const { mode } = found;
  if (found.isSymbolicLink) yield { path, type: 'link', mode, target: await files.readlink(path) };
  else if (!found.isDirectory) yield { path, type: 'file', mode, content: await files.readFileBuffer(path) };
  else {
    yield { path, type: 'folder', mode };
    for (const name of await files.readdir(path))
      yield* entriesAt(path === '/' ? `/${name}` : `${path}/${name}`);
  }
}

/** The changed paths, and what is there now. */
async function takeChanges() {
  /** @type {string[]} */
  const paths = [];
  for (const path of files.takeChanged()) {
    if (!paths.some((outer) => path === outer || path.startsWith(`${outer === '/' ? '' : outer}/`)))
      paths.push(path);
  }
  /** @type {Kept[]} */
  const entries = [];
  for (const path of paths) for await (const entry of entriesAt(path)) entries.push(entry);
  return { paths, entries };
}

/**
 * Each entry replaces what a new shell has at its path: a command may have put a link in the place of a folder of the system.
 * @param {Kept[]} entries Outermost first.
 */
async function restore(entries) {
  for (const { path, type, mode, content, target } of entries) {
    try {
      const there = await files.lstat(path).catch(() => undefined);
      const isOther = there && (type !== 'folder' || !there.isDirectory);
      if (isOther) await files.rm(path, { recursive: true, force: true });
      if (type === 'folder') await files.mkdir(path, { recursive: true });
      else if (type === 'link') await files.symlink(target ?? '', path);
      else await files.writeFile(path, content ?? '');
      if (type !== 'link') await files.chmod(path, mode);
    } catch {
      // A full disk may have no room for it: the files of the system are there again. Without this file, the sandbox goes on.
    }
  }
  files.takeChanged();
}

/**
 * The text, and whether it was cut.
 * @param {string} text
 * @param {number} bytes
 */
function bound(text, bytes) {
  const start = text.slice(0, bytes);
  const encoded = Buffer.from(start);
  if (encoded.length <= bytes) return { text: start, cut: start.length < text.length };
  return { text: new TextDecoder().decode(encoded.subarray(0, bytes)).replace(/\uFFFD$/, ''), cut: true };
}

/** @param {{ command: string, stdin?: string, env?: Record<string, string>, timeout: number, output: number }} request */
async function run({ command, stdin, env, timeout, output }) {
  const late = AbortSignal.timeout(timeout);
  if (!(await files.exists(folder))) folder = home;
  let result;
  try {
    result = await shell.exec(command, {
      env: { ...variables, ...env },
      replaceEnv: true,
      cwd: folder,
      stdin,
      rawScript: true,
      signal: late,
    });
  } catch (error) {
    // The shell refuses what it cannot parse, and stops at its own limits.
    result = { stdout: '', stderr: `bash: ${messageOf(error)}\n`, exitCode: 2, env: variables };
  }
  const entries = Object.entries(result.env ?? {});
  const left = entries.filter(([name]) => /^[A-Za-z_]\w*$/.test(name) && !ownVariables.test(name));
  variables = { HOME: home, LANG: 'C.UTF-8', ...Object.fromEntries(left) };
  folder = result.env?.PWD ?? folder;
  const stdout = bound(result.stdout, output);
  const stderr = bound(result.stderr, output);
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    exitCode: late.aborted ? 124 : result.exitCode,
    truncated: stdout.cut || stderr.cut,
    timedOut: late.aborted,
    outOfMemory: false,
  };
}

/** @param {{ path: string, most: number }} request */
async function read({ path, most }) {
  const file = await files.realpath(path).catch(() => undefined);
  if (file === undefined) return { problem: 'there is no such file' };
  const { isFile, size } = await files.stat(file);
  if (!isFile) return { problem: 'it is not a file' };
  if (size > most) return { problem: `it has ${size} bytes, and ${most} is the most` };
  return { content: await files.readFileBuffer(file) };
}

/** @param {{ path: string, content: Uint8Array }} request */
async function write({ path, content }) {
  const there = await files.stat(path).catch(() => undefined);
  if (there && !there.isFile) return { problem: 'it is not a file' };
  try {
    await files.mkdir(path.replace(/\/[^/]*$/, '') || '/', { recursive: true });
    await files.writeFile(path, content);
    return {};
  } catch (error) {
    return { problem: `it cannot be written: ${messageOf(error)}` };
  }
}

/** @param {{ path: string, most: number }} request */
async function list({ path, most }) {
  const found = await files.stat(path).catch(() => undefined);
  if (!found) return { problem: 'there is no such folder' };
  if (!found.isDirectory) return { problem: 'it is not a folder' };
  const entries = [];
  for (const name of (await files.readdir(path)).sort().slice(0, most)) {
    const { isDirectory, isSymbolicLink, isFile, size } = await files.lstat(`${path}/${name}`);
    const type = isSymbolicLink ? 'link' : isDirectory ? 'folder' : isFile ? 'file' : 'other';
    entries.push({ name, type, size: type === 'file' ? size : 0 });
  }
  return { entries };
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @type {Record<string, (request: any) => Promise<object>>} */
const answers = { run, read, write, list };

await files.mkdir(home, { recursive: true });
await files.mkdir('/tmp');
await restore(kept);
// Loads what the first command would wait for.
await shell.exec('true');
parentPort?.on('message', async ({ asked, ...request }) => {
  const answer = await answers[asked]?.(request);
  if (machineFault) parentPort?.postMessage({ machineFault: messageOf(machineFault) });
  else parentPort?.postMessage({ ...answer, changes: await takeChanges() });
});
parentPort?.postMessage('ready');
