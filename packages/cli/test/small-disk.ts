/** A small disk of its own, for tests that fill it or make it read-only. Only root can mount one. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class SmallDisk {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'toolenv-disk-'));

  /** @param kilobytes What fits on it. */
  constructor(kilobytes: number) {
    if (!mount('-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', this.folder)) {
      rmdirSync(this.folder);
      throw new Error('cannot mount a disk');
    }
  }

  /** @param options Options of `mount`, such as `ro` and `size=9m`. */
  remount(options: string): void {
    if (!mount('-o', `remount,${options}`, this.folder)) throw new Error(`cannot remount with ${options}`);
  }

  remove(): void {
    spawnSync('umount', ['-l', this.folder]);
    rmdirSync(this.folder);
  }
}

/** Whether this machine permits to mount disks. */
export function canMount(): boolean {
  try {
    new SmallDisk(64).remove();
    return true;
  } catch {
    return false;
  }
}

function mount(...args: string[]): boolean {
  return spawnSync('mount', args).status === 0;
}
