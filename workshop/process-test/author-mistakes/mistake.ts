/** A mistake of an author: what is changed in a module that is right, and what the first commands of the guides must say of it. */
export interface Mistake {
  /** What the author did. */
  readonly did: string;
  /** The module that was right. */
  readonly in: string;
  readonly edits: readonly Edit[];
  /** Other files in the folder of the module. */
  readonly files?: Files | undefined;
  /** What `toolenv check` must say. */
  readonly says: RegExp;
  /** Whether only a process shows it: what ends or outlives the command. */
  readonly isProcess?: boolean;
}

/** Text of the module, and what stands there now. */
type Edit = readonly [from: string, to: string];
type Files = Readonly<Record<string, string>>;
/** What was changed, and at the end what `toolenv check` must say. */
type Changed = readonly [...changes: readonly (Edit | Files)[], says: RegExp];

/** Mistakes in a module that was right, by what the author did. Files beside one mistake replace those of all. */
export function mistakesIn(
  right: string,
  mistakes: Readonly<Record<string, Changed>>,
  of: Pick<Mistake, 'files' | 'isProcess'> = {},
): Mistake[] {
  return Object.entries(mistakes).map(([did, changed]) => {
    const changes = changed.slice(0, -1) as (Edit | Files)[];
    const files = changes.find((change): change is Files => !Array.isArray(change));
    const edits = changes.filter((change): change is Edit => Array.isArray(change));
    return { did, in: right, edits, says: changed.at(-1) as RegExp, ...of, ...(files && { files }) };
  });
}

/** The module with the mistake. @throws Error if a text is not there, or twice. */
export function moduleOf({ did, in: right, edits }: Mistake): string {
  return edits.reduce((module, [from, to]) => {
    if (module.split(from).length !== 2) throw new Error(`${did}: ${from} is not there once.`);
    return module.replace(from, () => to);
  }, right);
}
