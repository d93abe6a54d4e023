/** Harness: a coding agent as its registry has it. Its settings name another model and the environment's tools. */
import { ToolEnvError } from '@toolenv/core';
import type { Skill } from '@toolenv/core/wrappers';
import { type Confinement, command, type ProgramPlace } from '@toolenv/gateway';
import { installationOf } from './installation.ts';

/** What an agent gets for an episode. */
export interface HarnessJob {
  /** The task, with the instructions of the environment before it. */
  ask: string;
  /** An empty working folder. */
  cwd: string;
  /** An empty home, so that the agent finds neither your configuration nor another episode's. */
  home: string;
  /** The model: OpenAI's APIs at this URL, and Anthropic's at the URL without `/v1`. */
  baseURL: string;
  apiKey: string;
  /** The MCP server of the environment's tools, over Streamable HTTP; absent if there are none. */
  tools?: string | undefined;
  /** A skill for the agent's own place, if the agent has one: see {@link placeSkill}. */
  skill?: Skill | undefined;
  /** What its program may reach, if it is to be confined. */
  confine?: Confinement | undefined;
  signal: AbortSignal;
}

/** A coding agent. */
export interface Harness {
  /** As `--agent` names it. */
  readonly name: string;
  /** The package that was tried, with its version: `@openai/codex@0.171.0`. */
  readonly package: string;
  /** Whether it reads the skill of its job. Other agents read a skill at the end of their task's instructions. */
  readonly readsSkills?: boolean;
  /** Whether its program runs in the confinement of its job, as {@link runProgram} runs it. */
  readonly confines?: boolean;
  /** Runs the agent to its end. @returns What it said last. */
  run(job: HarnessJob): Promise<string>;
}

/** The name of the environment's server in the settings of an agent. */
export const serverName = 'env';

/**
 * Runs the program of an agent.
 * @returns What it wrote to stdout.
 * @throws ToolEnvError `usage.agent_missing` if it is not installed.
 */
export async function runProgram(
  harness: Harness,
  [file, ...args]: readonly [string, ...string[]],
  job: HarnessJob,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const running = command(file, args, placeOf(file, job, env))(job);
  return (await orMissing(harness, file, running)).stdout.trim();
}

/** Where the program of an agent runs. It may read its own installation. */
export function placeOf(
  file: string,
  { cwd, home, confine }: HarnessJob,
  env: Readonly<Record<string, string>>,
): ProgramPlace {
  const place = { cwd, env: { HOME: home, ...env } };
  if (!confine) return place;
  return { ...place, confine: { ...confine, read: [...(confine.read ?? []), ...installationOf(file)] } };
}

/** The result of an agent's program. @throws ToolEnvError `usage.agent_missing` if it is not installed. */
export async function orMissing<Result>(
  { package: name }: Pick<Harness, 'package'>,
  file: string,
  running: Promise<Result>,
): Promise<Result> {
  try {
    return await running;
  } catch (error) {
    if (Object(Object(error).cause).code !== 'ENOENT') throw error;
    // A command line names a program, and no package.
    const remedy = name.startsWith('acp:') ? 'install it, or give its path.' : `npm install ${name}`;
    const message = `The program ${file} is not installed: ${remedy}`;
    throw new ToolEnvError('usage.agent_missing', message, { cause: error });
  }
}
