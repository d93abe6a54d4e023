/** A mistake of an author: what is changed in a module that is right, and what the first commands of the guides must say of it. */
export interface Mistake {
  /** What the author did. */
  readonly did: string;
  /** The module that was right. */
  readonly in: string;
  /** What was changed: text of the module, and what stands there now. */
  readonly edits: readonly (readonly [from: string, to: string])[];
  /** Other files in the folder of the module. */
  readonly files?: Readonly<Record<string, string>>;
  /** What `toolenv check` must say. */
  readonly says: RegExp;
  /** Whether only a process shows it: what ends or outlives the command. */
  readonly isProcess?: boolean;
}

/** The module with the mistake. @throws Error if a text is not there, or twice. */
export function moduleOf({ did, in: right, edits }: Mistake): string {
  return edits.reduce((module, [from, to]) => {
    if (module.split(from).length !== 2) throw new Error(`${did}: ${from} is not there once.`);
    return module.replace(from, () => to);
  }, right);
}
