/** `npm run chaos`: does to toolenv what models, tools, servers, files and signals may do to it. `-- --help` lists the parts. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '@toolenv/core';
import { runAsProcess } from 'toolenv';
import { parts } from './parts.ts';
import { writeReport } from './report.ts';
import { type PartReport, runPart } from './soak.ts';

const page = join(import.meta.dirname, '../../docs/benchmarks/chaos.md');
const names = parts.map(({ name }) => name);

const help = `Usage: npm run chaos -- [part…] [--quick] [--seed <number>] [--json] [--write]

Parts (default: all):
${parts.map(({ name, does }) => `  ${name.padEnd(10)} ${does}`).join('\n')}

--quick  does less, in two minutes
--seed   draws other faults (default 1)
--json   prints the report as one line of JSON
--write  writes the report to docs/benchmarks/chaos.md; needs all parts, without --quick`;

await runAsProcess(async (signal) => {
  const flags = readFlags();
  if (flags) await soak(flags, signal);
});

type Flags = NonNullable<ReturnType<typeof readFlags>>;

/** `undefined` if help was asked for, or the command line is wrong. */
function readFlags() {
  try {
    const { values, positionals } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        seed: { type: 'string', default: '1' },
        json: { type: 'boolean', default: false },
        write: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
      allowPositionals: true,
    });
    const unknown = positionals.find((name) => !names.includes(name));
    if (unknown !== undefined) return refuse(`No part "${unknown}": one of ${names.join(', ')}.`);
    if (!/^\d+$/.test(values.seed))
      return refuse(`--seed is "${values.seed}": give a whole number from 0 up.`);
    if (values.write && (values.quick || positionals.length > 0))
      return refuse('--write needs all parts, without --quick.');
    if (!values.help) return { ...values, seed: Number(values.seed), chosen: positionals };
    console.log(help);
    return undefined;
  } catch (error) {
    return refuse(messageOf(error));
  }
}

function refuse(why: string): undefined {
  console.error(why);
  process.exitCode = 2;
}

async function soak({ quick, seed, json, write, chosen }: Flags, signal: AbortSignal): Promise<void> {
  const reports: PartReport[] = [];
  const print = (line: string) => {
    if (!json) console.log(line);
  };
  for (const part of parts) {
    if (chosen.length > 0 && !chosen.includes(part.name)) continue;
    const say = (line: string) => console.error(`${part.name}: ${line}`);
    const report = await runPart(part, { quick, seed }, { signal, say });
    reports.push(report);
    print(`\n${report.name} (${report.seconds.toFixed(0)} s)`);
    for (const { name, passed, detail } of report.checks)
      print(`${passed ? 'ok     ' : 'FAILED '} ${name}: ${detail}`);
  }
  const checks = reports.flatMap((report) => report.checks);
  const passed = checks.filter((each) => each.passed).length;
  if (json) console.log(JSON.stringify({ quick, seed, reports }));
  if (write) await writeReport(page, reports);
  print(`${passed} passed, ${checks.length - passed} failed`);
  if (passed < checks.length) process.exitCode = 1;
}
