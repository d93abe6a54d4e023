/** The closed vocabulary of all worlds, for word-level tokenizers. */
import { kindNames, kinds } from './kinds.ts';
import { firstWords, secondWords } from './names.ts';
import { years } from './world.ts';

/** Words and punctuation marks of a text, unchanged: `Who?` gives `Who`, `?`. */
export function wordsOf(text: string): string[] {
  return text.match(/[A-Za-z0-9]+|[^\sA-Za-z0-9]/g) ?? [];
}

/** Every word and punctuation mark that a document, a question or an answer of any world can contain, sorted. */
export function worldVocabulary(): string[] {
  const words = new Set<string>([...firstWords, ...secondWords, ...years.map(String)]);
  for (const word of ['yes', 'no', 'the', 'he', 'she', 'He', 'She', 'his', 'her', 'His', 'Her'])
    words.add(word);
  for (const name of kindNames) {
    const { noun, relations, sentences, traits, byYear, byTargetYear } = kinds[name];
    const templates = [...sentences.flat(), ...traits, ...(noun ? [noun] : [])];
    for (const { phrases, questions, same = [] } of Object.values(relations)) {
      templates.push(...phrases, ...questions, ...same);
    }
    for (const set of [byYear, byTargetYear]) if (set) templates.push(...set.earlier, ...set.later);
    for (const template of templates) {
      for (const word of wordsOf(template.replaceAll(/\{\w+\}/g, ' '))) words.add(word);
    }
  }
  return [...words].sort();
}
