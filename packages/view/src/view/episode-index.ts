/** EpisodeIndex: a row for each episode of a file that may still grow, and the place where the episode stands in the file. */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { tryObject } from '@toolenv/core/schemas';
import { successShare } from '@toolenv/training/runs';
import { type EpisodeSummary, summaryOf } from '../recorded/episode-filter.ts';
import type { RecordedEpisode } from '../recorded/recorded-episode.ts';
import { type KindFields, KindReader } from '../recorded/task-kinds.ts';
import type { Extent } from './extent.ts';
import { LineTail, type Place } from './line-tail.ts';

export interface EpisodeRow extends EpisodeSummary {
  /** Position in the file, from 0. */
  number: number;
  /** Episodes of the same task have the same number, over all steps. */
  task: number;
  /** As {@link successShare} says. */
  success?: number;
  /** Equal for equal tasks of any run. */
  digest: string;
  /** What the policy was asked first, shortened. */
  question: string;
  /** What the policy said last, shortened. */
  answer: string;
  /** Absent if the task has none. */
  kinds?: KindFields;
}

/** How many episodes have each value, for the choices of a filter. */
export interface Facets {
  outcomes: Record<string, number>;
  mistakes: Record<string, number>;
  tools: Record<string, number>;
  /** Lines that are not episodes. */
  damaged: number;
}

const excerptCharacters = 120;
const digestCharacters = 10;
/** Milliseconds of reading after which others have their turn: the page asks while a large file is read. */
const maxTurn = 10;

export class EpisodeIndex {
  readonly rows: EpisodeRow[] = [];
  facets: Facets = noFacets();
  readonly #tail: LineTail;
  readonly #places: Place[] = [];
  /** Numbers of tasks by a digest of the environment and the task. */
  readonly #tasks = new Map<string, number>();
  #kinds = new KindReader();

  constructor(file: string) {
    this.#tail = new LineTail(file);
  }

  get extent(): Extent {
    return { count: this.rows.length, generation: this.#tail.generation };
  }

  /** Reads what was written since the last call. Call again only after it has ended. */
  async update(): Promise<void> {
    let began = performance.now();
    for await (const { text, offset, length } of this.#tail.read(() => this.#restart())) {
      if (performance.now() - began > maxTurn) {
        await setImmediate();
        began = performance.now();
      }
      const episode = parse(text);
      if (!episode) {
        this.facets.damaged += 1;
        continue;
      }
      this.#add(episode, { offset, length });
    }
  }

  /** The line of an episode, as it stands in the file. */
  async line(number: number): Promise<string> {
    for await (const { text } of this.lines([number])) return text;
    throw new RangeError(`There is no episode ${number}.`);
  }

  /** The lines of the episodes with these numbers, which ascend. */
  async *lines(numbers: readonly number[]): AsyncGenerator<{ number: number; text: string }, void, void> {
    const places = numbers.map((number) => this.#places[number]!);
    let next = 0;
    for await (const text of this.#tail.lines(places)) yield { number: numbers[next++]!, text };
  }

  #restart(): void {
    this.rows.length = 0;
    this.#places.length = 0;
    this.facets = noFacets();
    this.#kinds = new KindReader();
  }

  #add(episode: RecordedEpisode, place: Place): void {
    const digest = createHash('sha1')
      .update(`${episode.env} ${JSON.stringify(episode.task)}`)
      .digest('base64');
    const task = this.#tasks.get(digest) ?? this.#tasks.size;
    this.#tasks.set(digest, task);
    const summary = summaryOf(episode);
    const { steps, rewardSpec, rewards } = episode;
    const success = successShare(rewardSpec, Object(rewards));
    const kinds = this.#kinds.of(episode.task);
    const first = steps[0]?.observation.messages.findLast(({ role }) => role === 'user');
    const row = {
      ...summary,
      number: this.rows.length,
      task,
      ...(success !== undefined && { success }),
      digest: digest.slice(0, digestCharacters),
      question: excerpt(first?.content ?? ''),
      answer: lastWords(steps.at(-1)?.action.text ?? ''),
      ...(Object.keys(kinds).length > 0 && { kinds }),
    };
    this.rows.push(row);
    this.#places.push(place);
    count(this.facets.outcomes, summary.end);
    for (const code of summary.mistakes) count(this.facets.mistakes, code);
    for (const tool of summary.tools) count(this.facets.tools, tool);
  }
}

/** The counts have no prototype, because their names come from files. */
function noFacets(): Facets {
  return {
    outcomes: Object.create(null),
    mistakes: Object.create(null),
    tools: Object.create(null),
    damaged: 0,
  };
}

function count(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

/** The end of a text: an answer follows the thoughts. */
function lastWords(text: string): string {
  const line = lineOf(text);
  return line.length > excerptCharacters ? `…${line.slice(1 - excerptCharacters)}` : line;
}

function lineOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function excerpt(text: string): string {
  const line = lineOf(text);
  return line.length > excerptCharacters ? `${line.slice(0, excerptCharacters - 1)}…` : line;
}

/**
 * The episode of a line, without the checks of decodeTrajectory, which take most of the time of reading: only what a row needs
 * must be there.
 */
function parse(text: string): RecordedEpisode | undefined {
  const episode = tryObject(text) as Partial<RecordedEpisode> | undefined;
  const isWhole = episode?.version === 1 && Array.isArray(episode.steps);
  return isWhole && typeof episode.outcome?.kind === 'string' ? (episode as RecordedEpisode) : undefined;
}
