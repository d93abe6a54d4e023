/** Prepares the agent's container: folders that every task has, and what a step brings. */
import { readFile } from 'node:fs/promises';
import type { HarborStep } from '../task/harbor-task.ts';
import { asFault, type Box } from './boxes.ts';
import { folderFiles } from './folder-files.ts';

/** Milliseconds of a script, and of a step's setup.sh. */
const scriptTime = 60_000;
const setupTime = 600_000;

/** Makes the working folder and those for logs, in which every user may write. @throws ToolEnvError `infrastructure.sandbox` */
export async function prepareAgentBox({ container, folder }: Box): Promise<void> {
  const script =
    'mkdir -p "$AT" /logs/agent /logs/artifacts /tmp && chmod 1777 /logs/agent /logs/artifacts /tmp';
  await asFault('The container of an agent failed', async () => {
    const options = { timeout: scriptTime, output: 1000, user: '0', env: { AT: folder } };
    const { exitCode, stderr } = await container.exec(script, options);
    if (exitCode !== 0)
      throw new Error(`its folders cannot be made: ${new TextDecoder().decode(stderr).trim()}`);
  });
}

/**
 * Puts the step's files into the working folder, as the agent's own, and runs its setup.sh as the agent.
 * @returns Why this did not work.
 * @throws ToolEnvError `infrastructure.sandbox` if the daemon fails.
 */
export async function prepareStep(
  { container, folder }: Box,
  { agent: { user }, workdir, name }: HarborStep,
): Promise<string | undefined> {
  if (workdir === undefined) return undefined;
  return asFault('The container of an agent failed', async () => {
    const options = { timeout: scriptTime, output: 1000, user };
    const { stdout } = await container.exec('id -u; id -g', options);
    const [uid, gid] = new TextDecoder().decode(stdout).split('\n').map(Number);
    if (!Number.isInteger(uid) || !Number.isInteger(gid))
      return `the user of step "${name}" is not known in the container`;
    await container.putArchive(folderFiles(workdir, folder), { uid: uid!, gid: gid! });
    const hasSetup = await readFile(`${workdir}/setup.sh`).then(
      () => true,
      () => false,
    );
    if (!hasSetup) return undefined;
    const { exitCode, stderr } = await container.exec('. ./setup.sh', {
      ...options,
      timeout: setupTime,
      folder,
    });
    if (exitCode === 0) return undefined;
    return `setup.sh of step "${name}" ended with code ${exitCode}: ${new TextDecoder().decode(stderr).trim()}`;
  });
}
