/** Programs by name. Each is compiled at its first use, and again if that failed. */
import { getOrInsert } from './get-or-insert.ts';
import type { Executable } from './runtime.ts';

export class Programs<Name extends string = string> {
  readonly #compiled: Map<Name, Promise<Executable>> = new Map();

  get(name: Name, compile: () => Promise<Executable>): Promise<Executable> {
    return getOrInsert(this.#compiled, name, () => {
      const program = compile();
      // A compilation that failed, for example for lack of memory, may succeed later.
      program.catch(() => this.#compiled.delete(name));
      return program;
    });
  }

  async close(name: Name): Promise<void> {
    const program = this.#compiled.get(name);
    this.#compiled.delete(name);
    await (await program)?.close();
  }

  async closeAll(): Promise<void> {
    for (const name of [...this.#compiled.keys()]) await this.close(name);
  }
}
