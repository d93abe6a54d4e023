/** Opens all files that this process may open, then runs a command in a virtual sandbox, and prints its fault. */
import { closeSync, openSync } from 'node:fs';
import { openSandboxes } from '@toolenv/core/plugins';

async function main(): Promise<void> {
  const host = await openSandboxes('@toolenv/sandbox/virtual-v1', { from: import.meta.dirname });
  const sandbox = await host.sandbox();
  const files: number[] = [];
  try {
    for (;;) files.push(openSync('/dev/null', 'r'));
  } catch {
    // No more files can be opened.
  }
  const fault = await sandbox.run('echo 1 | awk 1').catch((error) => `${error.code}: ${error.message}`);
  for (const file of files) closeSync(file);
  console.log(fault);
  await host.close();
}

void main();
