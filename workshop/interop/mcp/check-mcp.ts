/**
 * `npm run interop -- mcp`: tries MCP servers from npm and PyPI. `--only "time, git"` tries some of them, `--write` writes
 * docs/mcp-servers.md and its record.
 */
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pythonWithOlderMcp } from '../python-environment.ts';
import { toPage } from './page.ts';
import { pinsOf, versionOf } from './pinned-versions.ts';
import { openPlace } from './place.ts';
import { readRecord, recordFile } from './record.ts';
import { servers } from './servers.ts';
import { type Check, type Tried, tryServer } from './try-server.ts';

const pageFile = join(import.meta.dirname, '../../../docs/mcp-servers.md');

/** @param python Has the packages of mcp.txt. */
export async function checkMcp(python: string, args: string[], check: Check): Promise<void> {
  const { values } = parseArgs({ args, options: { only: { type: 'string' }, write: { type: 'boolean' } } });
  const names = values.only?.split(',').map((name) => name.trim());
  const chosen = servers.filter(({ name }) => names?.includes(name) ?? true);
  const olderPython = pythonWithOlderMcp();
  checkInstalled(python, 'PyPI', check);
  checkInstalled(olderPython, 'PyPI, mcp 1', check);
  const place = await openPlace(python, olderPython);
  const tried: Tried[] = [];
  try {
    for (const server of chosen) tried.push(await tryServer(server, versionOf(server), place, check));
  } finally {
    await place.close();
  }
  if (values.write) await write(tried);
}

/** The page names the pinned versions, so an environment of other versions must not be tried. */
function checkInstalled(python: string, from: 'PyPI' | 'PyPI, mcp 1', check: Check): void {
  const pins = pinsOf(from);
  const script = 'import importlib.metadata, sys; print(*map(importlib.metadata.version, sys.argv[1:]))';
  const installed = spawnSync(python, ['-c', script, ...Object.keys(pins)], { encoding: 'utf8' });
  const versions = Object.values(pins).join(' ');
  const otherwise = `${installed.stdout.trim()}${installed.stderr}: remove the environment of ${python}`;
  check(installed.stdout.trim() === versions, `${from}: the pinned versions are installed`, otherwise);
}

/** Servers that were not tried this time keep their rows. */
async function write(tried: readonly Tried[]): Promise<void> {
  const before = readRecord();
  const rows = servers.flatMap(
    ({ name }) => tried.find((each) => each.name === name) ?? before.find((each) => each.name === name) ?? [],
  );
  await writeFile(recordFile, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  await writeFile(pageFile, toPage(rows));
}
