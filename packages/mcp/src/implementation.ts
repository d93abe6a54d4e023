/** Name and version that this package sends to the other side of an MCP connection. */
import { readFileSync } from 'node:fs';

const json: { version: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

export const implementation: { name: string; version: string } = { name: 'toolenv', version: json.version };
