/** createQuestions: a set of distinct questions about one part of a world. */
import { createRng, type Rng, type Split, ToolEnvError } from '@toolenv/core';
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
  { type, draw }: QuestionFamily,
  world: World,
  split: Split,
  count: number = questionCounts[split],
): QaRecord[] {
  const part = world.parts[split];
  const rng = createRng(world.seed, type, split);
  const asked = new Set<string>();
  const records: QaRecord[] = [];
  // Number only the accepted questions, because families balance their answers by the number.
  for (let draws = 0; records.length < count; draws++) {
    if (draws > 100 * count) {
      const message = `The part has no ${count} different ${type} questions.`;
      throw new ToolEnvError('bug.too_few_questions', message);
    }
    const draft = draw(part, records.length, rng);
    if (!draft || asked.has(draft.question)) continue;
    asked.add(draft.question);
    const _id = `${type}-${world.seed}-${split}-${records.length}`;
    records.push(toRecord(draft, { _id, type }, part, rng));
  }
  return records;
}
