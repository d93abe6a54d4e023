/** The page of `toolenv view`, as it was installed: it answers with its script, and with the run's curves and episodes; and a report. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

/** @param folder A package that has `toolenv` installed. @param run The folder of a run in it. */
export async function checkView(folder: string, run: string): Promise<void> {
  const program = join(folder, 'node_modules/toolenv/dist/main.js');
  const child = spawn(process.execPath, [program, 'view', run, '--json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    const [line] = await once(createInterface(child.stdout), 'line');
    const { url }: { url: string } = JSON.parse(line);
    const page = await text(url);
    const script = /src="\.?\/([^"]+\.js)"/.exec(page)?.[1];
    if (script === undefined || (await text(url + script)).length < 50_000)
      throw new Error(`the page has no script: ${page}`);
    const [head] = JSON.parse(await text(`${url}api/runs`));
    const list = JSON.parse(await text(`${url}api/episodes?run=${encodeURIComponent(head.name)}`));
    if (list.total === 0 || list.rows[0].question === '')
      throw new Error(`no episodes: ${JSON.stringify(list)}`);
  } finally {
    child.kill('SIGINT');
  }
  const [code] = await ended;
  if (code !== 130) throw new Error(`Ctrl-C ended toolenv view with ${code}`);
  const file = join(folder, 'report.html');
  await promisify(execFile)(process.execPath, [program, 'view', run, '--export', file], { cwd: folder });
  const report = await readFile(file, 'utf8');
  if (!report.includes('id="report"') || report.length < 50_000)
    throw new Error(`the report is not one: ${report.slice(0, 500)}`);
}

async function text(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.text();
}
