/** Which wheels are fetched, and which of their files are kept. */
import { expect, test } from 'vitest';
import { installWords } from '../src/install/python-installer.ts';
import { isNeeded, wheelSet } from '../src/install/wheels.ts';

test('keeps the libraries that compute on the CPU, the version and the licences', () => {
  const needed = [
    'torch/lib/libtorch_cpu.so',
    'torch/lib/libc10.so',
    'torch/lib/libgomp.so.1',
    'torch/lib/libgfortran.so.5',
    'torch/lib/libtorch_cpu.dylib',
    'torch/lib/libomp.dylib',
    'torch/lib/torch_cpu.dll',
    'torch/version.py',
    'torch-2.15.0.dist-info/licenses/LICENSE',
    'nvidia/cu13/lib/libcudart.so.13',
    'nvidia/cu13/lib/libcupti.so.13',
    'nvidia_cuda_cupti-13.2.86.dist-info/licenses/License.txt',
  ];
  expect(needed.filter((path) => !isNeeded(path))).toEqual([]);
  const others = [
    'torch/lib/libtorch_cuda.so',
    'torch/lib/libtorch_cuda_linalg.so',
    'torch/lib/libc10_cuda.so',
    'torch/lib/libcaffe2_nvrtc.so',
    'torch/lib/libtorch_nvshmem.so',
    'torch/lib/libtorch_python.so',
    'torch/lib/../../evil.so',
    '../torch/lib/libtorch_cpu.so',
    '/torch/lib/libtorch_cpu.so',
    'torch/lib/deeper/libtorch_cpu.so',
    'torch/__init__.py',
    'torch/bin/protoc',
    'nvidia/cu13/lib/libnvperf_host.so',
    'nvidia/../lib/libcudart.so.13',
  ];
  expect(others.filter(isNeeded)).toEqual([]);
});

test('knows the wheels of each system that PyTorch is built for', () => {
  expect(wheelSet('darwin', 'arm64')).toMatchObject({
    torch: { name: 'torch', version: '2.15.0' },
    cuda: [],
  });
  expect(wheelSet('win32', 'x64').tag.test('torch-2.15.0-cp312-cp312-win_amd64')).toBe(true);
  if (process.platform === 'linux') {
    const { cuda, tag } = wheelSet('linux', 'x64');
    expect(cuda.map(({ name }) => name)).toEqual(['nvidia-cuda-cupti', 'nvidia-cuda-runtime']);
    expect(tag.test('nvidia_cuda_runtime-13.2.86-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64')).toBe(
      true,
    );
    expect(tag.test('torch-2.15.0-cp312-cp312-manylinux_2_28_aarch64')).toBe(false);
  }
  expect(() => wheelSet('sunos', 'x64')).toThrow('PyTorch has no wheels for sunos on x64');
});

test('asks uv and pip for wheels alone, without what they depend on', () => {
  const torch = [{ name: 'torch', version: '2.15.0' }];
  const words = (name: 'uv' | 'pip', command: string[], index?: string) =>
    installWords({ name, command }, torch, { folder: 'out', index }).join(' ');
  expect(words('pip', ['python3', '-m', 'pip'])).toBe(
    'python3 -m pip install --only-binary=:all: --no-deps --target out --python-version 3.12 torch==2.15.0',
  );
  expect(words('uv', ['uv'], 'https://example.com/simple')).toBe(
    'uv pip install --only-binary :all: --no-deps --target out --python-version 3.12 --default-index https://example.com/simple torch==2.15.0',
  );
});
