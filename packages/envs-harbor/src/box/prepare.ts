/** Prepares the agent's container: folders that every task has, and what a step brings. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { HarborStep, HarborTask } from '../task/harbor-task.ts';
import { asFault, type Box } from './boxes.ts';
import { folderFiles } from './folder-files.ts';
import { whyUnhealthy } from './health.ts';

/** Milliseconds of a script, and of a step's setup.sh. */
const scriptTime = 60_000;
const setupTime = 600_000;

/** Users as a task names them → their numbers, `1000:1000`. They are looked up before the agent can change who they are. */
export type Users = Readonly<Record<string, string>>;

/** Makes the working folder of the image and those for logs, in which every user may write, and finds the users of the task's steps. */
const script = `mkdir -p "$AT" /logs/agent /logs/artifacts /tmp && chmod 1777 /logs/agent /logs/artifacts /tmp || exit 1
for user in $USERS; do
  case $user in
    [0-9]*) echo "$user" ;;
    *) echo "$(id -u "$user"):$(id -g "$user")" ;;
  esac
done`;

/** @throws ToolEnvError `infrastructure.sandbox`, also for a user who is not in the image. */
export async function prepareAgentBox(
  { container, folder, user }: Box,
  { steps }: HarborTask,
): Promise<Users> {
  const own = user || '0';
  const named = steps.flatMap(({ agent, verifier }) => [
    agent.user,
    ...verifier.collect.map((each) => each.user),
  ]);
  const users = [...new Set([own, ...named.filter((name) => name !== '')])];
  return asFault('The container of an agent cannot be prepared', async () => {
    const env = { AT: folder, USERS: users.join(' ') };
    const { exitCode, stdout, stderr } = await container.exec(script, {
      timeout: scriptTime,
      output: 2 ** 16,
      user: '0',
      env,
    });
    const numbers = new TextDecoder().decode(stdout).trim().split('\n');
    if (
      exitCode !== 0 ||
      numbers.length !== users.length ||
      !numbers.every((each) => /^\d+(:\d+)?$/.test(each))
    )
      throw new Error(new TextDecoder().decode(stderr).trim() || `the users are ${numbers.join(', ')}`);
    const found = Object.fromEntries(users.map((name, index) => [name, numbers[index]!]));
    return { ...found, '': found[own]! };
  });
}

/**
 * Puts the step's files into the working folder, as the agent's own, and runs its setup.sh and its health check as the agent.
 * @param user Number of the agent's user, and of the group.
 * @returns Why this did not work.
 * @throws ToolEnvError `infrastructure.sandbox` if the daemon fails.
 */
export async function prepareStep(box: Box, step: HarborStep, user: string): Promise<string | undefined> {
  return (await setUp(box, step, user)) ?? (step.health && (await whyUnhealthy(box, step.health, user)));
}

async function setUp(
  { container, folder }: Box,
  { workdir, name }: HarborStep,
  user: string,
): Promise<string | undefined> {
  if (workdir === undefined) return undefined;
  return asFault('The container of an agent cannot be prepared', async () => {
    const [uid, gid = uid] = user.split(':').map(Number);
    await container.putArchive(folderFiles(workdir, folder), { uid: uid!, gid: gid! });
    if (!existsSync(join(workdir, 'setup.sh'))) return undefined;
    const options = { timeout: setupTime, output: 1000, user, folder };
    const { exitCode, stderr } = await container.exec('. ./setup.sh', options);
    if (exitCode === 0) return undefined;
    return `setup.sh of step "${name}" ended with code ${exitCode}: ${new TextDecoder().decode(stderr).trim()}`;
  });
}
