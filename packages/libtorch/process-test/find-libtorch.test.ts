/** Which PyTorch counts, of several Pythons and a fetched one: real Pythons answer for packages that have files and no code. */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { findLibtorch, locateLibtorch } from '../src/find-libtorch.ts';
import { libtorchEngines } from '../src/libtorch-engines.ts';

const python = process.env.TOOLENV_PYTHON || 'python3';

beforeEach(() => {
  for (const name of ['TOOLENV_LIBTORCH', 'TOOLENV_PYTHON', 'VIRTUAL_ENV', 'CONDA_PREFIX', 'PYTHONPATH'])
    vi.stubEnv(name, '');
});

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-libtorch-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'));
  return folder;
}

/** A package `torch` that cannot be imported: its libraries and its version are all that may be read. */
async function fakeTorch(folder: string, version: string, ...libraries: string[]): Promise<string> {
  const [lib, info] = [join(folder, 'torch/lib'), join(folder, `torch-${version}.dist-info`)];
  for (const each of [lib, info]) await mkdir(each, { recursive: true });
  await writeFile(join(info, 'METADATA'), `Metadata-Version: 2.1\nName: torch\nVersion: ${version}\n`);
  await writeFile(join(folder, 'torch/version.py'), `__version__ = '${version}+cpu'\n`);
  await writeFile(join(folder, 'torch/__init__.py'), "raise SystemExit('torch was imported')\n");
  for (const name of libraries) await writeFile(join(lib, name), 'not a library');
  return lib;
}

/** A Python that finds packages in a folder. */
async function pythonWith(packages: string, file: string): Promise<string> {
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, `#!/bin/sh\nPYTHONPATH='${packages}' exec '${python}' "$@"\n`);
  await chmod(file, 0o755);
  return file;
}

test.skipIf(process.platform === 'win32')(
  'the first Python with a PyTorch that is new enough counts',
  async () => {
    const folder = await scratch();
    const [old, conda, named] = ['old', 'conda', 'named'].map((name) => join(folder, name));
    await fakeTorch(join(old!, 'packages'), '2.9.1');
    const inConda = await fakeTorch(join(conda!, 'packages'), '2.10.0');
    const inNamed = await fakeTorch(join(named!, 'packages'), '2.15.0');
    vi.stubEnv('VIRTUAL_ENV', old!);
    await pythonWith(join(old!, 'packages'), join(old!, 'bin/python'));
    const condaPython = await pythonWith(join(conda!, 'packages'), join(conda!, 'bin/python'));
    vi.stubEnv('CONDA_PREFIX', conda!);
    const tooOld: string[] = [];
    expect(locateLibtorch(({ version }) => tooOld.push(version))).toEqual({
      folder: inConda,
      version: '2.10.0+cpu',
      source: `CONDA_PREFIX (${condaPython})`,
    });
    expect(tooOld).toEqual(['2.9.1+cpu']);

    vi.stubEnv('TOOLENV_PYTHON', await pythonWith(join(named!, 'packages'), join(named!, 'python')));
    expect(findLibtorch()).toBe(inNamed);
    vi.stubEnv('TOOLENV_LIBTORCH', inConda);
    expect(locateLibtorch()).toEqual({ folder: inConda, version: '2.10.0+cpu', source: 'TOOLENV_LIBTORCH' });
  },
);

test('what was fetched counts last, and an old PyTorch alone is named', async () => {
  const folder = await scratch();
  vi.stubEnv('PATH', join(folder, 'bin'));
  const packages = join(folder, 'packages');
  await fakeTorch(packages, '2.9.1');
  if (process.platform !== 'win32') {
    vi.stubEnv('PATH', [join(folder, 'bin'), process.env.PATH, '/usr/bin', '/bin'].join(delimiter));
    vi.stubEnv('TOOLENV_PYTHON', await pythonWith(packages, join(folder, 'bin/named')));
    expect(() => findLibtorch()).toThrow(/TOOLENV_PYTHON \(.*named\) has 2\.9\.1\+cpu, and 2\.10 is needed/);
    const [row] = await libtorchEngines();
    expect(row).toMatchObject({ available: false, remedy: 'toolenv engine install libtorch' });
  }
  const fetched = await fakeTorch(join(folder, 'cache/toolenv/libtorch/2.15.0'), '2.15.0');
  expect(locateLibtorch()).toEqual({
    folder: fetched,
    version: '2.15.0+cpu',
    source: 'toolenv engine install libtorch',
  });
});

test('a folder named torch here is no PyTorch', async () => {
  const folder = await scratch();
  await mkdir(join(folder, 'torch/lib'), { recursive: true });
  const before = process.cwd();
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
  expect(locateLibtorch()?.folder ?? '').not.toContain(folder);
});

test('a PyTorch that does not load, and a build for another device, are rows with their reasons', async () => {
  const lib = await fakeTorch(await scratch(), '2.15.0', 'libtorch_cpu.so', 'libtorch_cuda.so');
  vi.stubEnv('TOOLENV_LIBTORCH', lib);
  const [cpu, cuda] = await libtorchEngines();
  expect(cpu).toMatchObject({
    engine: 'libtorch cpu',
    available: false,
    about: expect.stringMatching(
      /^PyTorch 2\.15\.0\+cpu of TOOLENV_LIBTORCH does not work: .*cannot be used/,
    ),
  });
  expect(cuda).toMatchObject({
    engine: 'libtorch cuda',
    available: false,
    about: expect.stringContaining('not supported yet'),
  });
});
