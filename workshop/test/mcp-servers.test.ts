/** docs/mcp-servers.md says what the last run of `npm run interop -- mcp` found, for the servers and versions that are tried now. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toPage } from '../interop/mcp/page.ts';
import { versionOf } from '../interop/mcp/pinned-versions.ts';
import { readRecord } from '../interop/mcp/record.ts';
import { servers } from '../interop/mcp/servers.ts';

const record = readRecord();
const page = readFileSync(join(import.meta.dirname, '../../docs/mcp-servers.md'), 'utf8');

test('the page is the record', () => {
  expect(page).toBe(toPage(record));
});

test('the record has every server that is tried, in its pinned version', () => {
  const now = servers.map((server) => ({ name: server.name, from: server.from, version: versionOf(server) }));
  expect(record.map(({ name, from, version }) => ({ name, from, version }))).toEqual(now);
});

describe('each server', () => {
  test.each(servers.map((server) => [server.name, server] as const))('%s', (name, server) => {
    const { valid, invalid, failing, ended, error, transport } = record.find((each) => each.name === name)!;
    expect(error === undefined).toBe(server.fails === undefined);
    expect(valid).toBe(server.valid && true);
    expect(invalid !== undefined).toBe(server.invalid !== undefined);
    expect(failing !== undefined).toBe(server.failing !== undefined);
    expect(ended).toBe(transport === 'stdio' ? true : undefined);
  });
});

test('servers of MCP 2026-07-28 only, and of both kinds, are among them', () => {
  const modern = record.filter(({ revision }) => revision === '2026-07-28');
  const dual = modern.filter(({ olderRevision }) => olderRevision === '2025-11-25');
  expect(dual.length).toBeGreaterThan(2);
  expect(modern.filter(({ olderRevision }) => olderRevision === undefined)).toHaveLength(2);
});

test('more than twenty packages of the registries work', () => {
  const works = record.filter(({ from, valid }) => from !== 'own' && valid);
  expect(new Set(works.map((each) => each.package)).size).toBeGreaterThan(20);
});
