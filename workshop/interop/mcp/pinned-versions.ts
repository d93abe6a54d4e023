/** The versions of the servers that are tried, from the files that pin them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import npm from './npm.json' with { type: 'json' };
import type { TriedServer } from './tried-server.ts';

const sdk = join(import.meta.dirname, '../../../packages/mcp/package.json');

export function versionOf({ package: name, from }: Pick<TriedServer, 'package' | 'from'>): string {
  const version = pinsOf(from)[name];
  if (version === undefined) throw new Error(`${name} is not pinned for ${from}: add it to its file.`);
  return version;
}

/** Versions by package. */
export function pinsOf(from: TriedServer['from']): Record<string, string> {
  if (from === 'npm') return npm;
  if (from === 'own') {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(sdk, 'utf8'));
    return { ...dependencies, ...devDependencies };
  }
  const file = join(import.meta.dirname, '..', from === 'PyPI' ? 'mcp.txt' : 'mcp-1.txt');
  const lines = readFileSync(file, 'utf8').split('\n');
  return Object.fromEntries(lines.flatMap((line) => (line.includes('==') ? [line.split('==')] : [])));
}
