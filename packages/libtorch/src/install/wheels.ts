/** The wheels of PyTorch whose libraries this package needs, and which of their files these are. */
import { ToolEnvError } from '@toolenv/core';
import { testedVersion } from '../torch-versions.ts';

/** A package of an index, in one version. */
export interface Pinned {
  name: string;
  version: string;
}

/** Wheels for one system. */
export interface WheelSet {
  /** Of PyTorch. */
  torch: Pinned;
  /** Of CUDA's runtime and profiler, without which the libraries of a build for CUDA do not load, also on the CPU. */
  cuda: readonly Pinned[];
  /** Matches the tag of the system in the name of a wheel. */
  tag: RegExp;
  /** About so many bytes are fetched from PyPI. */
  bytes: number;
}

const torch = { name: 'torch', version: testedVersion };
const cuda = ['nvidia-cuda-cupti', 'nvidia-cuda-runtime'].map((name) => ({ name, version: '13.2.86' }));
const megabyte = 1e6;

const sets: Readonly<Record<string, WheelSet>> = {
  'linux x64': { torch, cuda, tag: /manylinux\w*_x86_64$/, bytes: 553 * megabyte },
  'linux arm64': { torch, cuda, tag: /manylinux\w*_aarch64$/, bytes: 498 * megabyte },
  'darwin arm64': { torch, cuda: [], tag: /macosx_\d+_\d+_arm64$/, bytes: 139 * megabyte },
  'win32 x64': { torch, cuda: [], tag: /win_amd64$/, bytes: 127 * megabyte },
};

/** @throws ToolEnvError `usage.libtorch` for a system that PyTorch has no wheels for. */
export function wheelSet(platform: string = process.platform, arch: string = process.arch): WheelSet {
  const found = sets[`${platform} ${arch}`];
  if (found && !(platform === 'linux' && process.platform === 'linux' && isMusl())) return found;
  const system = found ? 'Linux with musl' : `${platform} on ${arch}`;
  const message = `PyTorch has no wheels for ${system}: build it, and set TOOLENV_LIBTORCH to its folder of libraries.`;
  throw new ToolEnvError('usage.libtorch', message);
}

function isMusl(): boolean {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime === undefined;
}

/** Libraries of PyTorch that compute on the CPU; those of GPUs and of Python are left out. */
const ofTorch = /^torch\/lib\/(?!\w*(?:cuda|nvrtc|nvshmem|python))[\w.+-]+\.(?:so(?:\.[\d.]+)?|dylib|dll)$/;
const ofCuda = /^nvidia\/(?:[\w-]+\/)+lib(?:cudart|cupti)\.so[\d.]*$/;
const licences = /^[\w.+-]+\.dist-info\/(?:licenses\/)?licen[cs]e[\w.-]*$/i;

/** Whether a file of a wheel is needed. @param path With `/` between its parts. */
export function isNeeded(path: string): boolean {
  return path === 'torch/version.py' || [ofTorch, ofCuda, licences].some((pattern) => pattern.test(path));
}
