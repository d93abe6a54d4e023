/** What this machine has, and what the installed policies can compute with. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { arch, availableParallelism, cpus, platform, release } from 'node:os';
import { messageOf } from '@toolenv/core';
import { type ComputeReport, listPlugins, loadPlugin } from '@toolenv/core/plugins';
import { type MachineMemory, machineMemory } from '../run/machine-memory.ts';
import { pluginFolders } from '../subject/plugin-folders.ts';
import { type InstalledVersions, installedVersions } from './installed-versions.ts';

/** A policy, and what it computes with or why it does not load. */
export type PolicyReport = { ref: string } & (ComputeReport | { why: string });

/** Sizes are in bytes. */
export interface DoctorReport {
  node: { version: string; needed: string; supported: boolean };
  toolenv: InstalledVersions;
  system: string;
  cpu: { model: string; cores: number };
  memory: MachineMemory;
  disk: { folder: string; available: number };
  /** GPUs of NVIDIA, as NVIDIA's driver lists them. */
  gpus: { name: string; memory: number; driver: string }[];
  /** The installed policies that can say what they compute with. */
  policies: PolicyReport[];
}

/** Takes some seconds: the policies try every device that is installed. */
export async function doctorReport(signal: AbortSignal): Promise<DoctorReport> {
  const policies = await policyReports(signal);
  const folder = process.cwd();
  const { bavail, bsize } = await statfs(folder);
  const needed = neededNode();
  return {
    node: { version: process.versions.node, needed, supported: isAtLeast(process.versions.node, needed) },
    toolenv: installedVersions(pluginFolders()),
    system: `${platform()} ${release()} ${arch()}`,
    cpu: { model: cpus()[0]?.model.trim() || 'unknown', cores: availableParallelism() },
    memory: machineMemory(),
    disk: { folder, available: bavail * bsize },
    gpus: nvidiaGpus(),
    policies,
  };
}

async function policyReports(signal: AbortSignal): Promise<PolicyReport[]> {
  const from = [process.cwd(), import.meta.dirname];
  const reports: PolicyReport[] = [];
  for (const { ref } of listPlugins(from).filter(({ kind }) => kind === 'policies')) {
    try {
      const report = await (await loadPlugin('policies', ref, { from })).compute?.(signal);
      if (report) reports.push({ ref, ...report });
    } catch (error) {
      signal.throwIfAborted();
      reports.push({ ref, why: messageOf(error) });
    }
  }
  return reports;
}

/** The version in `engines` of our package.json: `20.19`. */
function neededNode(): string {
  const file = new URL('../../package.json', import.meta.url);
  const { engines } = JSON.parse(readFileSync(file, 'utf8')) as { engines: { node: string } };
  return engines.node.replace('>=', '');
}

function isAtLeast(version: string, needed: string): boolean {
  return version.localeCompare(needed, 'en', { numeric: true }) >= 0;
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
