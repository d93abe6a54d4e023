/** `toolenv view --export`: writes a report of runs. */
import { resolve } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { ensureDir, openRegular, writeAtomic } from '@toolenv/core/files';
import type { ReportOptions } from '@toolenv/view';
import { countText } from '../display/number-text.ts';

const beginning = '<!doctype html>';

/**
 * Replaces an earlier report.
 * @throws ToolEnvError `usage.file_exists` for any other file; what `makeReport` throws.
 */
export async function writeReport(path: string, options: ReportOptions, json = false): Promise<void> {
  const file = resolve(path);
  await refuseOther(file);
  const { makeReport } = await import('@toolenv/view');
  const html = await makeReport(options);
  await ensureDir(resolve(file, '..'));
  await writeAtomic(file, html);
  const bytes = Buffer.byteLength(html);
  const text = `${path} has the report (${countText(Math.round(bytes / 1000))} kB). It opens in a browser without a server.`;
  process.stdout.write(`${json ? JSON.stringify({ file: path, bytes }) : text}\n`);
}

async function refuseOther(file: string): Promise<void> {
  const handle = await openRegular(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new ToolEnvError('usage.file_exists', `${file} cannot be replaced: name another file.`, {
      cause: error,
    });
  });
  if (!handle) return;
  try {
    const stats = await handle.stat();
    const { buffer } = stats.isFile() ? await handle.read(Buffer.alloc(beginning.length), 0) : { buffer: '' };
    if (stats.size === 0 || buffer.toString().toLowerCase() === beginning) return;
  } finally {
    await handle.close();
  }
  throw new ToolEnvError('usage.file_exists', `${file} exists, and is no report: name another file.`);
}
