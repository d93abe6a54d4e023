/** command: an agent that is a program. It runs in a process group of its own, which ends with the episode. */
import { ToolEnvError } from '@toolenv/core';
import { isObject } from '@toolenv/core/schemas';
import type { AgentContext } from './agent-episode.ts';
import { launch, type ProgramPlace } from './launch.ts';
import type { CommandResult, RunningProgram } from './program.ts';

/** How a program is run. */
export interface CommandOptions<Field extends string = string> extends ProgramPlace {
  /**
   * Fields of the task that the program gets, as JSON in `TOOLENV_TASK`. Whatever the model writes can read them too, so name no answer. Default: none,
   * and no such variable.
   */
  task?: readonly Field[];
  /** Text for its standard input, which is empty otherwise. */
  input?: string;
}

/** What a program needs of its episode: the task too, if it gets fields of it. */
type CommandContext<Field extends string> = Pick<AgentContext, 'baseURL' | 'apiKey' | 'signal'> &
  ([Field] extends [never] ? unknown : { readonly task: Readonly<Record<Field, unknown>> });

/** Runs a program for an episode. */
type CommandAgent<Field extends string> = (context: CommandContext<Field>) => Promise<CommandResult>;

/**
 * The agent that a program is: `agent: (context) => command('my-agent', ['--ask', context.task.question])(context)`, or a line for the shell, `agent:
 * command('my-agent --ask "$(jq -r .question <<< "$TOOLENV_TASK")"', { task: ['question'] })`. It finds its model in the variables `OPENAI_BASE_URL`,
 * `OPENAI_API_BASE`, `OPENAI_API_KEY`, `ANTHROPIC_BASE_URL` and `ANTHROPIC_API_KEY`. Of the task it gets the fields that `task` names, and nothing else.
 *
 * The agent throws {@link CommandFailed} for an exit code other than 0, `infrastructure.agent_command` if the program cannot be started or a signal ends
 * it, and `bug.environment` if the task lacks a field. When the episode ends, its process group gets SIGTERM, and SIGKILL after 5 seconds.
 */
export function command<const Field extends string = never>(
  line: string,
  options?: CommandOptions<Field>,
): CommandAgent<Field>;
export function command<const Field extends string = never>(
  file: string,
  args: readonly string[] | undefined,
  options?: CommandOptions<Field>,
): CommandAgent<Field>;
export function command<Field extends string>(
  file: string,
  ...given: [CommandOptions<Field>?] | [args: readonly string[] | undefined, CommandOptions<Field>?]
): CommandAgent<Field> {
  const isList = Array.isArray(given[0]);
  const args = isList ? (given[0] as readonly string[]) : undefined;
  const options = (isList ? given[1] : (given[0] ?? given[1])) as CommandOptions<Field> | undefined;
  const { input = '', task: fields, ...place } = options ?? {};
  return async (context) => {
    const { signal } = context;
    signal.throwIfAborted();
    const env = { ...taskVariable(Object(context).task, fields), ...place.env };
    await using launched = await launch(file, args, { ...place, env }, context);
    return await run(launched.program, input, signal);
  };
}

async function run(program: RunningProgram, input: string, signal: AbortSignal): Promise<CommandResult> {
  const end = () => program.end();
  signal.addEventListener('abort', end, { once: true });
  for (const name of ['stdout', 'stderr'] as const) program.keep(name);
  program.child.stdin!.end(input);
  try {
    return await program.finished();
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** The fields that the author names: a task has the right answer too. @throws ToolEnvError `bug.environment` if the task lacks one. */
function taskVariable(task: unknown, fields: readonly string[] | undefined): Record<string, string> {
  if (fields === undefined) return {};
  const lacking = fields.find((field) => !isObject(task) || !Object.hasOwn(task, field));
  if (lacking !== undefined) {
    const known = isObject(task) ? Object.keys(task).join(', ') : 'no fields';
    const message = `command: a task has no field "${lacking}": it has ${known}.`;
    throw new ToolEnvError('bug.environment', message);
  }
  const shown = Object.fromEntries(fields.map((field) => [field, (task as Record<string, unknown>)[field]]));
  return { TOOLENV_TASK: JSON.stringify(shown) };
}
