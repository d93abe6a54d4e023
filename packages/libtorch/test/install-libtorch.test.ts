/** PyTorch's libraries from a package index over HTTP, and indexes and wheels that misbehave. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { zip } from '../../core/test/zip.ts';
import { type InstallOptions, planInstall } from '../src/install/install-libtorch.ts';
import { unpackWheel } from '../src/install/unpack-wheel.ts';
import { files, standInIndex } from './stand-in-index.ts';

let cache: string;
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'toolenv-install-'));
  onTestFinished(() => rm(cache, { recursive: true, force: true }));
  vi.stubEnv('XDG_CACHE_HOME', cache);
});

const installed = () => join(cache, 'toolenv/libtorch/2.15.0');

/** The libraries of the stand-in do not load. */
const loads = async () => {};

function install(index: string, more: InstallOptions = {}): Promise<void> {
  return planInstall({ index, by: 'https', check: loads, silence: 2000, ...more }).run();
}

async function filesOf(folder: string): Promise<string[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  return all
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort();
}

describe.skipIf(process.platform !== 'linux')('by uv', () => {
  /** A program that installs files as uv does: it gets the folder after --target. */
  async function standInUv(last: string): Promise<void> {
    const bin = join(cache, 'bin');
    await mkdir(bin);
    const lines = [
      '#!/bin/sh',
      'case "$*" in *--version*) exit 0;; esac',
      'while [ "$1" != --target ]; do shift; done',
      'cd "$2" 2>/dev/null || { mkdir -p "$2" && cd "$2"; }',
      'mkdir -p torch/lib torch-2.15.0.dist-info/licenses',
      'echo "__version__ = \'2.15.0+cpu\'" > torch/version.py',
      'echo cpu > torch/lib/libtorch_cpu.so',
      'echo cuda > torch/lib/libtorch_cuda.so',
      'echo BSD > torch-2.15.0.dist-info/licenses/LICENSE',
      last,
    ];
    await writeFile(join(bin, 'uv'), lines.join('\n'), { mode: 0o755 });
    vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
  }

  test('keeps the libraries and the licences, and passes by folders of their names', async () => {
    await standInUv('');
    await planInstall({ by: 'uv', check: loads }).run();
    expect(await filesOf(installed())).toEqual([
      'torch-2.15.0.dist-info/licenses/LICENSE',
      'torch/lib/libtorch_cpu.so',
      'torch/version.py',
    ]);
    expect((await readdir(join(cache, 'toolenv/libtorch'))).sort()).toEqual(['2.15.0']);
  });

  test('leaves nothing installed if uv fails', async () => {
    await standInUv('exit 3');
    await expect(planInstall({ by: 'uv', check: loads }).run()).rejects.toMatchObject({
      code: 'infrastructure.installer',
      message: expect.stringContaining('(exit code 3)'),
    });
    expect(existsSync(installed())).toBe(false);
  });
});

describe.skipIf(process.platform !== 'linux')('over HTTPS', () => {
  test('says what it will fetch, and fetches nothing before', async () => {
    const { index, requests } = await standInIndex();
    const plan = planInstall({ index, by: 'https' });
    expect(plan).toMatchObject({
      by: 'https',
      folder: installed(),
      packages: ['torch 2.15.0', 'nvidia-cuda-cupti 13.2.86', 'nvidia-cuda-runtime 13.2.86'],
      licence: expect.stringContaining('BSD-3-Clause'),
    });
    expect(plan.bytes).toBeGreaterThan(4e8);
    expect(requests).toEqual([]);
    expect(existsSync(installed())).toBe(false);
  });

  test('keeps the libraries alone, and nothing of the wheels', async () => {
    const { index } = await standInIndex();
    await install(index);
    expect(await filesOf(installed())).toEqual([
      'nvidia/cu13/lib/libcudart.so.13',
      'nvidia/cu13/lib/libcupti.so.13',
      'torch/lib/libtorch_cpu.so',
      'torch/version.py',
    ]);
    expect(await readFile(join(installed(), 'torch/lib/libtorch_cpu.so'), 'utf8')).toBe(
      files['torch/lib/libtorch_cpu.so'],
    );
    expect((await readdir(join(cache, 'toolenv/libtorch'))).sort()).toEqual(['2.15.0']);
  });

  test('goes on where a dropped connection has ended, also in a later call', async () => {
    const broken = await standInIndex({ cutAfter: 0 });
    await expect(install(broken.index)).rejects.toMatchObject({ code: 'infrastructure.download' });
    const dropping = await standInIndex({ cutAfter: 300 });
    await install(dropping.index);
    const ranges = dropping.requests.filter((each) => each.includes('bytes='));
    expect(ranges.length).toBeGreaterThan(0);
    expect(existsSync(installed())).toBe(true);
  });

  test('discards a wheel with another digest, and leaves nothing installed', async () => {
    const { index } = await standInIndex({ digest: 'a'.repeat(64) });
    await expect(install(index)).rejects.toMatchObject({
      code: 'infrastructure.wheel_digest',
      message: expect.stringMatching(
        /torch-2\.15\.0.* arrived with the SHA-256 digest [0-9a-f]{64}, and not a{64}/,
      ),
    });
    expect(await filesOf(join(cache, 'toolenv/libtorch'))).toEqual([]);
    const { index: honest } = await standInIndex();
    await install(honest);
    expect(existsSync(installed())).toBe(true);
  });

  test('gives up on an index that never answers', async () => {
    const { index } = await standInIndex({ isSilent: true });
    await expect(install(index, { silence: 200 })).rejects.toMatchObject({
      code: 'infrastructure.package_index',
      message: expect.stringContaining('no answer for 0.2 seconds'),
    });
  });

  test.each([
    ['text/html', '<a href="torch.whl">', 'it has no JSON API (PEP 691)'],
    ['application/json', '{"files": [', 'cannot be used'],
    ['application/json', '{"files": 3}', 'has no wheel of torch 2.15.0 for this system'],
    ['application/json', `"${' '.repeat(33 * 2 ** 20)}"`, 'more than 33554432 bytes'],
  ])('refuses a page of %s', async (type, body, message) => {
    const { index } = await standInIndex({ page: [type, body] });
    await expect(install(index)).rejects.toMatchObject({ message: expect.stringContaining(message) });
  });

  test('refuses files without a digest, and addresses without TLS', async () => {
    const tag = `manylinux_2_28_${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}`;
    const page = (file: object): [string, string] => {
      const entry = { filename: `torch-2.15.0-cp312-cp312-${tag}.whl`, url: 'torch.whl', size: 9, ...file };
      return ['application/json', JSON.stringify({ files: [entry] })];
    };
    const without = await standInIndex({ page: page({}) });
    await expect(install(without.index)).rejects.toThrow(
      'it gives no SHA-256 digest and size of torch-2.15.0',
    );
    const plain = await standInIndex({ page: page({ url: 'http://example.com/torch.whl' }) });
    await expect(install(plain.index)).rejects.toThrow('http://example.com/torch.whl is no address of HTTPS');
    expect(() => planInstall({ index: 'http://example.com/simple' })).toThrow('is no address of HTTPS');
  });

  test('removes libraries that do not load', async () => {
    const { index } = await standInIndex();
    const check = () => Promise.reject(new Error('it does not load'));
    await expect(install(index, { check })).rejects.toThrow('it does not load');
    expect(await readdir(join(cache, 'toolenv/libtorch'))).toEqual([]);
  });
});

describe('a wheel', () => {
  const unpack = async (wheel: Buffer, most?: number) => {
    const file = join(cache, 'torch.whl');
    await writeFile(file, wheel);
    const folder = join(cache, 'out');
    const error = await unpackWheel(file, folder, { most }).catch((each: Error) => each);
    return { error, found: existsSync(folder) ? await filesOf(folder) : [] };
  };

  test('with a path out of its folder is refused', async () => {
    const { error, found } = await unpack(zip({ '../torch/lib/libtorch_cpu.so': 'evil', ...files }));
    expect(error).toMatchObject({
      code: 'infrastructure.wheel',
      message: expect.stringContaining('cannot be unpacked (invalid relative path'),
    });
    expect(found).toEqual([]);
    expect(existsSync(join(cache, 'torch'))).toBe(false);
  });

  test('that unpacks to more than any wheel is refused before anything is written', async () => {
    const bomb = zip({ 'torch/lib/libtorch_cpu.so': Buffer.alloc(1 << 20) });
    const { error, found } = await unpack(bomb, 1 << 19);
    expect(error).toMatchObject({ message: expect.stringContaining('larger than any wheel of PyTorch') });
    expect(found).toEqual([]);
  });

  test('that unpacks to more than it says is refused', async () => {
    const liar = zip(
      { 'torch/lib/libtorch_cpu.so': Buffer.alloc(1 << 24) },
      { 'torch/lib/libtorch_cpu.so': 100 },
    );
    const { error } = await unpack(liar);
    expect(error).toMatchObject({ code: 'infrastructure.wheel' });
  });

  test('that is cut off is refused', async () => {
    const { error } = await unpack(zip(files).subarray(0, -30));
    expect(error).toMatchObject({ code: 'infrastructure.wheel' });
  });
});
