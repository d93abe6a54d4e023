/** Reads a file of open texts: a JSON object of names and texts, as a prompt trainer writes it. */

import { readRegular } from '../files/regular-file.ts';
import { messageOf, ToolEnvError } from '../protocol/errors.ts';
import { type Prompts, promptMistake } from '../protocol/prompts.ts';

/** @throws ToolEnvError `usage.prompts_file` for a file that is absent or is not such an object. */
export async function readPrompts(file: string): Promise<Prompts> {
  const wrong = (problem: string, cause?: unknown) => {
    const form = 'give a JSON file such as { "system": "You work for a bank." }';
    return new ToolEnvError('usage.prompts_file', `${file}: ${problem}: ${form}.`, { cause });
  };
  let content: unknown;
  try {
    content = JSON.parse(await readRegular(file, 'name the file of a run, prompts.json'));
  } catch (error) {
    throw wrong(messageOf(error), error);
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw wrong('it is not an object of texts');
  for (const [name, text] of Object.entries(content)) {
    const mistake = promptMistake(text);
    if (mistake) throw wrong(`the text "${name}" ${mistake}`);
  }
  return content as Prompts;
}
