/** libtorchEngines: what libtorch gives on this machine, and the precision that suits it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '@toolenv/core';
import type { EngineReport } from '@toolenv/core/plugins';
import { type FoundLibtorch, findLibtorch, installCommand, locateLibtorch } from './find-libtorch.ts';
import { fasterPrecision, type ProductTimes } from './product-times.ts';
import { minVersion } from './torch-versions.ts';
import { tryLibtorch } from './try-libtorch.ts';

/** Builds of PyTorch for other devices, by the library that each has. */
const otherBuilds = [
  ['cuda', ['libtorch_cuda.so', 'torch_cuda.dll']],
  ['rocm', ['libtorch_hip.so', 'torch_hip.dll']],
  ['xpu', ['libtorch_xpu.so', 'torch_xpu.dll']],
] as const;

/** A row for the CPU, and one for each other device that the PyTorch of this machine is built for. Takes two seconds. */
export async function libtorchEngines(): Promise<EngineReport[]> {
  const cpu = { engine: 'libtorch cpu', flags: '--runtime libtorch' };
  const tooOld: FoundLibtorch[] = [];
  const found = locateLibtorch((old) => tooOld.push(old));
  if (!found) {
    const old = tooOld.map(({ source, version }) => `${source} has PyTorch ${version}`).join(', ');
    const about = old ? `${old}, and ${minVersion.join('.')} is needed` : 'no PyTorch was found';
    return [{ ...cpu, available: false, about, remedy: installCommand }];
  }
  const named = `PyTorch ${found.version || 'of unknown version'} of ${found.source}`;
  try {
    const { version, times } = await tryLibtorch(found.folder);
    const about = `${found.version ? named : `PyTorch ${version} of ${found.source}`}: ${timesText(times)}`;
    return [{ ...cpu, available: true, about }, ...otherEngines(found.folder)];
  } catch (error) {
    const about = `${named} does not work: ${messageOf(error).replaceAll('\n', ' ')}`;
    return [{ ...cpu, available: false, about }, ...otherEngines(found.folder)];
  }
}

function otherEngines(folder: string): EngineReport[] {
  const built = otherBuilds.flatMap(([device, files]) =>
    files.some((file) => existsSync(join(folder, file))) ? [device] : [],
  );
  const isApple = process.platform === 'darwin' && process.arch === 'arm64';
  return [...built, ...(isApple ? ['mps'] : [])].map((device) => ({
    engine: `libtorch ${device}`,
    flags: '',
    available: false,
    about: `this PyTorch is built for it; computing on it is not supported yet`,
  }));
}

/** What `--precision auto` takes, and why. */
export interface ChosenPrecision {
  precision: 'float32' | 'bfloat16';
  /** The times that decided. */
  why: string;
}

/**
 * Measures products of matrices in a process of its own, as training computes them.
 * @param options `threads` compute one operation. Default: OpenMP's choice.
 * @throws ToolEnvError as `libtorchRuntime` does.
 */
export async function choosePrecision({
  threads,
}: {
  threads?: number | undefined;
} = {}): Promise<ChosenPrecision> {
  const { times } = await tryLibtorch(findLibtorch(), threads);
  return { precision: fasterPrecision(times), why: timesText(times) };
}

/** `a matrix product takes 3.1 ms in bfloat16 and 9.8 ms in float32`. */
function timesText({ float32, bfloat16 }: ProductTimes): string {
  return `a matrix product takes ${bfloat16.toFixed(1)} ms in bfloat16 and ${float32.toFixed(1)} ms in float32`;
}
