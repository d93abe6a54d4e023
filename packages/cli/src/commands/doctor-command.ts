/** `toolenv doctor`: what this machine has to compute with, what of it works, and what will be used. */
import { Command } from 'commander';
import { type DeviceReport, type DoctorReport, doctorReport } from './doctor-report.ts';

export function doctorCommand(signal: AbortSignal): Command {
  return new Command('doctor')
    .summary('tell what this machine has, and what will be used')
    .description(
      'Tries every device that is installed and tells what works, how fast, and what --device auto takes. Exit code 1 if nothing works.',
    )
    .option('--json', 'print one JSON object instead of the table')
    .action(async ({ json }: { json?: boolean }) => {
      const report = await doctorReport(signal);
      process.stdout.write(`${json ? JSON.stringify(report) : doctorText(report)}\n`);
      if (report.auto === null) process.exitCode = 1;
    });
}

/** The report as a table of three columns. */
export function doctorText(report: DoctorReport): string {
  const { node, system, cpu, memory, disk, gpus, onnxruntime, tfjs, auto } = report;
  const { version, devices, why } = onnxruntime;
  const supported = node.supported ? 'supported' : `too old: install ${node.needed} or newer`;
  const rows: [topic: string, part: string, state: string][] = [
    ['Node.js', node.version, supported],
    ['system', system, ''],
    ['CPU', cpu.model, plural(cpu.cores, 'core')],
    ['memory', size(memory.total), `${size(memory.available)} available`],
    ['disk', disk.folder, `${size(disk.available)} available`],
    ...gpus.map(gpuRow),
    ['ONNX Runtime', version ?? 'not installed', why === undefined ? '' : `does not load: ${why}`],
    ...devices.map((one): (typeof rows)[number] => ['', one.device, deviceState(one)]),
    ...Object.entries(tfjs).map(([name, version], index): (typeof rows)[number] => [
      index === 0 ? 'TensorFlow.js' : '',
      name,
      version ?? 'not installed',
    ]),
    ['used', 'cpu', 'without --device'],
    ['', auto ?? 'none', auto === null ? 'no device works' : 'with --device auto'],
  ];
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map(([topic, part, state]) =>
      `${topic.padEnd(widths[0]!)}  ${part.padEnd(widths[1]!)}  ${state}`.trimEnd(),
    )
    .join('\n');
}

function gpuRow({ name, memory, driver }: DoctorReport['gpus'][number]): [string, string, string] {
  return ['GPU', name, `${size(memory)}, driver ${driver}`];
}

function deviceState(report: DeviceReport): string {
  if (!report.runs) return report.installed ? `does not work: ${report.why}` : report.why;
  const { gflops, threads } = report;
  const speed = `works, ${gflops < 10 ? gflops.toFixed(1) : Math.round(gflops)} GFLOP/s`;
  return threads === undefined ? speed : `${speed} with ${plural(threads, 'thread')}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `7.5 GiB`. */
function size(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
