/** refuseWithout: refuses flags that mean nothing without another flag. */
import { ToolEnvError } from '@toolenv/core';
import { flagName } from '../display/flag-name.ts';

/**
 * @param needs The flag that each flag needs, both as commander names them: `{ turns: 'episode' }` for `--turns` and `--episode`.
 * @throws ToolEnvError `usage.arguments` for the first flag that is given without the other.
 */
export function refuseWithout(
  given: Readonly<Record<string, unknown>>,
  needs: Readonly<Record<string, string>>,
): void {
  for (const [flag, needed] of Object.entries(needs)) {
    if (given[flag] === undefined || given[needed] !== undefined) continue;
    const message = `${flagName(flag)} is for ${flagName(needed)}: give ${flagName(needed)} too, or leave it out.`;
    throw new ToolEnvError('usage.arguments', message);
  }
}
