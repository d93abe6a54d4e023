/** Names of the Hugging Face Hub: `owner/name`, with `hf:` before it and `@revision` after it if need be. */

/** A repository of the Hub, and what is wanted of it. */
export interface HubName {
  /** `owner/name`. */
  name: string;
  /** A branch, a tag or a commit; absent if the name has none. */
  revision?: string;
}

const part = '[A-Za-z0-9_][A-Za-z0-9._-]{0,95}';
const pattern = new RegExp(`^(?:hf:)?(${part}/${part})(?:@([A-Za-z0-9_][A-Za-z0-9._/-]{0,254}))?$`);

/** `undefined` for a text of another form. The repository may not exist. */
export function parseHubName(text: string): HubName | undefined {
  const [, name, revision] = pattern.exec(text) ?? [];
  // Folders of the cache have these names.
  if (name === undefined || /\.\.|--|\/\//.test(`${name}`) || /\.\.|\/\/|\/$/.test(revision ?? ''))
    return undefined;
  return { name, ...(revision !== undefined && { revision }) };
}

export function isCommit(revision: string): boolean {
  return /^[0-9a-f]{40}$/.test(revision);
}
