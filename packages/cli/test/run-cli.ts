/** Runs the command in this process, from source. */
import { runProgram } from '../src/program.ts';
import { exitCodeOf } from '../src/run/run-as-process.ts';
import { captured, type Finished } from './captured.ts';
import { fixture } from './fixture.ts';

/** Runs in the folder where the fixture plugins are found. */
export function runCli(...args: string[]): Promise<Finished> {
  return runCliIn(fixture.folder, ...args);
}

/** @param folder The working folder. */
export function runCliIn(folder: string, ...args: string[]): Promise<Finished> {
  const { signal } = new AbortController();
  return captured(folder, () => exitCodeOf(runProgram(args, signal), signal));
}
