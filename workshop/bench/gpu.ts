/** What a GPU does: training and rollout of large models on every device of ONNX Runtime that is faster than the CPU. */
import { spawnSync } from 'node:child_process';
import { ToolEnvError } from '@toolenv/core';
import { type Device, knownDevices, probeDevice } from '@toolenv/policy';
import { measureModel } from './measure-model.ts';

const largeSizes = ['100m', '500m'];

/** @throws ToolEnvError `usage.device` if nothing computes faster here than the CPU. */
export async function measureGpu(
  asked: { size?: string; device?: Device },
  rounds: number,
): Promise<Record<string, unknown>> {
  const devices = asked.device ? [asked.device] : findGpus();
  const results: Record<string, unknown>[] = [];
  for (const device of devices) {
    for (const size of asked.size ? [asked.size] : largeSizes) {
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
    // WebGPU may be software, with which a round of a small model did not end in nine minutes.
    else if (probe.gflops < least)
      reasons.push(`${device}: ${probe.gflops.toFixed(1)} GFLOP/s, and the CPU ${Math.round(least)}`);
    else found.push(device);
  }
  if (found.length > 0) return found;
  const why = reasons.join('; ') || 'none is installed';
  const message = `No GPU computes here (${why}): toolenv doctor says more, and --device measures one all the same.`;
  throw new ToolEnvError('usage.device', message);
}

/** As its driver calls it; `null` for those that are not NVIDIA's. */
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
