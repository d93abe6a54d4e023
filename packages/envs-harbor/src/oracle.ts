/** The oracle of a task: it brings the files of solution/ into the container by commands, as an agent would, and runs solve.sh. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Scripted } from '@toolenv/core';
import { parse } from 'smol-toml';
import type { PlayedTask } from './played-task.ts';
import { fillVariables } from './task/host-variables.ts';

/** Characters of a file, as base64, in one command. */
const part = 60_000;

/** `undefined` for a task whose steps do not all have a solution. */
export function oracleOf({ folder, steps }: PlayedTask): Scripted[] | undefined {
  const places = steps.map((name) => [...(name === '' ? [] : [join(folder, 'steps', name)]), folder]);
  const solutions = places.map((each) =>
    each.map((place) => join(place, 'solution')).find((place) => existsSync(join(place, 'solve.sh'))),
  );
  if (solutions.includes(undefined)) return undefined;
  const env = solutionEnv(join(folder, 'task.toml'));
  return solutions.flatMap((solution) => [...commandsOf(solution!, env).map(bash), 'Done.']);
}

function bash(command: string): Scripted {
  return [{ name: 'bash', arguments: { command } }];
}

function commandsOf(solution: string, env: Readonly<Record<string, string>>): string[] {
  // An agent that is not root may have no /solution.
  const enter = 'S=/solution; mkdir -p $S 2>/dev/null && [ -w $S ] || S=/tmp/solution';
  const writing = filesIn(solution).flatMap((path) => {
    const text = readFileSync(join(solution, path)).toString('base64');
    const at = `"$S"/${quote(path)}`;
    const parts = Array.from({ length: Math.ceil(text.length / part) }, (_, index) =>
      text.slice(index * part, (index + 1) * part),
    );
    return [
      `mkdir -p "$(dirname ${at})"; : > ${at}; chmod +x ${at}`,
      ...parts.map((each) => `echo ${each} | base64 -d >> ${at}`),
    ];
  });
  const variables = Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}; `);
  const lines = [enter, ...writing, `(${variables.join('')}"$S"/solve.sh)`];
  return packed(lines, enter);
}

/** Lines in as few commands as hold them. */
function packed(lines: readonly string[], first: string): string[] {
  const commands: string[] = [];
  for (const line of lines) {
    const last = commands.at(-1);
    if (last !== undefined && last.length + line.length < 1.2 * part)
      commands[commands.length - 1] = `${last}\n${line}`;
    else commands.push(line === first ? line : `${first}\n${line}`);
  }
  return commands;
}

function filesIn(folder: string, below = ''): string[] {
  return readdirSync(join(folder, below))
    .sort()
    .flatMap((name) => {
      const path = join(below, name);
      return statSync(join(folder, path)).isDirectory() ? filesIn(folder, path) : [path];
    });
}

function solutionEnv(file: string): Record<string, string> {
  const { solution } = parse(readFileSync(file, 'utf8')) as { solution?: { env?: Record<string, unknown> } };
  return fillVariables(solution?.env, { file, key: 'solution.env', allowed: [] });
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
