/** Takes secrets out of what is written down: by the name that a value goes by, and by value. */

/** Stands for what was taken out. */
export const redacted = '[redacted]';

export interface RedactionRules {
  /** Names whose values are secret, as property names and in text (`name=value`, `"name": "value"`). */
  keys?: RegExp;
  /** Secrets known by value, wherever they stand. */
  values?: readonly (string | RegExp)[];
}

/** Tokens of pages are no secrets, and a replay needs them. */
const secretKeys =
  /^(?!.*(page|next|continuation|sync)[-_]?token$).*(authorization|api[-_]?key|token|secret|password|passwd|cookie|private[-_]?key|credentials?)$/i;

/** A name and what joins it to a value: `name=`, `name: `, `"name": "`, also inside a JSON string. */
const nameInText = /(?<![\w-])([A-Za-z_][\w-]*)(\\?["']?\s*[:=]\s*\\?["']?)/g;
const header = /(authorization|cookie)$/i;
const bearer = /(?<=\bBearer\s)[\w.~+/=-]{8,}/g;

/**
 * A function that copies a JSON value without its secrets: values of secret names, the values given, and this process's
 * environment variables, as pairs of name and value and, where the name is a secret's, by value alone.
 */
export function createRedactor({ keys = secretKeys, values = [] }: RedactionRules = {}): <T>(value: T) => T {
  const isSecretName = (name: string) => name.search(keys) >= 0;
  const environment = new Map(Object.entries(process.env).filter(([, value]) => value !== '')) as Map<
    string,
    string
  >;
  // A short value is in many a text by chance.
  const variables = [...environment].filter(([name, value]) => isSecretName(name) && value.length >= 8);
  const known = [bearer, ...values, ...variables.map(([, value]) => value)].filter((value) => value !== '');
  // The longest first: one may hold another.
  const strings = known.filter((value) => typeof value === 'string').sort((a, b) => b.length - a.length);
  const patterns = known
    .filter((value) => value instanceof RegExp)
    .map(({ source, flags }) => new RegExp(source, flags.includes('g') ? flags : `${flags}g`));

  const isSecret = (name: string, value: unknown) =>
    (isSecretName(name) && value !== null && typeof value !== 'boolean') ||
    (typeof value === 'string' && environment.get(name) === value);

  const cleanText = (text: string): string => {
    let clean = text;
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

/** `text` with the spans that `secretAt` finds after a name taken out. */
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

/** Where the secret ends that begins at `at`, after `name` and `sign`; at `at` if what is there looks like none. */
function secretEnd(name: string, sign: string, text: string, at: number): number {
  const end = (pattern: RegExp) => {
    pattern.lastIndex = at;
    return at + (pattern.exec(text)?.[0].length ?? 0);
  };
  const quote = /\\?["']$/.exec(sign)?.[0];
  if (quote) return quoteEnd(text, at, quote);
  if (header.test(name)) return end(/[^\r\n"'\\]+/y);
  // Prose may say "The secret: he knew"; after a bare colon, only what looks like a secret is one.
  const looksSecret = sign.includes('=') || /\d/.test(text.slice(at, end(/[^\s"'\\,;&]{8,64}/y)));
  return looksSecret ? end(/[^\s"'\\,;&]+/y) : at;
}

/** Where the next such quote is that is not escaped itself, else the text's end. */
function quoteEnd(text: string, at: number, quote: string): number {
  for (let i = at; i < text.length; i++) {
    if (text.startsWith(quote, i)) return i;
    if (text[i] === '\\') i += 1;
  }
  return text.length;
}
