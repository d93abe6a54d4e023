/** launch: starts the program of an agent, confined or not. */
import type { AgentContext } from './agent-episode.ts';
import { type Confinement, confine as confined } from './confinement.ts';
import { agentVariables, RunningProgram, start } from './program.ts';

/** Where a program runs, and what it finds there. */
export interface ProgramPlace {
  /** Working folder. Default: that of this process. */
  cwd?: string;
  /** Further variables. Programs inherit only those that every program needs, and none with secrets. */
  env?: Readonly<Record<string, string>>;
  /**
   * Shows the program the system's programs and libraries, `cwd`, the `HOME` of `env` and what is named here, an empty `/tmp`, no other process, and of the
   * network its model only. Without it, the program may read whatever the user of this process may: the files of tasks and of runs, and other processes.
   * `true` names nothing more. Needs Linux and bubblewrap. Without `cwd`, the working folder is `/tmp`.
   */
  confine?: boolean | Confinement;
}

/** A program that runs. It is disposed when it has ended. */
export interface Launched extends AsyncDisposable {
  program: RunningProgram;
}

/** @param args Absent: `file` is a line for the shell. */
export async function launch(
  file: string,
  args: readonly string[] | undefined,
  { cwd, env, confine = false }: ProgramPlace,
  context: Pick<AgentContext, 'baseURL' | 'apiKey' | 'signal'>,
): Promise<Launched> {
  const variables = { ...agentVariables(context), ...env };
  if (confine === false) {
    const place = { ...(cwd !== undefined && { cwd }), env: variables, shell: args === undefined };
    const program = new RunningProgram(start(file, args ?? [], place), file);
    return { program, async [Symbol.asyncDispose]() {} };
  }
  const whole = args ? ([file, ...args] as const) : (['/bin/sh', '-c', file] as const);
  const confinement = confine === true ? {} : confine;
  const inside = { cwd, env: variables, home: env?.HOME, baseURL: context.baseURL, confinement };
  const bwrap = await confined(whole, inside);
  const dispose = () => bwrap[Symbol.asyncDispose]();
  try {
    context.signal.throwIfAborted();
    const child = start(bwrap.file, bwrap.args, { env: bwrap.env });
    const name = child.pid === undefined ? 'bwrap (of bubblewrap)' : file;
    return { program: new RunningProgram(child, name), [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
