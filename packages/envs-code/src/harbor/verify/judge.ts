/** judge: runs the tests of a step in a container, and reads what they say. */
import { ToolEnvError } from '@toolenv/core';
import type { Container, FileToPack } from '@toolenv/sandbox/container';
import { asFault, type Box } from '../box/boxes.ts';
import { folderFiles } from '../box/folder-files.ts';
import type { VerifierSpec } from '../task/harbor-task.ts';
import type { Carried } from './carry.ts';
import { failed, longestReward, readReward, type Verdict } from './reward-file.ts';

/** What the tests came to, for the trajectory. */
export type Judgement = Verdict & {
  /** The end of what the tests printed. */
  readonly output: string;
};

const logFolder = '/logs/verifier';

/** What is run. It need not be executable on this machine. */
const script = '/tests/test.sh';

/** Bytes that are kept of what the tests print, and characters that are shown. */
const output = { kept: 2 ** 16, shown: 2000 };

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
    const replaced = carried ? verifier.artifacts.map(({ source }) => source) : [];
    const owner = verifier.user || user || '0';
    const problem = await asRoot(container, clearing([...own, ...replaced], owner, folder), signal);
    if (problem !== undefined) {
      if (verifier.kind === 'fresh') throw new Error(problem);
      return { ...failed(`the agent has broken its container: ${problem}`), output: '' };
    }
    await container.putArchive(filesOf(verifier, carried));
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
    return { ...verdict, output: printed };
  });
}

/** Removes paths, and makes the folder of the verdict anew, in which only its owner may write. An image may have tests of its own. */
function clearing(paths: readonly string[], owner: string, folder: string): string {
  const lines = [
    `rm -rf -- ${[logFolder, ...paths].map(quote).join(' ')}`,
    `mkdir -p ${logFolder} ${quote(folder)} && chmod 755 ${logFolder} && chown ${quote(owner)} ${logFolder} || exit 1`,
    `[ ! -f ${script} ] || chmod +x ${script}`,
  ];
  return lines.join('\n');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The artifacts, and over them the tests of the task and of the step. */
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
        bytes: longestReward + 1,
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
  const options = { timeout: scriptTime, output: 1000, user: '0', signal };
  const { exitCode, stderr, gone } = await container.exec(command, options);
  signal.throwIfAborted();
  if (exitCode === 0 && !gone) return undefined;
  return `its folders cannot be prepared: ${new TextDecoder().decode(stderr).trim() || `code ${exitCode}`}`;
}
