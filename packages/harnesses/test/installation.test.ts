import { chmod, mkdir, mkdtemp, realpath, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { installationOf } from '../src/installation.ts';

afterEach(() => vi.unstubAllEnvs());

/** A folder with packages: name → what its package.json has beside. */
async function installed(packages: Record<string, object>): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'installation-')));
  for (const [name, rest] of Object.entries(packages)) {
    const folder = join(root, 'node_modules', name);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), JSON.stringify({ name, ...rest }));
    await writeFile(join(folder, 'main.js'), '');
  }
  return root;
}

async function link(root: string, name: string, to: string): Promise<void> {
  const bin = join(root, 'node_modules', '.bin');
  await mkdir(bin, { recursive: true });
  await chmod(join(root, 'node_modules', to), 0o755);
  await symlink(join('..', to), join(bin, name));
  vi.stubEnv('PATH', bin);
}

test('a program of npm has its package and what that depends on, and no neighbour', async () => {
  const root = await installed({
    '@you/agent': { dependencies: { one: '1' }, optionalDependencies: { 'not-installed': '1' } },
    one: { peerDependencies: { two: '1' } },
    'one/node_modules/inner': {},
    two: { dependencies: { one: '1' } },
    secrets: {},
  });
  await link(root, 'agent', '@you/agent/main.js');
  const at = (name: string) => join(root, 'node_modules', name);
  expect(installationOf('agent')).toEqual([at('.bin'), at('@you/agent'), at('one'), at('two')]);
});

test('another program is a file, and its folder stays hidden', async () => {
  const root = await installed({ x: {} });
  const file = join(root, 'agent.sh');
  await writeFile(file, '', { mode: 0o755 });
  expect(installationOf(file)).toEqual([file, file]);
  vi.stubEnv('PATH', dirname(file));
  expect(installationOf('agent.sh')).toEqual([file, file]);
});

test('a program that is not there has nothing', () => {
  vi.stubEnv('PATH', '/nowhere');
  expect(installationOf('agent')).toEqual([]);
  expect(installationOf('/nowhere/agent')).toEqual([]);
});
