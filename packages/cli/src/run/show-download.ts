/** showDownload: says what a command is about to download, and draws its progress. */
import type { DownloadPlan, DownloadWatch } from '@toolenv/core/plugins';
import { Progress } from '../display/progress.ts';
import { safeLine } from '../display/terminal-text.ts';
import { checkMemory } from './memory-check.ts';

const megabyte = 1e6;

/**
 * @param options.isTraining Whether the memory of training counts.
 * @throws ToolEnvError `usage.memory` if training the model needs more than the machine has: its weights are then not downloaded.
 */
export function showDownload(
  { name, revision, bytes, memory }: DownloadPlan,
  { isTraining }: { isTraining: boolean },
): DownloadWatch {
  const size = bytes < 1e9 ? `${(bytes / megabyte).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
  process.stderr.write(`${safeLine(`Downloading ${name} at ${revision.slice(0, 12)}: ${size}.`)}\n`);
  if (isTraining && memory) process.stderr.write(`${checkMemory(memory)}\n`);
  const bar = new Progress(`${name}, MB`, Math.ceil(bytes / megabyte));
  return { progress: (now) => bar.update(Math.floor(now / megabyte), ''), end: () => bar.stop() };
}
