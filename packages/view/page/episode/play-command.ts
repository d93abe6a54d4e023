/** playCommand: the command that plays on from a recorded episode. */
import type { RunHead } from '../../src/view/viewed-run.ts';
import { turningEscape } from '../../src/view/visible-text.ts';

/** Characters that a terminal or a shell takes for more than a text, also between quotes. */
const control = /[\p{Cc}\p{Surrogate}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

/** @returns `undefined` if the environment has the name of a flag, or if a name has a control character, which a terminal would act on. */
export function playCommand(
  { path, facts }: Pick<RunHead, 'path' | 'facts'>,
  { env, number }: { env: string; number: number },
): string | undefined {
  const tools = facts.env === env ? toolPairs(facts.tools) : [];
  const words = [
    ...['toolenv', 'play', quoted(env), '--episode', quoted(`${path}:${number}`)],
    ...tools.flatMap((pair) => ['--tool', quoted(pair)]),
  ];
  const command = words.join(' ');
  // A name with a hyphen would be a flag, whatever its quotes.
  const isUnsafe = control.test(command) || turningEscape.test(command) || env.startsWith('-');
  return isUnsafe ? undefined : command;
}

/** A training run has the tools by role, an evaluation as they were given. */
function toolPairs(tools: unknown): string[] {
  if (Array.isArray(tools)) return tools.map(String);
  return Object.entries(Object(tools)).map(([role, tool]) => `${role}=${tool}`);
}

/** As one word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w@/.:=+-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
