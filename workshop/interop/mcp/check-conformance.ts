/**
 * `npm run interop -- mcp-conformance`: runs MCP's official conformance suite at 2025-11-25 and 2026-07-28, against a served
 * environment and against `connectMcp`. A scenario fails unless each check passes or `not-claimed.ts` has its reason. A reason whose
 * checks all pass is out of date, and fails as well.
 */
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { openEnv } from '@toolenv/core';
import { serveMcp } from '@toolenv/mcp';
import { closing } from '../../closing.ts';
import { scratchFolder } from '../../scratch-folder.ts';
import { check } from '../check.ts';
import conformanceEnv from './conformance-env.ts';
import { notClaimed } from './not-claimed.ts';
import { npmPeer, type Peer } from './peers.ts';

/** The version that knows 2026-07-28. */
const version = '0.2.0-alpha.12';
const revisions = ['2025-11-25', '2026-07-28'] as const;
const controlToken = 'only-the-orchestrator-knows-this';
const root = join(import.meta.dirname, '../../..');

interface SuiteCheck {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
}

export async function checkConformance(): Promise<void> {
  const suite = npmPeer('@modelcontextprotocol/conformance', version, 'dist/index.js');
  await using scratch = await scratchFolder();
  await checkServer(suite, scratch.path);
  for (const revision of revisions) {
    const judge = new Judge(`client ${revision}`, notClaimed.client);
    for (const scenario of await scenariosOf(suite, 'Client', revision)) {
      const folder = join(scratch.path, `client-${revision}`, scenario.replace('/', '-'));
      judge.judge(scenario, await runClient(suite, scenario, revision, folder));
    }
    judge.finish();
  }
}

/** At 2025-11-25 with a session, at 2026-07-28 at the URL of an episode and at the endpoint whose tools need a handle. */
async function checkServer(suite: Peer, scratch: string): Promise<void> {
  await using env = await openEnv(conformanceEnv);
  await using open = closing(await serveMcp(env, { transport: { type: 'http' } }));
  await using controlled = closing(await serveMcp(env, { transport: { type: 'http', controlToken } }));
  const withHandles = { ...notClaimed.server, ...notClaimed.handles };
  const runs = [
    ['server', open.url!, '2025-11-25', notClaimed.server],
    ['server', await openEpisode(controlled.url!), '2026-07-28', notClaimed.server],
    ['server with handles', open.url!, '2026-07-28', withHandles],
  ] as const;
  for (const [side, url, revision, reasons] of runs) {
    const folder = join(scratch, `${side}-${revision}`);
    const args = ['server', '--url', url, '--suite', 'all', '--spec-version', revision];
    await runSuite(suite, [...args, '--output-dir', folder]);
    const judge = new Judge(`${side} ${revision}`, reasons);
    for (const scenario of await scenariosOf(suite, 'Server', revision))
      judge.judge(scenario, await readChecks(folder, `server-${scenario}`));
    judge.finish();
  }
}

async function openEpisode(url: string): Promise<string> {
  const headers = { authorization: `Bearer ${controlToken}` };
  const response = await fetch(new URL('/episodes', url), { method: 'POST', headers });
  return ((await response.json()) as { url: string }).url;
}

async function runClient(
  suite: Peer,
  scenario: string,
  revision: string,
  folder: string,
): Promise<SuiteCheck[]> {
  const script = join(import.meta.dirname, 'conformance-client.ts');
  const client = `"${process.execPath}" --import tsx --conditions=@toolenv/source "${script}"`;
  const args = ['client', '--command', client, '--scenario', scenario, '--spec-version', revision];
  await runSuite(suite, [...args, '--timeout', '60000', '--output-dir', folder]);
  return readChecks(folder, scenario);
}

/** What the suite prints. Its exit status says less than its files of checks. */
function runSuite({ command, args }: Peer, more: string[]): Promise<string> {
  const { stdout } = spawn(command, [...args, ...more], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
  return text(stdout);
}

/** The scenarios of a revision, without those of extensions. */
async function scenariosOf(suite: Peer, side: 'Server' | 'Client', revision: string): Promise<string[]> {
  const sections = (await runSuite(suite, ['list'])).split(/^(?=\w.* scenarios)/m);
  const section = sections.find((each) => each.startsWith(`${side} scenarios`)) ?? '';
  const lines = [...section.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)];
  if (lines.length === 0) throw new Error('The suite lists its scenarios in another way.');
  return lines.filter(([, , revisions]) => revisions!.split(',').includes(revision)).map(([, name]) => name!);
}

/** @param run Name of the run. The suite adds the time, and writes the checks in a folder of this name. */
async function readChecks(folder: string, run: string): Promise<SuiteCheck[]> {
  const parent = join(folder, dirname(run));
  const folders = await readdir(parent).catch(() => []);
  const name = folders.find((each) => each.startsWith(`${basename(run)}-2`));
  return name === undefined ? [] : JSON.parse(await readFile(join(parent, name, 'checks.json'), 'utf8'));
}

/** Compares the results of a run with what we claim. */
class Judge {
  readonly #title: string;
  readonly #reasons: Readonly<Record<string, string>>;
  /** What is not claimed, by its reason. */
  readonly #left = new Map<string, string[]>();

  constructor(title: string, reasons: Readonly<Record<string, string>>) {
    this.#title = title;
    this.#reasons = reasons;
  }

  judge(scenario: string, checks: readonly SuiteCheck[]): void {
    const title = `${this.#title}: ${scenario}`;
    const reason = this.#reasonOf(scenario);
    const failed = checks.filter(({ status }) => status === 'FAILURE');
    const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
    if (reason !== undefined) {
      if (failed.length > 0) this.#leave(scenario, reason);
      else check(false, title, `it passes: remove its reason from not-claimed.ts (${reason})`);
      return;
    }
    const known = Object.keys(this.#reasons).filter((key) => key.startsWith(`${scenario}:`));
    for (const key of known) {
      const stays = failed.some(({ id }) => `${scenario}:${id}` === key);
      if (stays) this.#leave(key, this.#reasons[key]!);
      else check(false, `${this.#title}: ${key}`, 'it passes: remove its reason from not-claimed.ts');
    }
    const wrong = failed.filter(({ id }) => !known.includes(`${scenario}:${id}`));
    const words = wrong.map(({ id, errorMessage }) => `${id}: ${errorMessage ?? 'failed'}`).join('; ');
    const holds = wrong.length === 0 && passed > 0;
    check(holds, `${title}: ${passed} checks`, words || 'no check passed');
  }

  finish(): void {
    for (const [reason, names] of this.#left)
      console.log(`        ${this.#title} does not claim ${names.join(', ')}: ${reason}`);
  }

  #leave(name: string, reason: string): void {
    this.#left.set(reason, [...(this.#left.get(reason) ?? []), name]);
  }

  #reasonOf(scenario: string): string | undefined {
    const family = (key: string) => key.endsWith('*') && scenario.startsWith(key.slice(0, -1));
    const key = Object.keys(this.#reasons).find((each) => each === scenario || family(each));
    return key === undefined ? undefined : this.#reasons[key];
  }
}
