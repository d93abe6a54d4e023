/** computeReport: what the policy can compute with on this machine. */
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import { messageOf, ToolEnvError } from '@toolenv/core';
import type { ComputeReport, DeviceReport, EngineReport } from '@toolenv/core/plugins';
import { libtorchPackage, loadLibtorch } from './dependent-packages.ts';

type Libraries = ComputeReport['libraries'];

/** Tries each installed device in a separate process. */
export async function computeReport(signal: AbortSignal): Promise<ComputeReport> {
  const { own, why } = await loadDevices();
  const devices: DeviceReport[] = [];
  for (const known of own?.knownDevices() ?? []) {
    const probe = known.installed
      ? own!.probeDevice(known.device)
      : ({ runs: false, why: 'not installed' } as const);
    devices.push({ ...known, ...probe });
    // A probe blocks this thread: let signals through.
    await setImmediate();
    signal.throwIfAborted();
  }
  const libraries = installedLibraries();
  if (why !== undefined) Object.assign(libraries[0]!, { why });
  const engines = [...onnxEngines(devices, why), tfjsEngine(libraries), ...(await libtorchEngines())];
  signal.throwIfAborted();
  const works = devices.some(({ runs }) => runs);
  return { libraries, devices, engines, default: 'cpu', auto: works ? own!.chooseDevice('auto') : null };
}

async function loadDevices() {
  try {
    const own = {
      ...(await import('#known-devices')),
      ...(await import('./runtime/device.ts')),
      ...(await import('./runtime/probe-device.ts')),
    };
    return { own };
  } catch (error) {
    return { why: messageOf(error) };
  }
}

function installedLibraries(): Libraries {
  const require = createRequire(import.meta.url);
  const { peerDependencies } = require('../package.json') as { peerDependencies: Record<string, string> };
  // onnxruntime-web computes in browsers only.
  const optional = Object.keys(peerDependencies).filter((name) => name !== 'onnxruntime-web');
  return ['onnxruntime-node', ...optional].map((name) => ({ name, version: versionOf(name, require) }));
}

function versionOf(name: string, require: NodeJS.Require): string | null {
  try {
    return (require(`${name}/package.json`) as { version: string }).version;
  } catch {
    return null;
  }
}

/** What to do about a device of ONNX Runtime that is not installed, or that does not work. */
const remedies: Readonly<Record<string, Partial<Record<'missing' | 'broken', string>>>> = {
  webgpu: { broken: "a GPU, and its driver's Vulkan, Metal or Direct3D 12" },
  cuda: {
    missing: 'node node_modules/onnxruntime-node/script/install.js, on Linux x64',
    broken: "an NVIDIA GPU, its driver, and CUDA's libraries with cuDNN",
  },
};

function onnxEngines(devices: readonly DeviceReport[], why: string | undefined): EngineReport[] {
  const engine = 'ONNX Runtime';
  if (why !== undefined) {
    const about = `onnxruntime-node does not load: ${why}`;
    return [
      { engine: `${engine} cpu`, flags: '', available: false, about, remedy: 'npm install onnxruntime-node' },
    ];
  }
  return devices.map((report) => {
    const { device, installed, runs } = report;
    const flags = device === 'cpu' ? '' : `--device ${device}`;
    const named = { engine: `${engine} ${device}`, flags, available: runs };
    if (report.runs) {
      const threads = report.threads === undefined ? '' : `, ${report.threads} threads`;
      return { ...named, about: `${speed(report.gflops)} GFLOP/s${threads}` };
    }
    const remedy = remedies[device]?.[installed ? 'broken' : 'missing'];
    const about = installed ? `does not work: ${report.why}` : report.why;
    return { ...named, about, ...(remedy && { remedy }) };
  });
}

function speed(gflops: number): string {
  return gflops < 10 ? gflops.toFixed(1) : String(Math.round(gflops));
}

function tfjsEngine(libraries: Libraries): EngineReport {
  const installed = libraries.filter(
    ({ name, version }) => name.startsWith('@tensorflow/') && version !== null,
  );
  const named = { engine: 'TensorFlow.js', flags: '--runtime tfjs', available: installed.length > 0 };
  if (installed.length > 0)
    return { ...named, about: installed.map(({ name, version }) => `${name} ${version}`).join(', ') };
  const remedy = 'npm install @tensorflow/tfjs @tensorflow/tfjs-backend-wasm';
  return { ...named, about: 'not installed', remedy };
}

async function libtorchEngines(): Promise<EngineReport[]> {
  try {
    return await (await loadLibtorch()).libtorchEngines();
  } catch (error) {
    const isMissing = ToolEnvError.isInstance(error) && error.code === 'usage.runtime_missing';
    const row = { engine: 'libtorch cpu', flags: '--runtime libtorch', available: false };
    if (isMissing)
      return [
        { ...row, about: `${libtorchPackage} is not installed`, remedy: `npm install ${libtorchPackage}` },
      ];
    return [{ ...row, about: `does not work: ${messageOf(error)}` }];
  }
}
