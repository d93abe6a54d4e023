/** The format in which the authors of a dataset publish their records. */
import type { JsonSchema } from '@toolenv/core';
import type { QaRecord } from '../qa-record.ts';

export interface RecordFormat {
  /** As people call it, for errors: `HotpotQA`. */
  readonly name: string;
  /** Of one record. */
  readonly schema: JsonSchema;
  /** Field → its required form in words, for errors. */
  readonly shapes: Readonly<Record<string, string>>;
  /** Field with the name of a record. */
  readonly id: string;
  /** Makes a record of a value that the schema accepts. */
  toRecord(value: object): QaRecord;
}
