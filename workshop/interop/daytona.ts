/** `npm run interop -- daytona`: installs Daytona's client into a folder of its own, and runs its tests against a stand-in of the service. */
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { daytonaClient } from '../../packages/sandbox/src/remote/daytona-v1.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { check } from './check.ts';

const test = 'packages/sandbox/process-test/daytona.test.ts';

export async function checkDaytona(): Promise<void> {
  await using folder = await scratchFolder();
  await writeFile(join(folder.path, 'package.json'), '{ "private": true }');
  const name = `${daytonaClient.name}@${daytonaClient.version}`;
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', name];
  const installed = spawnSync('npm', install, { cwd: folder.path, encoding: 'utf8' });
  check(installed.status === 0, `${name} is installed`, installed.stderr);
  const env = { ...process.env, DAYTONA_CLIENT: folder.path };
  const vitest = ['vitest', 'run', test];
  const { status } = spawnSync('npx', vitest, { env, stdio: ['ignore', 'inherit', 'inherit'] });
  check(status === 0, `${test} passes`, `it ends with ${status}`);
}
