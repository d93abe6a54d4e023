/**
 * The secrets that this process knows: keys and tokens that it sends to servers. A server may repeat what it was sent, so text
 * loses them where it leaves the process: in records, in reports, on the terminal, in errors, and in what clients of a served
 * environment read.
 */

/** Replaces each secret. */
export const redacted = '[redacted]';

/** Names whose values are secret. Page tokens are not, and a replay needs them. */
export const secretNames: RegExp =
  /^(?!.*(page|next|continuation|sync)[-_]?token$).*(authorization|api[-_]?key|token|secret|password|passwd|cookie|private[-_]?key|credentials?)$/i;

/** Characters. Shorter values, such as the key `EMPTY` of a local server, occur in texts by chance. */
export const shortestSecret = 8;

/** Every copy of this package in a process has the same secrets. The longest come first, because a secret may contain another. */
const shared = globalThis as { [key: symbol]: string[] | undefined };
const key = Symbol.for('toolenv.secrets');
shared[key] ??= [];
const known: string[] = shared[key];

/** Registers a secret where it is read from an option or a variable. @returns The secret. */
export function registerSecret<T extends string | undefined>(secret: T): T {
  for (const each of formsOf(secret ?? '')) if (!known.includes(each)) known.push(each);
  known.sort((a, b) => b.length - a.length);
  return secret;
}

/** Registers the values that have secret names, such as those of headers. A scheme before a credential is not secret. */
export function registerNamedSecrets(values: Readonly<Record<string, string>> = {}): void {
  for (const [name, value] of Object.entries(values)) {
    if (!secretNames.test(name)) continue;
    registerSecret(value);
    registerSecret(/^[A-Za-z]+ +(\S+)$/.exec(value)?.[1]);
  }
}

/** The text without the secrets of this process. */
export function redactSecrets(text: string): string {
  let clean = text;
  for (const secret of known) if (clean.includes(secret)) clean = clean.replaceAll(secret, redacted);
  return clean;
}

/** JSON of a value without the secrets of this process, in its texts and names. Numbers stay. */
export function jsonWithoutSecrets(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return hasSecret(text) ? JSON.stringify(clean(JSON.parse(text)), null, indent) : text;
}

/** The value itself if JSON of it has no secret of this process; else what JSON holds of it, without them. */
export function valueWithoutSecrets<T>(value: T): T {
  if (known.length === 0) return value;
  const text = JSON.stringify(value);
  return hasSecret(text) ? (clean(JSON.parse(text)) as T) : value;
}

function hasSecret(text: string): boolean {
  return known.some((secret) => text.includes(secret));
}

/** Whether `now` has the text around the redacted parts of `kept`, in order. */
export function isSameButSecrets(kept: string, now: unknown): boolean {
  if (kept === redacted || kept === now) return true;
  if (typeof now !== 'string' || !kept.includes(redacted)) return false;
  const parts = kept.split(redacted);
  const [first, last] = [parts[0]!, parts.at(-1)!];
  if (!now.startsWith(first) || !now.endsWith(last)) return false;
  const end = now.length - last.length;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = now.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= end;
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return redactSecrets(value);
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [redactSecrets(name), clean(part)]));
}

/** As it is, in JSON and in a URL. */
function formsOf(secret: string): string[] {
  if (secret.length < shortestSecret) return [];
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(Buffer.from(secret).toString())];
}
