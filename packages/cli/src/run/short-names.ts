/** shortNames: names for the environments of a command line, in metrics and in config.json. */
import { basename } from 'node:path';
import { ToolEnvError } from '@toolenv/core';

/**
 * `lookup-v1` for `@toolenv/envs-qa/lookup-v1?topK=3`; with its options where another environment has the name, and the whole text
 * where that does not tell them apart.
 * @throws ToolEnvError `usage.arguments` for a text that is there twice.
 */
export function shortNames(texts: readonly string[]): string[] {
  const forms = texts.map((text) => {
    const [reference = '', query] = text.split(/\?(.*)/s);
    const short = basename(reference);
    return [short, query === undefined ? short : `${short}?${query}`, text];
  });
  const isUnique = (form: string, length: number) =>
    forms.filter((others) => others[length] === form).length === 1;
  return forms.map((own, index) => {
    const name = own.find(isUnique);
    if (name !== undefined) return name;
    const message = `${texts[index]} is named twice: give one of them other options.`;
    throw new ToolEnvError('usage.arguments', message);
  });
}
