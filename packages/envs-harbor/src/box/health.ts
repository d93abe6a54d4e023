/** whyUnhealthy: repeats the health check of a task until it succeeds, as Harbor does. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HealthCheck } from '../task/harbor-task.ts';
import { asFault, type Box } from './boxes.ts';

/**
 * @param user Number or name of the user of the command.
 * @returns Why the container is not ready. Failures in the start period do not count.
 * @throws ToolEnvError `infrastructure.sandbox` if the daemon fails.
 */
export async function whyUnhealthy(
  { container, folder }: Box,
  { command, timeout, retries, interval, startPeriod, startInterval }: HealthCheck,
  user: string,
): Promise<string | undefined> {
  const counted = performance.now() + startPeriod;
  for (let failures = 0; ; ) {
    const isStarting = performance.now() < counted;
    const { exitCode, stderr } = await asFault('A health check cannot be run', () =>
      container.exec(command, { timeout, output: 1000, user, folder }),
    );
    if (exitCode === 0) return undefined;
    if (!isStarting) failures += 1;
    if (failures >= retries) {
      const said = new TextDecoder().decode(stderr).trim();
      return `the health check "${command}" has failed ${retries} times${said && `: ${said}`}`;
    }
    await sleep(isStarting ? startInterval : interval);
  }
}
