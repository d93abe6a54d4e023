/** Something else in the place of PyTorch's library is named in a line, with the remedy, and never waited for. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findLibtorch } from '../src/find-libtorch.ts';
import { libtorchRuntime } from '../src/libtorch-runtime.ts';
import { brokenLibraries, hasCompiler, libraryOf } from './broken-libraries.ts';
import { enginesOf } from './engines.ts';

if (!hasCompiler) console.log('Skipped: this machine has no C compiler for stand-ins of libraries.');
if (process.getuid?.() === 0) console.log('Skipped for root: a folder without permission.');

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-libtorch-'));
  onTestFinished(async () => {
    await chmod(folder, 0o700);
    await rm(folder, { recursive: true });
  });
  return folder;
}

test.each(brokenLibraries)(
  '$name in the place of the library',
  async ({ make, says }) => {
    const folder = await newFolder();
    await make(libraryOf(folder));
    const before = enginesOf();
    const error = await libtorchRuntime({ folder }).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'usage.libtorch', message: expect.stringMatching(says) });
    const { message } = error as Error;
    expect(message.startsWith(`${libraryOf(folder)} cannot be used (`)).toBe(true);
    expect(
      message.endsWith(': install PyTorch 2.10 or later, or set TOOLENV_LIBTORCH to its folder lib.'),
    ).toBe(true);
    expect(message).not.toContain('\n');
    expect(enginesOf()).toEqual(before);
  },
  20_000,
);

test('TOOLENV_LIBTORCH may be relative, and ~ is explained', () => {
  vi.stubEnv('TOOLENV_LIBTORCH', relative(process.cwd(), '/nowhere/lib'));
  expect(findLibtorch()).toBe(resolve('/nowhere/lib'));
  vi.stubEnv('TOOLENV_LIBTORCH', '~/torch/lib');
  expect(() => findLibtorch()).toThrow(
    /^TOOLENV_LIBTORCH is "~\/torch\/lib": only a shell replaces ~, and only without quotes\. Write the whole path\.$/,
  );
});
