/** The rows of a dataset of NeMo Gym: requests of OpenAI's Responses API, and what the server needs to verify their answers. */
import { asClause, messageOf, type TaskSources, ToolEnvError } from '@toolenv/core';
import { readJsonLines } from '@toolenv/core/files';
import { isObject, tryJson } from '@toolenv/core/schemas';
import { messagesOf, toolsOf } from './responses.ts';

/** A row as its file has it. The server gets it whole. */
export type NemoGymRow = Readonly<Record<string, unknown>> & {
  readonly responses_create_params: Readonly<Record<string, unknown>>;
};

/** Without a file of test tasks, each fifth task is a test task. */
const testShare = 5;

export function rowSources(path: string, testPath: string | undefined): TaskSources<NemoGymRow> {
  if (testPath !== undefined) return { train: () => readRows(path), test: () => readRows(testPath) };
  const isTest = (index: number) => index % testShare === testShare - 1;
  return { train: () => readRows(path, (index) => !isTest(index)), test: () => readRows(path, isTest) };
}

/** @throws ToolEnvError `usage.nemo_gym` for a line that is no row, with its place, and as `readJsonLines` does. */
async function* readRows(path: string, isChosen = (_index: number) => true): AsyncGenerator<NemoGymRow> {
  let index = 0;
  for await (const { text, place } of readJsonLines(path)) {
    if (isChosen(index)) yield readRow(text, place);
    index += 1;
  }
}

function readRow(text: string, place: string): NemoGymRow {
  const row = tryJson(text);
  try {
    if (!isObject(row) || !isObject(row.responses_create_params))
      throw new Error('a row is a JSON object with responses_create_params');
    messagesOf(row.responses_create_params);
    toolsOf(row.responses_create_params);
    return row as NemoGymRow;
  } catch (error) {
    const message = `${place} is no row that can be played: ${asClause(messageOf(error))}.`;
    throw new ToolEnvError('usage.nemo_gym', message);
  }
}
