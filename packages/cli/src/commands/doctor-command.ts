/** `toolenv doctor`: shows which devices this machine has, which of them work, and which device a run uses. */
import type { ComputeReport, DeviceReport } from '@toolenv/core/plugins';
import { plural } from '../display/number-text.ts';
import { alignedRows } from '../display/terminal-text.ts';
import type { MakeCommand } from './commands.ts';
import {
  type DoctorReport,
  doctorReport,
  type PolicyReport,
  sandboxKinds,
  sandboxText,
} from './doctor-report.ts';

export const make: MakeCommand = (command, { signal }) => {
  command
    .description(
      'Compares the versions of the installed packages, shows the devices and libraries of the installed policies, tries every device, measures its speed, and says which device a run uses. Exit code 1 if no device works, or no sandbox.',
    )
    .option('--json', 'print one JSON object instead of the table')
    .option(
      '--sandboxes',
      'show which sandboxes can be made here instead, and remove what ended processes have left of them',
    )
    .action(async ({ json, sandboxes }: { json?: boolean; sandboxes?: boolean }) => {
      if (sandboxes) {
        const kinds = await sandboxKinds(signal);
        process.stdout.write(`${json ? JSON.stringify(kinds) : sandboxText(kinds)}\n`);
        if (!kinds.some(({ problem }) => problem === undefined)) process.exitCode = 1;
        return;
      }
      const report = await doctorReport(signal);
      process.stdout.write(`${json ? JSON.stringify(report) : doctorText(report)}\n`);
      const works = report.policies.some((policy) => 'auto' in policy && policy.auto !== null);
      if (!works) process.exitCode = 1;
    });
};

type Row = [topic: string, part: string, state: string];

/** The report as a table of three columns. */
export function doctorText({
  node,
  toolenv,
  system,
  cpu,
  memory,
  disk,
  gpus,
  policies,
}: DoctorReport): string {
  const supported = node.supported ? 'supported' : `too old: install ${node.needed} or newer`;
  const none: Row = ['policy', 'none', 'npm install @toolenv/policy'];
  const rows: Row[] = [
    ['Node.js', node.version, supported],
    ...versionRows(toolenv),
    ['system', system, ''],
    ['CPU', cpu.model, plural(cpu.cores, 'core')],
    ['memory', size(memory.total), `${size(memory.available)} available`],
    ['disk', disk.folder, `${size(disk.available)} available`],
    ...gpus.map(({ name, memory, driver }): Row => ['GPU', name, `${size(memory)}, driver ${driver}`]),
    ...(policies.length > 0 ? policies.flatMap(policyRows) : [none]),
    ...(gpus.length > 0 && policies.some(lacksWebGpu) ? [vulkanRow] : []),
  ];
  return alignedRows(rows).join('\n');
}

/** A row for each version; with one version, the number of packages. */
function versionRows({ packages, remedy }: DoctorReport['toolenv']): Row[] {
  const versions = Object.entries(packages);
  const rows = versions.map(([version, names]): [string, string] => [
    version,
    versions.length === 1 ? plural(names.length, 'package') : names.join(', '),
  ]);
  if (remedy !== undefined) rows.push(['mixed', remedy]);
  return topic('toolenv', rows);
}

function policyRows({ ref, ...report }: PolicyReport): Row[] {
  if ('why' in report) return [['policy', ref, `does not load: ${report.why}`]];
  const { libraries, devices, engines = [], default: usual, auto } = report;
  const others = engines.filter(({ engine }) => engine.startsWith('libtorch '));
  return [
    ['policy', ref, ''],
    ...topic('  libraries', [
      ...libraries.map(libraryRow),
      ...others.map(({ engine, about }): [string, string] => [engine, about]),
    ]),
    ...topic(
      '  devices',
      devices.map((one): [string, string] => [one.device, deviceState(one)]),
    ),
    ['  used', usual, 'without --device'],
    ['', auto ?? 'none', auto === null ? 'no device works' : 'with --device auto'],
  ];
}

/** Names the topic in the first of its rows. */
function topic(name: string, rows: [part: string, state: string][]): Row[] {
  return rows.map((row, index): Row => [index === 0 ? name : '', ...row]);
}

function libraryRow({ name, version, why }: ComputeReport['libraries'][number]): [string, string] {
  return [name, why === undefined ? (version ?? 'not installed') : `does not load: ${why}`];
}

/** NVIDIA's Vulkan driver does not contain the libraries that it loads, and does not report that they are missing. */
const vulkanRow: Row = [
  'hint',
  'webgpu',
  "NVIDIA's driver needs the libraries of Vulkan, OpenGL and X11 (Debian, Ubuntu: apt-get install libvulkan1 libegl1 libgl1 libxext6)",
];

function lacksWebGpu(policy: PolicyReport): boolean {
  const reports = 'devices' in policy ? policy.devices : [];
  return reports.some((report) => report.device === 'webgpu' && report.installed && !report.runs);
}

function deviceState(report: DeviceReport): string {
  if (!report.runs) return report.installed ? `does not work: ${report.why}` : report.why;
  const { gflops, threads } = report;
  const speed = `works, ${gflops < 10 ? gflops.toFixed(1) : Math.round(gflops)} GFLOP/s`;
  return threads === undefined ? speed : `${speed} with ${plural(threads, 'thread')}`;
}

/** `7.5 GiB`. */
function size(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
