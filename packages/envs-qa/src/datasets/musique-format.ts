/** MuSiQue's JSON lines (arXiv 2108.00573): MuSiQue-Ans, whose questions can be answered, and MuSiQue-Full, where half of them cannot. */
import type { FromJsonSchema } from '@toolenv/core/schemas';
import type { QaRecord } from '../qa-record.ts';
import type { RecordFormat } from './read-records.ts';

const schema = {
  type: 'object',
  properties: {
    id: { type: 'string', minLength: 1 },
    question: { type: 'string', minLength: 1 },
    answer: { type: 'string', minLength: 1 },
    answer_aliases: { type: 'array', items: { type: 'string' } },
    answerable: { type: 'boolean' },
    paragraphs: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: {
          idx: { type: 'integer' },
          title: { type: 'string' },
          paragraph_text: { type: 'string' },
          is_supporting: { type: 'boolean' },
        },
        required: ['idx', 'title', 'paragraph_text', 'is_supporting'],
      },
    },
    question_decomposition: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          question: { type: 'string' },
          answer: { type: 'string' },
          paragraph_support_idx: { type: ['integer', 'null'] },
        },
        required: ['question', 'answer', 'paragraph_support_idx'],
      },
    },
  },
  required: [
    ...['id', 'question', 'answer', 'answer_aliases', 'answerable', 'paragraphs'],
    'question_decomposition',
  ],
} as const;

export const musiqueFormat: RecordFormat = {
  name: 'MuSiQue',
  schema,
  shapes: {
    id: 'a string that names the record',
    question: 'a string that is not empty',
    answer: 'a string that is not empty (the public test set has none: use the dev set)',
    answer_aliases: 'an array of strings (the public test set has none: use the dev set)',
    answerable: 'true or false',
    paragraphs: 'an array of { idx, title, paragraph_text, is_supporting } with one paragraph or more',
    question_decomposition: 'an array of { question, answer, paragraph_support_idx }',
  },
  id: 'id',
  toRecord: (value) => toRecord(value as FromJsonSchema<typeof schema>),
};

function toRecord(value: FromJsonSchema<typeof schema>): QaRecord {
  const { id, question, answer, answer_aliases, answerable, paragraphs, question_decomposition } = value;
  const supporting = paragraphs.filter(({ is_supporting }) => is_supporting);
  // In the order of the hops. The paragraph of a hop that an unanswerable question lacks has no place.
  const hops = question_decomposition.map(({ paragraph_support_idx }) => paragraph_support_idx);
  const place = (idx: number) => (hops.includes(idx) ? hops.indexOf(idx) : hops.length);
  supporting.sort((a, b) => place(a.idx) - place(b.idx));
  return {
    _id: id,
    question,
    answer,
    aliases: answer_aliases,
    answerable,
    // As in 2hop__482757_12019: the number of hops and, where they branch, their shape.
    type: id.split('__')[0]!,
    level: '',
    supporting_facts: supporting.map(({ title }) => [title, 0]),
    supporting_paragraphs: supporting.map(({ title, paragraph_text }) => [title, paragraph_text]),
    question_decomposition,
    context: paragraphs.map(({ title, paragraph_text }) => [title, [paragraph_text]]),
  };
}
