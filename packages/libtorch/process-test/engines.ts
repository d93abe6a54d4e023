/** The processes of engines, as the system shows them. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The engines that a process has started and that have not ended. */
export function enginesOf(parent: number = process.pid): number[] {
  const children = read(`/proc/${parent}/task/${parent}/children`).trim().split(' ').filter(Boolean);
  return children.map(Number).filter((pid) => lives(pid) && commandOf(pid).includes('engine-process'));
}

/** Whether the process is there and is no zombie. */
export function lives(pid: number): boolean {
  const state = statusOf(pid, 'State');
  return state !== undefined && !state.startsWith('Z');
}

/** Limits the addresses of a process to those that it has and so many bytes, or to none. */
export function limitMemory(pid: number, bytes: number): void {
  const used = 1024 * Number(statusOf(pid, 'VmSize')!.split(' ')[0]);
  const limit = bytes === Number.POSITIVE_INFINITY ? 'unlimited' : String(used + bytes);
  execFileSync('prlimit', ['--pid', String(pid), `--as=${limit}:`]);
}

/** Bytes of memory that a process has now. */
export function residentMemory(pid: number): number {
  return 1024 * Number(statusOf(pid, 'VmRSS')!.split(' ')[0]);
}

/** The sockets of a process, of any kind, at which others could reach it: those that listen, and those that have a name. */
export function listeningSockets(pid: number): string[] {
  const own = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? [];
      return inode === undefined ? [] : [inode];
    }),
  );
  const rows = (kind: string) => read(`/proc/${pid}/net/${kind}`).trim().split('\n').slice(1);
  const listening = 0x10000;
  return [
    ...['tcp', 'tcp6', 'udp', 'udp6', 'raw'].flatMap((kind) =>
      rows(kind).filter((row) => own.has(row.trim().split(/\s+/)[9]!)),
    ),
    ...rows('unix').filter((row) => {
      const [, , , flags, , , inode, path] = row.split(/\s+/);
      return own.has(inode!) && (path !== undefined || (Number.parseInt(flags!, 16) & listening) !== 0);
    }),
  ];
}

function statusOf(pid: number, field: string): string | undefined {
  const status = read(`/proc/${pid}/status`);
  return new RegExp(`^${field}:\\s+(.+)$`, 'm').exec(status)?.[1];
}

function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
