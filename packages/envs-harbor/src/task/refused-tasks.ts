/** RefusedTasks: the tasks of a folder that cannot be played, by reason. */
import { relative } from 'node:path';
import { ToolEnvError } from '@toolenv/core';

/** Reasons that are listed. */
const shown = 20;

export class RefusedTasks {
  /** Folders of tasks by why they are refused. */
  readonly #byReason = new Map<string, string[]>();
  readonly #errors: ToolEnvError[] = [];

  /** @throws What is no refusal. */
  add(folder: string, error: unknown): void {
    if (!ToolEnvError.isInstance(error) || error.code !== 'usage.harbor_task') throw error;
    const reason = error.message.replaceAll(`${folder}/`, '').replace(/\s+/g, ' ');
    this.#byReason.set(reason, [...(this.#byReason.get(reason) ?? []), folder]);
    this.#errors.push(error);
  }

  get count(): number {
    return this.#errors.length;
  }

  /** Folders of tasks by why they are refused, the most frequent reason first. */
  get reasons(): [reason: string, folders: readonly string[]][] {
    return [...this.#byReason].sort(([, one], [, other]) => other.length - one.length);
  }

  /**
   * A line for each reason, with the number of tasks and one of them.
   * @param base Folder to which the tasks are named.
   */
  list(base: string): string {
    const { reasons } = this;
    const lines = reasons.slice(0, shown).map(([reason, folders]) => {
      const count = folders.length === 1 ? 'the task' : `${folders.length} tasks, such as`;
      return `- ${count} ${relative(base, folders[0]!) || '.'}: ${reason}`;
    });
    if (reasons.length > shown) lines.push(`- and for ${reasons.length - shown} other reasons`);
    return lines.join('\n');
  }

  /** The error for a folder whose tasks must all be playable, or of which none is. */
  error(base: string, all: number): ToolEnvError {
    const [first] = this.#errors;
    if (all === 1) return first!;
    const remedy =
      this.count < all ? ' Set the option unplayable to skip to leave them out, or mend them.' : '';
    const message = `${this.count} of ${all} tasks in ${base} cannot be played.${remedy}\n${this.list(base)}`;
    return new ToolEnvError('usage.harbor_task', message);
  }
}
