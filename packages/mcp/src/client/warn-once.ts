/** warnOnce: gives each warning once. Every server of a pool and every new list of tools would repeat it. */
import { withoutSecrets } from '@toolenv/core/secrets';

/** @param onWarning Default: writes a line to stderr. */
export function warnOnce(onWarning: (message: string) => void = toStderr): (message: string) => void {
  const given = new Set<string>();
  return (message) => {
    if (given.has(message)) return;
    given.add(message);
    onWarning(message);
  };
}

function toStderr(message: string): void {
  process.stderr.write(`toolenv: ${withoutSecrets(message)}\n`);
}
