/** `toolenv engine`: what this machine really computes with, what a Python has, and what is fetched if asked. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EngineReport } from '@toolenv/core/plugins';
import { afterEach, expect, it, vi } from 'vitest';
import { standInIndex } from '../../../libtorch/test/stand-in-index.ts';
import { runCli } from '../../test/run-cli.ts';

afterEach(() => vi.unstubAllEnvs());

it('lists every engine, and says what is missing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-engine-'));
  const python = join(folder, 'python');
  // It has vLLM, and no PyTorch.
  const answer = '{"version": "0.19.0", "folder": "/nowhere/vllm"}';
  await writeFile(python, `#!/bin/sh\nif [ "$3" = vllm ]; then echo '${answer}'; fi\n`);
  await chmod(python, 0o755);
  for (const name of ['TOOLENV_LIBTORCH', 'VIRTUAL_ENV', 'CONDA_PREFIX']) vi.stubEnv(name, '');
  vi.stubEnv('TOOLENV_PYTHON', python);
  vi.stubEnv('PATH', folder);
  vi.stubEnv('XDG_CACHE_HOME', folder);
  const { code, stdout } = await runCli('engine', '--json');
  expect(code).toBe(0);
  const engines = JSON.parse(stdout) as EngineReport[];
  const named = (name: string) => engines.find(({ engine }) => engine === name);
  expect(named('ONNX Runtime cpu')).toMatchObject({
    available: true,
    about: expect.stringMatching(/^[\d.]+ GFLOP\/s/),
  });
  expect(named('ONNX Runtime webgpu')).toBeDefined();
  expect(named('TensorFlow.js')).toMatchObject({ available: true, flags: '--runtime tfjs' });
  expect(named('libtorch cpu')).toEqual({
    engine: 'libtorch cpu',
    flags: '--runtime libtorch',
    available: false,
    about: 'no PyTorch was found',
    remedy: 'toolenv engine install libtorch',
  });
  expect(named('vLLM')).toMatchObject({
    available: true,
    about: expect.stringContaining(`0.19.0 of ${python}`),
  });
});

/** A machine without Python. @returns Its folder for caches. */
async function emptyMachine(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-engine-'));
  for (const name of ['TOOLENV_LIBTORCH', 'TOOLENV_PYTHON', 'VIRTUAL_ENV', 'CONDA_PREFIX'])
    vi.stubEnv(name, '');
  vi.stubEnv('PATH', folder);
  vi.stubEnv('XDG_CACHE_HOME', folder);
  return folder;
}

it('names the PyTorch that is here already, and fetches nothing', async () => {
  const cache = await emptyMachine();
  const lib = join(cache, 'torch/lib');
  await mkdir(lib, { recursive: true });
  await writeFile(join(cache, 'torch/version.py'), "__version__ = '2.12.0+cpu'\n");
  vi.stubEnv('TOOLENV_LIBTORCH', lib);
  const { code, stdout } = await runCli('engine', 'install', 'libtorch');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `PyTorch 2.12.0+cpu of TOOLENV_LIBTORCH is here already, and is used: ${lib}\n`,
  });
  const json = await runCli('engine', 'install', 'libtorch', '--json');
  expect(JSON.parse(json.stdout)).toEqual({
    folder: lib,
    version: '2.12.0+cpu',
    source: 'TOOLENV_LIBTORCH',
    installed: false,
  });
});

it.skipIf(process.platform !== 'linux')('fetches nothing that nobody has agreed to', async () => {
  const cache = await emptyMachine();
  const { code, stdout, stderr } = await runCli('engine', 'install', 'libtorch');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(
    /^toolenv: toolenv engine install libtorch would fetch torch 2\.15\.0, nvidia-cuda-cupti 13\.2\.86, nvidia-cuda-runtime 13\.2\.86 \(about \d+ MB\) by https into .*\/toolenv\/libtorch\/2\.15\.0\. PyTorch is under the BSD-3-Clause licence; NVIDIA's packages have NVIDIA's own licence\. Give --yes\.\n$/,
  );
  expect(existsSync(join(cache, 'toolenv'))).toBe(false);
});

it.skipIf(process.platform !== 'linux')(
  'fetches with --yes, and keeps no library that does not load',
  async () => {
    const cache = await emptyMachine();
    const { index, requests } = await standInIndex();
    const { code, stderr } = await runCli('engine', 'install', 'libtorch', '--yes', '--index', index);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^Fetching torch 2\.15\.0, .* by https into /);
    expect(stderr).toContain('Downloading torch at 2.15.0:');
    expect(stderr).toMatch(/\ntoolenv: .*libtorch_cpu\.so cannot be used /);
    expect(requests).toHaveLength(6);
    expect(existsSync(join(cache, 'toolenv/libtorch/2.15.0'))).toBe(false);
  },
);

it.each([
  [['engine', 'install'], 'name what to install, as in toolenv engine install libtorch'],
  [['engine', 'install', 'jax'], 'libtorch'],
  [['engine', 'remove', 'libtorch'], 'install'],
  [['engine', 'install', 'libtorch', '--by', 'uv'], 'there is no uv here. Give --by https.'],
  [['engine', 'install', 'libtorch', '--index', 'http://example.com'], 'is no address of HTTPS'],
])('refuses %j in one line', async (args, message) => {
  await emptyMachine();
  const { code, stdout, stderr } = await runCli(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});
