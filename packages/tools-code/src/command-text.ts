/** What the model reads of a command. */
import type { CommandResult } from '@toolenv/core';

/** The output, and below it what else must be known: `[exit code 1]`. */
export function commandText(result: CommandResult): string {
  const { stdout, stderr, exitCode, truncated, timedOut, outOfMemory, lost } = result;
  const notes: string[] = [];
  if (truncated) notes.push('output is missing: there was too much');
  if (timedOut) notes.push('killed because it took too long');
  if (outOfMemory) notes.push('killed, probably because it needed too much memory');
  if (exitCode !== 0) notes.push(`exit code ${exitCode}`);
  if (lost === 'shell')
    notes.push('the shell began anew: variables and the working folder are lost, files are kept');
  if (lost === 'files') notes.push('the sandbox began anew: files and variables are lost');
  const parts = [stdout, stderr].map((text) => text.replace(/\n$/, '')).filter((text) => text !== '');
  const text = [...parts, ...notes.map((note) => `[${note}]`)].join('\n');
  return text === '' ? '[no output]' : text;
}
