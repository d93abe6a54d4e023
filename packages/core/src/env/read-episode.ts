/** readEpisode: what an author's `episode` has returned. A part that would be overlooked is refused. */
import { unknownPart } from '../protocol/did-you-mean.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import { isPlainObject } from '../protocol/plain-object.ts';
import { describe } from '../protocol/violation.ts';
import { definitionParts } from './declare-env.ts';
import type { Episode } from './episode.ts';
import { decisionParts } from './read-decision.ts';

const hooks = ['onToolResults', 'onAnswer', 'close'];
const parts = ['messages', 'tools', 'environmentTools', ...hooks];

/**
 * @param env Names the environment in errors.
 * @throws ToolEnvError `bug.environment` for anything but an object with messages and known parts of the right kinds. An instance of a
 *   class may have parts of its own.
 */
export function readEpisode(begun: unknown, env: string): Episode {
  const wrong = (problem: string) => new ToolEnvError('bug.environment', `${env}: episode ${problem}`);
  if (typeof begun !== 'object' || begun === null || Array.isArray(begun)) {
    const what = begun === undefined ? 'nothing' : describe(begun);
    throw wrong(`returned ${what}: return an object such as { messages, tools, onAnswer }.`);
  }
  const part = begun as Record<string, unknown>;
  if (isPlainObject(begun)) {
    const other = Object.keys(begun).find((name) => !parts.includes(name));
    if (other !== undefined && definitionParts.includes(other))
      throw wrong(`returned "${other}", a part of the definition: write it beside "episode".`);
    if (other !== undefined && decisionParts.includes(other))
      throw wrong(
        `returned "${other}", a part of what its hooks return: write it in onAnswer or onToolResults.`,
      );
    const unknown = unknownPart(begun, parts);
    if (unknown) throw wrong(`returned ${unknown}`);
  }
  const { messages } = part;
  if (typeof messages !== 'string' && !Array.isArray(messages))
    throw wrong(`returned messages that are ${describe(messages)}: give a text or messages.`);
  for (const name of ['tools', 'environmentTools'])
    if (part[name] !== undefined && !Array.isArray(part[name]) && typeof part[name] !== 'function')
      throw wrong(
        `returned "${name}" that is ${describe(part[name])}: give an array of tools, or a function that returns one.`,
      );
  for (const name of hooks)
    if (part[name] !== undefined && typeof part[name] !== 'function')
      throw wrong(`returned "${name}" that is ${describe(part[name])}: give a function.`);
  return begun as Episode;
}
