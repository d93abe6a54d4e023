/** Removes secrets from records, by the name of a value and by the value itself. */
import { redacted, redactSecrets, secretNames, shortestSecret } from '../protocol/secrets.ts';

/** What counts as a secret. */
export interface RedactionRules {
  /** Names whose values are secret, as property names and in text (`name=value`, `"name": "value"`). */
  keys?: RegExp;
  /** Secret values, removed everywhere. */
  values?: readonly (string | RegExp)[];
}

/** A name and the characters between it and its value: `name=`, `name: `, `"name": "`, also inside a JSON string. */
const nameInText = /(?<![\w-])([A-Za-z_][\w-]*)(\\?["']?\s*[:=]\s*\\?["']?)/g;
const header = /(authorization|cookie)$/i;
const bearer = /(?<=\bBearer\s)[\w.~+/=-]{8,}/g;

/**
 * Makes a function that copies a JSON value without secrets: values with secret names, the given values, the secrets that this process sends, and the environment
 * variables of this process, as pairs of name and value or, if the name is secret, by value alone.
 */
export function createRedactor({ keys = secretNames, values = [] }: RedactionRules = {}): <T>(value: T) => T {
  const isSecretName = (name: string) => name.search(keys) >= 0;
  const environment = new Map(Object.entries(process.env).filter(([, value]) => value !== '')) as Map<
    string,
    string
  >;
  // Short values occur in texts by chance.
  const variables = [...environment].filter(
    ([name, value]) => isSecretName(name) && value.length >= shortestSecret,
  );
  const known = [bearer, ...values, ...variables.map(([, value]) => value)].filter((value) => value !== '');
  // The longest first, because a secret may contain another.
  const strings = known.filter((value) => typeof value === 'string').sort((a, b) => b.length - a.length);
  const patterns = known
    .filter((value) => value instanceof RegExp)
    .map(({ source, flags }) => new RegExp(source, flags.includes('g') ? flags : `${flags}g`));

  const isSecret = (name: string, value: unknown) =>
    (isSecretName(name) && value !== null && typeof value !== 'boolean') ||
    (typeof value === 'string' && environment.get(name) === value);

  const cleanText = (text: string): string => {
    let clean = redactSecrets(text);
    for (const secret of strings) clean = clean.replaceAll(secret, redacted);
    for (const pattern of patterns) clean = clean.replaceAll(pattern, redacted);
    return replaceNamed(clean, (name, sign, at) => {
      const variable = environment.get(name);
      const written = variable === undefined ? [] : [variable, JSON.stringify(variable).slice(1, -1)];
      const pair = written.find((value) => clean.startsWith(value, at));
      if (pair !== undefined) return [at, at + pair.length];
      const end = isSecretName(name) ? secretEnd(name, sign, clean, at) : at;
      return end > at ? [at, end] : undefined;
    });
  };

  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return cleanText(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(clean);
    const parts = Object.entries(value).map(([name, part]) => {
      return [cleanText(name), isSecret(name, part) ? redacted : clean(part)] as const;
    });
    return Object.fromEntries(parts);
  };
  return <T>(value: T) => clean(value) as T;
}

type Span = readonly [start: number, end: number];

/** `text` without the spans that `secretAt` finds after a name. */
function replaceNamed(
  text: string,
  secretAt: (name: string, sign: string, at: number) => Span | undefined,
): string {
  let clean = '';
  let done = 0;
  for (const match of text.matchAll(nameInText)) {
    const span =
      match.index < done ? undefined : secretAt(match[1]!, match[2]!, match.index + match[0].length);
    if (!span) continue;
    clean += text.slice(done, span[0]) + redacted;
    done = span[1];
  }
  return clean + text.slice(done);
}

/** The end of the secret that begins at `at`, after `name` and `sign`; `at` itself if the text there does not look secret. */
function secretEnd(name: string, sign: string, text: string, at: number): number {
  const end = (pattern: RegExp) => {
    pattern.lastIndex = at;
    return at + (pattern.exec(text)?.[0].length ?? 0);
  };
  const quote = /\\?["']$/.exec(sign)?.[0];
  if (quote) return quoteEnd(text, at, quote);
  if (header.test(name)) return end(/[^\r\n"'\\]+/y);
  // Prose may contain "The secret: he knew". After a bare colon, only text that looks like a secret counts.
  const looksSecret = sign.includes('=') || /\d/.test(text.slice(at, end(/[^\s"'\\,;&]{8,64}/y)));
  return looksSecret ? end(/[^\s"'\\,;&]+/y) : at;
}

/** The position of the next unescaped `quote`, or the end of the text. */
function quoteEnd(text: string, at: number, quote: string): number {
  for (let i = at; i < text.length; i++) {
    if (text.startsWith(quote, i)) return i;
    if (text[i] === '\\') i += 1;
  }
  return text.length;
}
