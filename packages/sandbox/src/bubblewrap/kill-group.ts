import { attempt } from './cgroup.ts';

/** Kills a process and its group, whose leader it is. Processes in a namespace of processes that it has made end with it. */
export function killGroup({
  pid,
  exitCode,
  signalCode,
}: {
  pid?: number | undefined;
  exitCode: number | null;
  signalCode: string | null;
}): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  // It may have ended.
  attempt(() => process.kill(-pid, 'SIGKILL'), false);
}
