/** What stands in the place of PyTorch's library, and what the user must be told of it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface BrokenLibrary {
  name: string;
  /** Puts it at the path. */
  make(file: string): Promise<void>;
  says: RegExp;
}

const file = 'libtorch_cpu.so';
export const hasCompiler: boolean = spawnSync('cc', ['--version']).status === 0;

const compiled: readonly BrokenLibrary[] = [
  { name: 'a library without functions', ...ofC(''), says: /\(it lacks aoti_torch_abi_version\)/ },
  {
    name: 'an older version',
    ...ofC(abiOf(2, 9)),
    says: /\(it is version 2\.9\.0, and 2\.10 is needed\)/,
  },
  {
    name: 'a version that lacks functions',
    ...ofC(abiOf(2, 10)),
    says: /\(it lacks torch_call_dispatcher\)/,
  },
  {
    name: 'a library that ends its process',
    ...ofC('#include <stdlib.h>\n__attribute__((constructor)) void crash(void) { abort(); }'),
    says: /\(its library ends the process that loads it, with SIGABRT/,
  },
];

export const brokenLibraries: readonly BrokenLibrary[] = [
  { name: 'nothing', make: async () => {}, says: /\(there is no such file\)/ },
  { name: 'a folder', make: async (path) => void (await mkdir(path)), says: /\(it is not a regular file\)/ },
  {
    name: 'a text file',
    make: (path) => writeFile(path, 'not a library\n'.repeat(100)),
    says: /invalid ELF header/,
  },
  { name: 'an empty file', make: (path) => writeFile(path, ''), says: /file too short/ },
  {
    name: 'a FIFO',
    make: async (path) => void execFileSync('mkfifo', [path]),
    says: /\(it is not a regular file\)/,
  },
  {
    name: 'a device that never ends',
    make: (path) => symlink('/dev/zero', path),
    says: /\(it is not a regular file\)/,
  },
  { name: 'a link to itself', make: (path) => symlink(file, path), says: /ELOOP/ },
  {
    name: 'the folder above',
    async make(path) {
      await mkdir(join(dirname(path), 'lib'));
      await writeFile(join(dirname(path), 'lib', file), '');
    },
    says: /\(it is in .*\/lib\)/,
  },
  // Root may read everything.
  ...(process.getuid?.() === 0
    ? []
    : [
        {
          name: 'a folder without permission',
          make: (path: string) => chmod(dirname(path), 0o000),
          says: /\(it may not be read\)/,
        },
      ]),
  ...(hasCompiler ? compiled : []),
];

/** Where the library of a folder is. */
export function libraryOf(folder: string): string {
  return join(folder, file);
}

function abiOf(major: number, minor: number): string {
  return `#include <stdint.h>\nuint64_t aoti_torch_abi_version(void) { return ${major}ULL << 56 | ${minor}ULL << 48; }`;
}

function ofC(source: string): Pick<BrokenLibrary, 'make'> {
  const compile = (path: string) =>
    execFileSync('cc', ['-shared', '-fPIC', '-x', 'c', '-', '-o', path], { input: source });
  return { make: async (path) => void compile(path) };
}
