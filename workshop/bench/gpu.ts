/** `npm run bench -- gpu`: training and rollout of large models on every device of ONNX Runtime that is faster than the CPU. */
import { spawnSync } from 'node:child_process';
import { ToolEnvError } from '@toolenv/core';
import { type Device, knownDevices, probeDevice } from '@toolenv/policy';
import { measureModel } from './measure-model.ts';

const largeSizes = ['100m', '500m'];

/** @throws ToolEnvError `usage.device` if no device of this machine is faster than the CPU. */
export async function measureGpu(
  choice: { size?: string; device?: Device },
  rounds: number,
): Promise<Record<string, unknown>> {
  const devices = choice.device ? [choice.device] : findGpus();
  const results: Record<string, unknown>[] = [];
  for (const device of devices) {
    for (const size of choice.size ? [choice.size] : largeSizes) {
      for (const name of ['train', 'rollout'])
        results.push(await measureModel(name, size, { rounds, device }));
    }
  }
  return { name: 'gpu', devices, gpu: nameOfGpu(), results };
}

function findGpus(): Device[] {
  const installed = knownDevices().flatMap(({ device, installed }) => (installed ? [device] : []));
  const cpu = probeDevice('cpu');
  const least = cpu.runs ? cpu.gflops : 0;
  const found: Device[] = [];
  const reasons: string[] = [];
  for (const device of installed.filter((one) => one !== 'cpu')) {
    const probe = probeDevice(device);
    if (!probe.runs) reasons.push(`${device}: ${probe.why}`);
    // WebGPU may run in software: then a round of a small model did not finish within nine minutes.
    else if (probe.gflops < least)
      reasons.push(`${device}: ${probe.gflops.toFixed(1)} GFLOP/s, but the CPU ${Math.round(least)}`);
    else found.push(device);
  }
  if (found.length > 0) return found;
  const why = reasons.join('; ') || 'none is installed';
  const message = `No GPU can be used (${why}): toolenv doctor says more, and --device measures a device in any case.`;
  throw new ToolEnvError('usage.device', message);
}

/** Name and driver version of an NVIDIA GPU; `null` for other GPUs. */
function nameOfGpu(): string | null {
  const { status, stdout } = spawnSync(
    'nvidia-smi',
    ['--query-gpu=name,driver_version', '--format=csv,noheader'],
    {
      encoding: 'utf8',
    },
  );
  return status === 0 ? stdout.trim() : null;
}
