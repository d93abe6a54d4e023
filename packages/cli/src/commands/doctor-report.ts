/** What this machine has, and what the installed policies can compute with. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { arch, availableParallelism, cpus, platform, release } from 'node:os';
import { messageOf } from '@toolenv/core';
import {
  allPackages,
  type ComputeReport,
  completeOptions,
  findPackage,
  type InstalledPackage,
  listPlugins,
  loadPlugin,
} from '@toolenv/core/plugins';
import { type MachineMemory, machineMemory } from '../run/memory-check.ts';
import { pluginFolders } from '../subject/full-name.ts';

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

/** Takes some seconds: the policies try every device that is installed. */
export async function policyReports(signal: AbortSignal): Promise<PolicyReport[]> {
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

interface InstalledVersions {
  /** Of the command that runs. */
  own: string;
  /** Version → names of the packages, sorted. A package that is installed twice may be in two versions. */
  packages: Record<string, string[]>;
  /** The command that gives every package the version of the command that runs; absent if they have it. */
  remedy?: string;
}

/** The packages of toolenv are released and tested in one version. Looks at the packages that can be imported from the folders, and at those that they depend on. */
export function installedVersions(from: readonly string[]): InstalledVersions {
  const direct = from.flatMap((folder) => [...allPackages([folder])]).filter(({ name }) => isOurs(name));
  const names = new Map<string, Set<string>>();
  const seen = new Set<string>();
  const add = (installed: InstalledPackage) => {
    if (seen.has(installed.folder)) return;
    seen.add(installed.folder);
    const { version } = installed.json;
    names.set(version, (names.get(version) ?? new Set()).add(installed.name));
    for (const name of needsOf(installed)) {
      const needed = findPackage(name, installed.folder);
      if (needed) add(needed);
    }
  };
  direct.forEach(add);
  const packages = [...names].map(([version, each]) => [version, [...each].sort()]);

  const own = findPackage('toolenv', import.meta.dirname)!.json.version;
  const others = direct.filter(({ json }) => json.version !== own);
  // npm puts what a package needs beside it, and raises it with the package.
  const asked = others.filter(({ name }) => !others.some((other) => needsOf(other).includes(name)));
  const remedy = ['npm install', ...new Set(asked.map(({ name }) => `${name}@${own}`))].join(' ');
  return { own, packages: Object.fromEntries(packages), ...(asked.length > 0 && { remedy }) };
}

/** The packages of toolenv that a package depends on. */
function needsOf({ json }: InstalledPackage): string[] {
  return Object.keys(json.dependencies ?? {}).filter(isOurs);
}

function isOurs(name: string): boolean {
  return name === 'toolenv' || name.startsWith('@toolenv/');
}

/** `problem` says why no sandbox of the kind can be made. */
interface SandboxKind {
  ref: string;
  problem?: string;
  limits: Readonly<Record<string, string>>;
  /** What was left, and was removed, by name. */
  removed: string[];
  /** What could not be removed, and why. */
  left: string[];
}

/** Inspects every installed kind with its default options, and removes orphans. */
export async function sandboxKinds(signal: AbortSignal): Promise<SandboxKind[]> {
  const from = pluginFolders();
  const kinds: SandboxKind[] = [];
  for (const { ref } of listPlugins(from).filter(({ kind }) => kind === 'sandboxes')) {
    signal.throwIfAborted();
    const kind: SandboxKind = { ref, limits: {}, removed: [], left: [] };
    kinds.push(kind);
    try {
      const provider = await loadPlugin('sandboxes', ref, { from });
      const { problem, limits, orphans } = await provider.inspect(completeOptions(provider.options, {}, ref));
      Object.assign(kind, { limits }, problem !== undefined && { problem });
      for (const { name, remove } of orphans) {
        await remove().then(
          () => kind.removed.push(name),
          (error: unknown) => kind.left.push(`${name}: ${messageOf(error)}`),
        );
      }
    } catch (error) {
      kind.problem = messageOf(error);
    }
  }
  return kinds;
}

/** A paragraph for each kind. */
export function sandboxText(kinds: readonly SandboxKind[]): string {
  if (kinds.length === 0) return 'No kind of sandbox is installed. Begin with: npm install @toolenv/sandbox';
  return kinds
    .map(({ ref, problem, limits, removed, left }) => {
      const rows = [
        ...Object.entries(limits).map(([what, by]) => `${what} limited by ${by}`),
        ...removed.map((name) => `removed what an ended process has left: ${name}`),
        ...left.map((name) => `cannot be removed: ${name}`),
      ];
      const head = problem === undefined ? `${ref}  works` : `${ref}  does not work: ${problem}`;
      return [head, ...rows.map((row) => `  ${row}`)].join('\n');
    })
    .join('\n');
}
