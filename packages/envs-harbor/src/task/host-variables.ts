/** Fills in `${NAME}` and `${NAME:-default}` in the variables of a task, from the environment of this process. */
import { taskMistake } from './task-mistake.ts';

/**
 * @param allowed Variables that the user lets tasks read. Another one has its default.
 * @throws ToolEnvError `usage.harbor_task` for a variable that is not allowed or not set, and has no default.
 */
export function fillVariables(
  env: Readonly<Record<string, unknown>> = {},
  { file, key, allowed }: { file: string; key: string; allowed: readonly string[] },
): Record<string, string> {
  const filled = Object.entries(env).map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw taskMistake(file, `${key}.${name}`, 'a variable has letters, digits and "_" only');
    const text = String(value).replace(
      /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
      (_, asked: string, otherwise?: string) => {
        const found = allowed.includes(asked) ? process.env[asked] : undefined;
        if (found !== undefined) return found;
        if (otherwise !== undefined) return otherwise;
        const remedy = allowed.includes(asked)
          ? `set ${asked}`
          : `tasks read no variables of this machine unless the option hostVariables names them: ${asked}`;
        throw taskMistake(file, `${key}.${name}`, `it needs the variable ${asked}: ${remedy}`);
      },
    );
    return [name, text] as const;
  });
  return Object.fromEntries(filled);
}
