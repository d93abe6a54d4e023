/** judge: runs the tests of a step in a container, and reads what they say. */
import { ToolEnvError } from '@toolenv/core';
import { type Container, type FileToPack, quoted } from '@toolenv/sandbox/container';
import { asFault, type Box } from '../box/boxes.ts';
import { folderFiles } from '../box/folder-files.ts';
import type { VerifierSpec } from '../task/harbor-task.ts';
import type { Carried } from './carry.ts';
import { failed, maxRewardLength, readReward, type Verdict } from './reward-file.ts';

/** What the tests came to, for the trajectory. */
export type Judgement = Verdict & {
  /** The end of what the tests printed. */
  readonly output: string;
  /** What a fresh container did not get of the agent's work, by path, and why. */
  readonly leftBehind?: readonly string[];
};

const logFolder = '/logs/verifier';

/** What is run. It need not be executable on this machine. */
const script = '/tests/test.sh';

/** Bytes that are kept of what the tests print, and characters that are shown. */
const output = { kept: 2 ** 16, shown: 2000 };

/** Paths that are shown of what was left behind. */
const shownPaths = 20;

/** Milliseconds that a script of this file may take. */
const scriptTime = 60_000;

/**
 * Puts the tests into the container and runs them. The container is killed before its verdict is read, unless it is `shared` and goes on.
 * @param carried What a fresh container gets of the agent's files. Its own files at the paths of artifacts are removed before.
 * @param timeout Milliseconds.
 * @throws ToolEnvError `infrastructure.sandbox` if the container or the daemon fails; the reason of the signal.
 */
export async function judge(
  { container, folder, user }: Box,
  verifier: VerifierSpec,
  {
    carried,
    timeout,
    goesOn,
    signal,
  }: { carried?: Carried; timeout: number; goesOn: boolean; signal: AbortSignal },
): Promise<Judgement> {
  return asFault('The container of a verifier failed', async () => {
    const own = verifier.tests.length > 0 ? ['/tests'] : [];
    const owner = verifier.user || user || '0';
    const problem = await asRoot(container, clearing(own, owner, folder, carried), signal);
    if (problem !== undefined) {
      if (verifier.kind === 'fresh') throw new Error(`its folders cannot be prepared: ${problem}`);
      return {
        ...failed(`the agent has broken its container: its folders cannot be prepared: ${problem}`),
        output: '',
      };
    }
    await container.putArchive(filesOf(verifier, carried));
    if (carried && carried.links.length > 0) {
      const failure = await asRoot(container, linking(carried.links), signal);
      if (failure !== undefined) return { ...failed(`links cannot be carried: ${failure}`), output: '' };
    }
    const ran = await container.exec(script, {
      timeout,
      output: output.kept,
      user: verifier.user,
      folder,
      env: verifier.env,
      signal,
    });
    signal.throwIfAborted();
    if (!goesOn) await container.kill();
    const decoder = new TextDecoder();
    const printed = `${decoder.decode(ran.stdout)}${decoder.decode(ran.stderr)}`.slice(-output.shown);
    const verdict = ran.timedOut
      ? failed(`the tests took more than ${timeout} ms`)
      : ran.gone
        ? failed(container.overfull ? 'the tests filled the disk' : 'the container of the tests was killed')
        : await readVerdict(container, ran.exitCode);
    if (goesOn) await asRoot(container, clearing(own, owner, folder), signal);
    const left = carried?.skipped ?? [];
    return { ...verdict, output: printed, ...(left.length > 0 && { leftBehind: shown(left) }) };
  });
}

/**
 * Removes the verifier's own paths, and what stands in the way of carried ones, and makes the folder of the verdict anew, in which only its
 * owner may write. An image may have tests of its own.
 */
function clearing(own: readonly string[], owner: string, folder: string, carried?: Carried): string {
  const { cleared = [], files = [] } = carried ?? {};
  const folders = files.filter(({ bytes }) => bytes === undefined).map(({ path }) => path);
  const lines = [
    'folder() { for p in "$@"; do [ -d "$p" ] && [ ! -L "$p" ] || rm -rf -- "$p"; done; }',
    ...batches([logFolder, ...own, ...cleared]).map((paths) => `rm -rf -- ${paths}`),
    ...batches(folders).map((paths) => `folder ${paths}`),
    `mkdir -p ${logFolder} ${quoted(folder)} && chmod 755 ${logFolder} && chown ${quoted(owner)} ${logFolder} || exit 1`,
    `[ ! -f ${script} ] || chmod +x ${script}`,
  ];
  return lines.join('\n');
}

/**
 * Makes links when all files are there. A link to a program, library or setting of the machine stays one. Any other becomes a copy of the
 * file that it names, because the tests may write what they expect where it leads. One to a folder, to nothing, to the verifier's folders or
 * to a device is left out.
 */
function linking(links: Carried['links']): string {
  const lines = [
    `settle() {
  real=$(readlink -f "$1") && [ -f "$real" ] || { rm -f -- "$1"; return; }
  case $real in
    /usr/* | /bin/* | /sbin/* | /lib/* | /lib32/* | /lib64/* | /libx32/* | /etc/* | /nix/*) ;;
    /tests/* | /logs/verifier/* | /dev/* | /proc/* | /run/* | /sys/*) rm -f -- "$1" ;;
    *) rm -f -- "$1" && cp -p -- "$real" "$1" ;;
  esac
}`,
    ...links.map(
      ({ path, target }) => `rm -rf -- ${quoted(path)}; ln -s -- ${quoted(target)} ${quoted(path)}`,
    ),
    ...links.map(({ path }) => `settle ${quoted(path)}`),
    'true',
  ];
  return lines.join('\n');
}

/** Quoted paths, as many as a command may have. */
function batches(paths: readonly string[], most = 20): string[] {
  const count = Math.ceil(paths.length / most);
  return Array.from({ length: count }, (_, index) =>
    paths
      .slice(index * most, (index + 1) * most)
      .map(quoted)
      .join(' '),
  );
}

function shown(paths: readonly string[]): string[] {
  const first = paths.slice(0, shownPaths);
  return paths.length > first.length ? [...first, `and ${paths.length - first.length} more`] : first;
}

/** What is carried, and over it the tests of the task and of the step. */
async function* filesOf({ tests }: VerifierSpec, carried?: Carried): AsyncGenerator<FileToPack> {
  yield* carried?.files ?? [];
  for (const folder of tests)
    for await (const file of folderFiles(folder, '/tests'))
      yield file.path === script ? { ...file, mode: 0o755 } : file;
}

async function readVerdict(container: Container, exitCode: number): Promise<Verdict> {
  const files: Record<string, Uint8Array | undefined> = {};
  const notes: string[] = exitCode === 0 ? [] : [`test.sh ended with code ${exitCode}`];
  for (const name of ['reward.json', 'reward.txt']) {
    try {
      const path = `${logFolder}/${name}`;
      const { files: found, skipped } = await container.archive(path, {
        bytes: maxRewardLength + 1,
        entries: 1,
      });
      files[name] = found[0]?.bytes;
      if (skipped[0]) notes.push(`${name} is a ${skipped[0].type}`);
    } catch (error) {
      if (!ToolEnvError.isInstance(error) || error.code !== 'usage.sandbox_file') throw error;
    }
  }
  const verdict = readReward(files);
  if (!('failed' in verdict) || notes.length === 0) return verdict;
  return failed(`${verdict.failed}: ${notes.join(', ')}`);
}

/** @returns Why the script failed, if it did. */
async function asRoot(
  container: Container,
  command: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  // A command of many paths is too long for an argument.
  const options = { timeout: scriptTime, output: 1000, user: '0', signal, stdin: command };
  const { exitCode, stderr, gone } = await container.exec('exec sh -s', options);
  signal.throwIfAborted();
  if (exitCode === 0 && !gone) return undefined;
  return new TextDecoder().decode(stderr).trim() || `code ${exitCode}`;
}
