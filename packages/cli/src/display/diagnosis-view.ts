/** Diagnoses of a run in a terminal: what is wrong, what helps, and which episodes show it. */
import type { Diagnosis } from '@toolenv/training';
import { paint } from './guarded-output.ts';
import { safeLine, wrapText } from './terminal-text.ts';

/** Further diagnoses are mostly consequences of the first. */
const most = 3;

/** Empty without diagnoses. @param run Folder of the run. */
export function diagnosisView(
  diagnoses: readonly Diagnosis[],
  { run, width }: { run: string; width: number },
): string {
  return diagnoses
    .slice(0, most)
    .map((diagnosis) => oneView(diagnosis, run, width))
    .join('\n');
}

function oneView({ title, remedy, page, episodes }: Diagnosis, run: string, width: number): string {
  const indented = (text: string) => wrapText(safeLine(text), { width, indent: '  ' });
  const head = `${paint('yellow', '!')} ${paint('bold', indented(title).trimStart())}`;
  const flags = Object.entries(episodes ?? {}).map(([name, value]) => `--${name} ${value}`);
  const show = episodes ? [`toolenv show ${run} ${flags.join(' ')}`] : [];
  return [head, indented(remedy), ...[...show, page].map((line) => paint('dim', `  ${safeLine(line)}`))].join(
    '\n',
  );
}
