/** The usual port of a page, and the browser that is to show it. */

import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { portOf, usualPorts } from '../../src/commands/open-page.ts';
import { startCli } from '../../test/start-cli.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-open-'));
  await mkdir(join(folder, 'run'));
  await writeFile(join(folder, 'run/metrics.jsonl'), '');
});
afterAll(() => rm(folder, { recursive: true }));

it('a page has its usual port, another if that is taken, and the port that was given', async () => {
  const server = createServer();
  const isFree = await new Promise((resolve) => {
    server.once('error', () => resolve(false)).listen(usualPorts.view, '127.0.0.1', () => resolve(true));
  });
  // Another program of this machine may have the port already.
  expect(await portOf('view', undefined)).toBe(0);
  if (isFree) {
    server.close();
    await once(server, 'close');
    expect(await portOf('view', undefined)).toBe(usualPorts.view);
  }
  expect(await portOf('view', 0)).toBe(0);
  expect(await portOf('view', 8123)).toBe(8123);
});

/** Starts `toolenv view --open` where this program opens pages; ends it once it has said or opened something. */
async function viewWith(
  opener: string | undefined,
): Promise<{ stdout: string; stderr: string; opened: string }> {
  const bin = await mkdtemp(join(tmpdir(), 'toolenv-opener-'));
  onTestFinished(() => rm(bin, { recursive: true }));
  const log = join(bin, 'opened.txt');
  if (opener !== undefined) {
    await writeFile(join(bin, 'xdg-open'), `#!/bin/sh\n${opener.replace('LOG', log)}\n`);
    await chmod(join(bin, 'xdg-open'), 0o755);
  }
  const system = opener === undefined ? [] : [process.env.PATH];
  const env = { ...process.env, PATH: [bin, ...system].join(delimiter) };
  const { child, finished } = startCli(['view', join(folder, 'run'), '--port', '0', '--open'], folder, env);
  let written = '';
  child.stderr!.on('data', (text: string) => {
    written += text;
  });
  const opened = () => readFile(log, 'utf8').catch(() => '');
  await vi.waitUntil(async () => written !== '' || (await opened()).endsWith('\n'), 20_000);
  child.kill('SIGINT');
  const { stdout, stderr } = await finished;
  return { stdout, stderr, opened: await opened() };
}

it.skipIf(process.platform !== 'linux')('--open opens the page, or says that it cannot', async () => {
  const good = await viewWith('echo "$1" > LOG');
  const [url] = /^http:\/\/127\.0\.0\.1:\d+\//.exec(good.stdout)!;
  expect(good.opened).toBe(`${url}\n`);
  expect(good.stderr).not.toContain('xdg-open');
  expect((await viewWith('exit 3')).stderr).toMatch(
    /^xdg-open opened no browser \(exit code 3\): open http:\S+ yourself\.\n/,
  );
  expect((await viewWith(undefined)).stderr).toMatch(
    /^xdg-open opened no browser \(.*ENOENT.*\): open http:\S+ yourself\.\n/,
  );
});
