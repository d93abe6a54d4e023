/** @toolenv/dataset: tasks from the rows of a file, read as they are needed. */
export { type DatasetOptions, dataset } from './dataset.ts';
export { jsonObjects } from './json-rows.ts';
export type { Row } from './row.ts';
