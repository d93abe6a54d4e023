/** What a GPU does: training and rollout of large models on the fastest device that ONNX Runtime has here. */
import { spawnSync } from 'node:child_process';
import { ToolEnvError } from '@toolenv/core';
import { type Device, knownDevices, probeDevice } from '@toolenv/policy';
import { measureModel } from './measure-model.ts';

const largeSizes = ['100m', '500m'];
/** In the order of what they give, where there is more than one. */
const preferred = ['cuda', 'coreml', 'dml', 'webgpu'] as const;

/** @throws ToolEnvError `usage.device` if nothing but the CPU computes here. */
export async function measureGpu(
  asked: { size?: string; device?: Device },
  rounds: number,
): Promise<Record<string, unknown>> {
  const device = asked.device ?? findGpu();
  const results: Record<string, unknown>[] = [];
  for (const size of asked.size ? [asked.size] : largeSizes) {
    for (const name of ['train', 'rollout']) results.push(await measureModel(name, size, { rounds, device }));
  }
  return { name: 'gpu', device, gpu: nameOfGpu(), results };
}

function findGpu(): Device {
  const installed = knownDevices().flatMap(({ device, installed }) => (installed ? [device] : []));
  const reasons: string[] = [];
  for (const device of preferred.filter((one) => installed.includes(one))) {
    const probe = probeDevice(device);
    if (probe.runs) return device;
    reasons.push(`${device}: ${probe.why}`);
  }
  const why = reasons.join('; ') || 'none is installed';
  throw new ToolEnvError('usage.device', `No GPU computes here (${why}): toolenv doctor says more.`);
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
