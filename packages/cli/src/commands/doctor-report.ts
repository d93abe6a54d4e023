/** What this machine has to compute with, and what of it works. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, availableParallelism, cpus, platform, release } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { importPackage } from '../run/import-package.ts';
import { type MachineMemory, machineMemory } from '../run/machine-memory.ts';

/** The part of `@toolenv/policy` that the command uses. */
interface PolicyPackage {
  knownDevices(): { device: string; installed: boolean }[];
  chooseDevice(asked: 'auto'): string;
  probeDevice(device: string): Probe;
}

/** `gflops`: 10⁹ operations per second in products of two 512 × 512 matrices. */
type Probe = { runs: true; gflops: number; threads?: number } | { runs: false; why: string };

export type DeviceReport = { device: string; installed: boolean } & Probe;

/** Sizes are in bytes. */
export interface DoctorReport {
  node: { version: string; needed: string; supported: boolean };
  system: string;
  cpu: { model: string; cores: number };
  memory: MachineMemory;
  disk: { folder: string; available: number };
  /** NVIDIA's, as its driver lists them. */
  gpus: { name: string; memory: number; driver: string }[];
  onnxruntime: {
    /** `null` if it is not installed. */
    version: string | null;
    /** Why it does not load. */
    why?: string;
    devices: DeviceReport[];
  };
  /** Versions of the packages that `--runtime tfjs` can use; `null` if one is not installed. */
  tfjs: Record<string, string | null>;
  /** What `--device auto` takes; `null` if no device works. */
  auto: string | null;
}

/**
 * Takes some seconds: every device that is installed is tried, each in a process of its own.
 * @throws ToolEnvError `usage.missing_package` without `@toolenv/policy`.
 */
export async function doctorReport(signal: AbortSignal): Promise<DoctorReport> {
  const loaded = await loadPolicyPackage();
  const devices: DeviceReport[] = [];
  for (const known of loaded.policy?.knownDevices() ?? []) {
    const { device, installed } = known;
    const probe: Probe = installed
      ? loaded.policy!.probeDevice(device)
      : { runs: false, why: 'not installed' };
    devices.push({ ...known, ...probe });
    // A probe holds signals up.
    await setImmediate();
    signal.throwIfAborted();
  }
  const packages = createRequire(import.meta.resolve('@toolenv/policy/package.json'));
  const { peerDependencies } = packages('./package.json') as { peerDependencies: Record<string, string> };
  const folder = process.cwd();
  const { bavail, bsize } = await statfs(folder);
  const needed = neededNode();
  const works = devices.some(({ runs }) => runs);
  return {
    node: { version: process.versions.node, needed, supported: isAtLeast(process.versions.node, needed) },
    system: `${platform()} ${release()} ${arch()}`,
    cpu: { model: cpus()[0]?.model.trim() || 'unknown', cores: availableParallelism() },
    memory: machineMemory(),
    disk: { folder, available: bavail * bsize },
    gpus: nvidiaGpus(),
    onnxruntime: {
      version: versionOf('onnxruntime-node', packages),
      ...(loaded.why !== undefined && { why: loaded.why }),
      devices,
    },
    tfjs: Object.fromEntries(
      Object.keys(peerDependencies)
        .filter((name) => name.startsWith('@tensorflow/'))
        .map((name) => [name, versionOf(name, packages)]),
    ),
    auto: works ? loaded.policy!.chooseDevice('auto') : null,
  };
}

/** Loading it loads ONNX Runtime's library, which fits some systems only. */
async function loadPolicyPackage(): Promise<
  { policy: PolicyPackage; why?: undefined } | { policy?: undefined; why: string }
> {
  try {
    return { policy: await importPackage<PolicyPackage>('@toolenv/policy', 'toolenv doctor') };
  } catch (error) {
    if (ToolEnvError.isInstance(error)) throw error;
    return { why: messageOf(error) };
  }
}

/** The version in `engines` of our package.json: `20.19`. */
function neededNode(): string {
  const file = new URL('../../package.json', import.meta.url);
  const { engines } = JSON.parse(readFileSync(file, 'utf8')) as { engines: { node: string } };
  return engines.node.replace('>=', '');
}

function isAtLeast(version: string, needed: string): boolean {
  const [has, needs] = [version, needed].map((text) => text.split('.').map(Number)) as [number[], number[]];
  const differing = needs.findIndex((part, index) => part !== has[index]);
  return differing < 0 || has[differing]! > needs[differing]!;
}

function versionOf(name: string, packages: NodeJS.Require): string | null {
  try {
    return (packages(`${name}/package.json`) as { version: string }).version;
  } catch {
    return null;
  }
}

function nvidiaGpus(): DoctorReport['gpus'] {
  const query = ['--query-gpu=name,memory.total,driver_version', '--format=csv,noheader,nounits'];
  const { status, stdout } = spawnSync('nvidia-smi', query, { encoding: 'utf8', timeout: 10_000 });
  if (status !== 0) return [];
  return stdout
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', mebibytes, driver = ''] = line.split(',').map((part) => part.trim());
      return { name, memory: Number(mebibytes) * 2 ** 20, driver };
    });
}
