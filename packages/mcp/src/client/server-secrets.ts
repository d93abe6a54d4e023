/** The secrets of a server: the values of its variables and headers, and what looks secret in its command line. Errors hide them. */
import { hideInArguments } from './hide-arguments.ts';
import type { ExpandedServer } from './server-additions.ts';

/** Shortest value that is hidden wherever it occurs. Shorter values may occur in any text. */
const secretLength = 6;

/** The text without the server's secrets, each replaced by its name. Errors end up in recorded files. */
export function hideSecrets(text: string, { server, variables }: ExpandedServer): string {
  const secrets: [value: string, name: string][] = [...variables].map(([name, value]) => [value, name]);
  if ('command' in server) {
    for (const [name, value] of Object.entries(server.env ?? {})) secrets.push([value, name]);
  } else {
    for (const [name, value] of Object.entries(server.headers ?? {})) {
      secrets.push([value, name], [value.replace(/^\w+ +/, ''), name]);
    }
  }
  hideInArguments('command' in server ? (server.args ?? []) : [String(server.url)], (value, name) => {
    secrets.push([value, name]);
    return value;
  });
  // The longest first, because a secret may contain another.
  const long = secrets.filter(([value]) => value.length >= secretLength);
  long.sort(([a], [b]) => b.length - a.length);
  return long.reduce((said, [value, name]) => said.replaceAll(value, `[${name}]`), text);
}
