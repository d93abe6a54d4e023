/** The report as a page: a table between two markers. The text around the markers stays. */
import { readFile } from 'node:fs/promises';
import { ToolEnvError } from '@toolenv/core';
import { writeAtomic } from '@toolenv/core/files';
import { machineText } from '../machine-text.ts';
import type { Check } from './part.ts';
import { parts } from './parts.ts';
import type { PartReport } from './soak.ts';

const [begin, end] = ['<!-- chaos:begin -->', '<!-- chaos:end -->'];

/** Where and when the figures were measured. */
export interface Measured {
  date: string;
  machine: string;
}

export async function writeReport(page: string, reports: readonly PartReport[]): Promise<void> {
  const measured = { date: new Date().toISOString().slice(0, 10), machine: machineText() };
  await writeAtomic(page, withTable(await readFile(page, 'utf8'), table(reports, measured)));
}

/** @throws ToolEnvError `usage.chaos_page` for a page without the markers. */
export function withTable(page: string, table: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from)
    throw new ToolEnvError('usage.chaos_page', `The page lacks ${begin} and ${end}: put them back.`);
  return `${page.slice(0, from + begin.length)}\n\n${table}\n\n${page.slice(to)}`;
}

export function table(reports: readonly PartReport[], { date, machine }: Measured): string {
  const checks = reports.flatMap((report) => report.checks);
  const passed = checks.filter((each) => each.passed).length;
  const minutes = reports.reduce((sum, { seconds }) => sum + seconds, 0) / 60;
  const summary = `Measured on ${date}, on ${machine}, in ${minutes.toFixed(1)} minutes: ${passed} passed, ${checks.length - passed} failed.`;
  const sections = reports.map(({ name, checks, seconds }) => {
    const does = parts.find((part) => part.name === name)?.does ?? name;
    return [
      `### ${name}`,
      '',
      `${does[0]!.toUpperCase()}${does.slice(1)}, in ${seconds.toFixed(0)} s.`,
      '',
      '| check | result | figures |',
      '| --- | --- | --- |',
      ...checks.map(rowOf),
    ].join('\n');
  });
  return [summary, ...sections].join('\n\n');
}

function rowOf({ name, passed, detail }: Check): string {
  return `| ${cell(name)} | ${passed ? 'passed' : '**failed**'} | ${cell(detail)} |`;
}

/** Text that cannot end its cell. */
function cell(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
