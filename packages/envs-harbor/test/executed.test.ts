/** What a verifier would execute is left behind, also Python's modules under the names of others. The names are those of this machine's Python. */
import { spawn, spawnSync } from 'node:child_process';
import { buffer } from 'node:stream/consumers';
import type { Container } from '@toolenv/sandbox/container';
import { expect, test } from 'vitest';
import type { VerifierSpec } from '../src/task/harbor-task.ts';
import { Executed, executedIn } from '../src/verify/executed.ts';

/** Runs the commands of a verifier on this machine. */
const here = {
  async exec(command: string, { env }: { env?: Record<string, string> } = {}) {
    const child = spawn('sh', ['-c', command], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const stdout = await buffer(child.stdout);
    return { stdout, exitCode: child.exitCode ?? 0, gone: false };
  },
} as unknown as Container;

const verifier = (env: Record<string, string>) => ({ user: '', env }) as unknown as VerifierSpec;

function sorted(executed: Executed, paths: readonly string[]) {
  return {
    left: paths.filter((path) => executed.has(path)),
    taken: paths.filter((path) => !executed.has(path)),
  };
}

const hasPython = spawnSync('python3', ['--version']).status === 0;

test.skipIf(!hasPython)(
  "a module that hides one of Python's is left behind, wherever it would be found first",
  async () => {
    const env = { HOME: '/home/me', PYTHONPATH: '/srv/lib:relative' };
    const executed = await executedIn({ container: here, folder: '/app/work' }, verifier(env));
    const left = [
      // Of the standard library, built in, and installed.
      ...['json.py', 'json', 'json/__init__.py', 'sys.py', 'unittest/case.py', 'pip/__init__.py'],
      // However a module is stored.
      ...['random.pyc', 'random.cpython-311-x86_64-linux-gnu.so'],
    ];
    const taken = [
      'solution.py',
      'data.json',
      'src/json.py',
      'json2.py',
      'my_json/__init__.py',
      'tests/test_app.py',
    ];
    for (const folder of ['/app/work', '/srv/lib', '/app/work/relative']) {
      const at = (names: readonly string[]) => names.map((name) => `${folder}/${name}`);
      expect(sorted(executed, at([...left, ...taken]))).toEqual({ left: at(left), taken: at(taken) });
    }
    // Python looks in neither.
    expect(sorted(executed, ['/app/json.py', '/data/json.py']).left).toEqual([]);
  },
);

test.skipIf(!hasPython)(
  'modules that Python imports unasked, and packages that name plugins, are left behind',
  async () => {
    const executed = await executedIn({ container: here, folder: '/app' }, verifier({ PYTHONPATH: '/app' }));
    const left = [
      ...['/app/sitecustomize.py', '/app/usercustomize/__init__.py'],
      ...['/app/evil-1.0.dist-info/entry_points.txt', '/app/evil.egg-info/entry_points.txt', '/app/evil.egg'],
    ];
    expect(sorted(executed, [...left, '/app/customize.py', '/app/info/dist-info.txt'])).toEqual({
      left,
      taken: ['/app/customize.py', '/app/info/dist-info.txt'],
    });
  },
);

test('programs, libraries and settings are left behind, and work is taken', () => {
  const executed = new Executed({
    folders: ['/opt/venv/bin'],
    home: '/home/me',
    workdir: '/app/work',
    moduleFolders: ['/app/work'],
    modules: new Set(['json']),
  });
  const left = [
    ...[
      '/usr/bin/cmp',
      '/etc/passwd',
      '/tests/test.sh',
      '/logs',
      '/logs/verifier/reward.txt',
      '/opt/venv/bin/python',
    ],
    ...['/root/.bashrc', '/home/me/.profile', '/conftest.py', '/pyproject.toml', '/app/work/json.py'],
    // uv reads them in the working folder and above it.
    ...['/app/work/uv.toml', '/app/uv.toml', '/uv.toml', '/app/work/.python-version'],
  ];
  const taken = [
    ...[
      '/usrlocal/x',
      '/logs/app.log',
      '/opt/data',
      '/root/out.txt',
      '/home/me/out.txt',
      '/home/you/.profile',
    ],
    ...['/app/work/pyproject.toml', '/app/conftest.py', '/data/uv.toml', '/app/work/sub/json.py'],
  ];
  expect(sorted(executed, [...left, ...taken])).toEqual({ left, taken });
});
