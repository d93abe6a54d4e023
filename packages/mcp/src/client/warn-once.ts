/** warnOnce: gives each warning once. Every server of a pool and every new list of tools would repeat it. */
import { redactSecrets } from '@toolenv/core/secrets';

/** A server could give warnings without end. */
const maxWarnings = 20;

/** @param onWarning Default: writes a line to stderr. */
export function warnOnce(onWarning: (message: string) => void = toStderr): (message: string) => void {
  const given = new Set<string>();
  return (message) => {
    if (given.has(message) || given.size > maxWarnings) return;
    given.add(message);
    onWarning(
      given.size > maxWarnings ? 'Further warnings of MCP servers are left out: fix the servers.' : message,
    );
  };
}

/** Environments that are opened several times in a run repeat their warnings. */
const written = new Set<string>();

function toStderr(message: string): void {
  if (written.has(message)) return;
  written.add(message);
  process.stderr.write(`toolenv: ${redactSecrets(message).replace(/\s+/g, ' ')}\n`);
}
