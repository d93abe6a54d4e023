/** OpenGroups: the groups that a trainer waits for. A checkpoint has them, so that a resumed run loses no group and learns from none twice. */
import { type CheckpointPart, openGroupsFile } from '../../run-folder/checkpoints.ts';

interface Stored {
  /** The number of the next group. */
  next: number;
  /** Times that the environment drew tasks. */
  draws: number;
  /** Tasks that were drawn and have no group yet. */
  drawn: number[];
  /** [number, index of the task], by number. */
  open: [group: number, task: number][];
}

export class OpenGroups implements CheckpointPart {
  readonly file: string = openGroupsFile;
  #state: Stored = { next: 0, draws: 0, drawn: [], open: [] };
  /** What the newest checkpoint has. */
  #kept: Pick<Stored, 'next' | 'open'> = { next: 0, open: [] };

  get size(): number {
    return this.#state.open.length;
  }

  /** By number. */
  get entries(): readonly (readonly [group: number, task: number])[] {
    return this.#state.open;
  }

  /** @param draw Draws the tasks of a step, by its number. */
  async fill(count: number, draw: (draws: number) => Promise<readonly number[]>): Promise<void> {
    while (this.size < count) {
      if (this.#state.drawn.length === 0) {
        this.#state.drawn.push(...(await draw(this.#state.draws)));
        this.#state.draws += 1;
      }
      this.#open(this.#state.drawn.shift()!);
    }
  }

  /** Opens a new group for the task of a group whose episodes cannot be used. */
  replace(group: number): void {
    const task = this.#state.open.find(([number]) => number === group)![1];
    this.close(group);
    this.#open(task);
  }

  close(group: number): void {
    this.#state.open = this.#state.open.filter(([number]) => number !== group);
  }

  /** Whether neither this run nor one that resumes at the newest checkpoint needs the group. */
  isOver(group: number): boolean {
    const needs = ({ next, open }: Pick<Stored, 'next' | 'open'>) =>
      group >= next || open.some(([number]) => number === group);
    return !needs(this.#state) && !needs(this.#kept);
  }

  write(): string {
    const text = JSON.stringify(this.#state);
    this.#kept = JSON.parse(text);
    return text;
  }

  read(text: string): void {
    this.#state = JSON.parse(text);
    this.#kept = JSON.parse(text);
  }

  #open(task: number): void {
    this.#state.open.push([this.#state.next++, task]);
  }
}
