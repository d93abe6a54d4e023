/** refuseUnscored: a command whose episodes were all aborted fails, and names the most frequent cause. */
import { ToolEnvError } from '@toolenv/core';
import type { Evaluation } from '@toolenv/training';

/** @throws ToolEnvError `infrastructure.nothing_scored` */
export function refuseUnscored(
  policy: string,
  { episodes, aborted, causes = {} }: Pick<Evaluation, 'episodes' | 'aborted' | 'causes'>,
): void {
  if (aborted < episodes) return;
  const [[cause, count] = ['unknown', aborted]] = Object.entries(causes);
  const message = `No episode of ${policy} was scored: all ${episodes} were aborted, ${count} of them by ${cause}`;
  throw new ToolEnvError('infrastructure.nothing_scored', message);
}
