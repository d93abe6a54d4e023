/** The part `dodges`: a policy tries to abort its own episode, so that a bad score does not count. Each attempt must be scored. */
import { check, checkNone, type PartInput, type Reporter } from '../part.ts';
import { playAttempts } from './play-attempts.ts';
import { settings } from './settings.ts';

/** With --quick, one attempt of so many is made. */
const skipped = 8;

export async function run({ quick }: PartInput, { say, report }: Reporter): Promise<void> {
  for (const setting of settings) {
    const { name, missing } = setting;
    if (missing !== undefined) {
      report(check(`every attempt is scored, ${name}`, true, `skipped: ${missing}`));
      continue;
    }
    const { scored, wrong, seconds } = await playAttempts(setting, quick ? skipped : 1);
    say(`${name}: ${scored} attempts scored, ${wrong.length} wrong, in ${seconds.toFixed(0)} s`);
    report(checkNone(`every attempt is scored, ${name}`, wrong, `${scored} attempts, each scored 0`));
  }
}
