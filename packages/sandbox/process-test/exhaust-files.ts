/** Opens all files that this process may open, then runs a command in a virtual sandbox, and prints its fault. */
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { openSandboxes } from '@toolenv/core/plugins';

async function main(): Promise<void> {
  const host = await openSandboxes('@toolenv/sandbox/virtual-v1', { from: import.meta.dirname });
  const sandbox = await host.sandbox();
  const files: number[] = [];
  const openAll = () => {
    try {
      for (;;) files.push(openSync('/dev/null', 'r'));
    } catch {
      // No more files can be opened.
    }
  };
  openAll();
  // What the start of the process had open may close a little later.
  await delay(500);
  openAll();
  const fault = await sandbox.run('echo 1 | awk 1').catch((error) => `${error.code}: ${error.message}`);
  for (const file of files) closeSync(file);
  console.log(fault);
  await host.close();
}

void main();
