/**
 * 2WikiMultihopQA's JSON format (COLING 2020, 2020.coling-main.580): HotpotQA's, with evidences, and since December 2020 with Wikidata ids
 * whose aliases are in a file `id_aliases.json`.
 */
import { ToolEnvError } from '@toolenv/core';
import { type FromJsonSchema, validate } from '@toolenv/core/schemas';
import { jsonObjects } from '@toolenv/dataset';
import { hotpotFields, hotpotFormat, hotpotShapes } from './hotpotqa-format.ts';
import type { RecordFormat } from './read-records.ts';

const triples = {
  type: 'array',
  items: { type: 'array', items: { type: 'string' }, minItems: 3, maxItems: 3 },
};

export const wikimultihopFormat: RecordFormat = {
  name: '2WikiMultihopQA',
  schema: {
    type: 'object',
    properties: {
      ...hotpotFields,
      evidences: triples,
      evidences_id: triples,
      answer_id: { type: ['string', 'null'] },
      entity_ids: { type: 'string' },
    },
    required: ['_id', 'question', 'answer', 'supporting_facts', 'context'],
  },
  shapes: {
    ...hotpotShapes,
    evidences: 'an array of [subject, relation, object]',
    evidences_id: 'an array of three ids each',
    answer_id: 'a Wikidata id, or null',
    entity_ids: 'a string, or nothing',
  },
  id: '_id',
  toRecord: hotpotFormat.toRecord,
};

const aliasSchema = {
  type: 'object',
  properties: {
    Q_id: { type: 'string' },
    aliases: { type: 'array', items: { type: 'string' } },
    demonyms: { type: 'array', items: { type: 'string' } },
  },
  required: ['Q_id', 'aliases', 'demonyms'],
} as const;

/**
 * The aliases and demonyms of the wanted Wikidata ids, which the official script accepts as answers. Streams the file.
 * @throws ToolEnvError as `streamRecords` does.
 */
export async function readAliases(path: string, wanted: ReadonlySet<string>): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for await (const { value, place } of jsonObjects(path)) {
    const [mistake] = validate(aliasSchema, value);
    if (mistake) {
      const message = `${place}: ${mistake.path || 'it'} ${mistake.expected}; received ${mistake.received}. Give the file id_aliases.json of 2WikiMultihopQA.`;
      throw new ToolEnvError('usage.broken_record', message);
    }
    const { Q_id, aliases, demonyms } = value as FromJsonSchema<typeof aliasSchema>;
    if (wanted.has(Q_id)) found.set(Q_id, [...new Set([...aliases, ...demonyms])]);
  }
  return found;
}
