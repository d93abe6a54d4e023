/** Scripts that read, write and list files in a container, with no more than the programs of busybox. Each ends with one of these codes. */
import type { CommandOptions, CommandResult, Sandbox, SandboxEntry } from '@toolenv/core';
import { quoted } from '../carried-shell.ts';
import { Serial } from '../command-checks.ts';
import { maxEntries, maxFileSize } from '../limits.ts';
import { fileProblem } from '../sandbox-errors.ts';

/** Exit code → what is wrong with the path. */
const problems: Readonly<Record<number, string>> = {
  61: 'there is no such file or folder',
  62: 'it is not a file',
  63: 'it is not a folder',
  64: 'it cannot be read',
  65: 'it cannot be written: the disk is full, or permission is denied',
  126: 'no script runs: the disk is full, or the shell was replaced',
};

/** A sandbox whose files are read and written by scripts. */
export abstract class ScriptedSandbox implements Sandbox {
  protected readonly serial: Serial = new Serial();

  abstract run(command: string, options?: CommandOptions): Promise<CommandResult>;
  abstract close(): Promise<void>;

  /**
   * Runs a script for a path.
   * @param rest `output`: bytes of stdout, which may be exceeded by one.
   */
  protected abstract file(
    path: string,
    script: (path: string) => string,
    rest: { stdin?: string | Uint8Array; output: number },
  ): Promise<Uint8Array>;

  async read(path: string): Promise<Uint8Array> {
    const bytes = await this.file(path, (at) => readScript(at, maxFileSize), { output: maxFileSize + 1 });
    if (bytes.length > maxFileSize) throw fileProblem(path, `it has more than ${maxFileSize} bytes`);
    return Uint8Array.from(bytes);
  }

  async write(path: string, content: string | Uint8Array): Promise<void> {
    await this.file(path, writeScript, { stdin: content, output: 1000 });
  }

  async list(path: string): Promise<SandboxEntry[]> {
    const listed = await this.file(path, (at) => listScript(at, maxEntries), { output: 4 * 2 ** 20 });
    return readEntries(listed);
  }
}

/** @throws ToolEnvError `usage.sandbox_file` unless the script for the path has ended in order. */
export function expectDone(
  path: string,
  { exitCode, timedOut }: Pick<CommandResult, 'exitCode' | 'timedOut'>,
): void {
  if (timedOut) throw fileProblem(path, 'it needs too much time');
  if (exitCode !== 0) throw fileProblem(path, problems[exitCode] ?? `it failed with code ${exitCode}`);
}

/** Writes one byte more than `most` if the file is longer. */
function readScript(path: string, most: number): string {
  const file = quoted(path);
  return `[ -e ${file} ] || exit 61; [ -f ${file} ] || exit 62; [ -r ${file} ] || exit 64; head -c ${most + 1} < ${file} || exit 64`;
}

/** Reads stdin, all of it, so that the connection ends in order. */
function writeScript(path: string): string {
  const file = quoted(path);
  const folder = quoted(path.replace(/\/[^/]*$/, '') || '/');
  return `mkdir -p ${folder} 2>/dev/null || { cat > /dev/null; exit 65; }
[ -e ${file} ] && [ ! -f ${file} ] && { cat > /dev/null; exit 62; }
cat > ${file} || { cat > /dev/null; exit 65; }`;
}

/** Writes `type size name` and a NUL for each entry. */
function listScript(path: string, most: number): string {
  const folder = quoted(path);
  return `[ -e ${folder} ] || exit 61; [ -d ${folder} ] || exit 63; cd ${folder} || exit 64
n=0
for f in * .[!.]* ..?*; do
  [ -e "$f" ] || [ -L "$f" ] || continue
  n=$((n + 1)); [ $n -gt ${most} ] && break
  s=0
  if [ -L "$f" ]; then t=link; elif [ -f "$f" ]; then t=file; s=$(stat -c %s -- "$f"); elif [ -d "$f" ]; then t=folder; else t=other; fi
  printf '%s %s %s\\0' "$t" "$s" "$f"
done`;
}

/** The entries that {@link listScript} has written, by name. */
function readEntries(listed: Uint8Array): SandboxEntry[] {
  const lines = new TextDecoder().decode(listed).split('\0').slice(0, -1);
  const entries = lines.map((line): SandboxEntry => {
    const [, type, size, name] = /^(\w+) (\d+) (.*)$/s.exec(line) ?? [];
    return { name: name ?? '', type: (type ?? 'other') as SandboxEntry['type'], size: Number(size ?? 0) };
  });
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}
