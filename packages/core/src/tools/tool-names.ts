/** ToolNames: the names under which models call the tools of other programs. Model servers refuse names with other characters, or longer ones. */

/** As OpenAI's and Anthropic's APIs, and the servers that follow them, demand. */
const usable = /^[a-zA-Z0-9_-]{1,64}$/;
const longest = 64;

/** The name, with "_" for each run of other characters, and cut to 64 characters. It may be the name of another tool. */
export function usableToolName(name: string): string {
  if (usable.test(name)) return name;
  const plain = name.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, longest);
  return /[a-zA-Z0-9]/.test(plain) ? plain : 'tool';
}

/** A tool keeps its name for as long as these names are used. */
export class ToolNames {
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  /**
   * A name for each of the names, all different. Usable names stay; of others that would become equal, the later ones get a number.
   * @param given All different.
   */
  of(given: readonly string[]): Map<string, string> {
    for (const name of given.filter((each) => usable.test(each))) this.#take(name, name);
    for (const name of given) if (!this.#names.has(name)) this.#take(name, this.#free(usableToolName(name)));
    return new Map(given.map((name) => [name, this.#names.get(name)!]));
  }

  #free(plain: string): string {
    let free = plain;
    for (let number = 2; this.#taken.has(free); number++) {
      const end = `_${number}`;
      free = `${plain.slice(0, longest - end.length)}${end}`;
    }
    return free;
  }

  #take(given: string, name: string): void {
    if (this.#names.has(given)) return;
    // A name that came later gives way.
    const own = this.#taken.has(name) ? this.#free(name) : name;
    this.#names.set(given, own);
    this.#taken.add(own);
  }
}
