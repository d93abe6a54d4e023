/** createQuestions, questionSet: distinct questions about one part of a world. */
import { createRng, type Rng, type Split, type TaskSet, ToolEnvError } from '@toolenv/core';
import type { QaRecord } from './qa-record.ts';
import { type QuestionDraft, toRecord } from './question-draft.ts';
import type { World, WorldPart } from './world.ts';

/** Number of questions of each split, in each family. */
export const questionCounts: Readonly<Record<Split, number>> = { train: 4000, validation: 400, test: 800 };

/** A family of synthetic questions. */
export interface QuestionFamily {
  /** `type` of its records, and prefix of their ids. */
  readonly type: string;
  /** Drafts question number `number` of a part; `undefined` if this draw gives no question and another must be made. */
  draw(part: WorldPart, number: number, rng: Rng): QuestionDraft | undefined;
}

/** The questions about one part of the world. Equal worlds give equal questions. */
export function createQuestions(
  family: QuestionFamily,
  world: World,
  split: Split,
  count: number = questionCounts[split],
): QaRecord[] {
  return [...drawQuestions(family, world, split, count)];
}

/** The same questions, drawn when they are read, because a look at an environment reads one of thousands. */
export function questionSet(family: QuestionFamily, world: World, split: Split): TaskSet<QaRecord> {
  const length = questionCounts[split];
  const source = drawQuestions(family, world, split, length);
  const drawn: QaRecord[] = [];
  return {
    length,
    get(index) {
      while (drawn.length <= index) drawn.push(source.next().value!);
      return drawn[index]!;
    },
  };
}

function* drawQuestions(
  { type, draw }: QuestionFamily,
  world: World,
  split: Split,
  count: number,
): Generator<QaRecord, undefined> {
  const part = world.parts[split];
  const rng = createRng(world.seed, type, split);
  const asked = new Set<string>();
  // Number only the accepted questions, because families balance their answers by the number.
  for (let draws = 0; asked.size < count; draws++) {
    if (draws > 100 * count) {
      const message = `The part has no ${count} different ${type} questions.`;
      throw new ToolEnvError('bug.too_few_questions', message);
    }
    const number = asked.size;
    const draft = draw(part, number, rng);
    if (!draft || asked.has(draft.question)) continue;
    asked.add(draft.question);
    yield toRecord(draft, { _id: `${type}-${world.seed}-${split}-${number}`, type }, part, rng);
  }
}
