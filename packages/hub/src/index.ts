/** @toolenv/hub: models and datasets of the Hugging Face Hub by name, in the cache that Python shares. */
export { type Download, download } from './download.ts';
export { type Fetched, fetchFiles, type Wanted } from './fetch-files.ts';
export { fetchModel, type ModelParts } from './fetch-model.ts';
export { parseHubName } from './hub-name.ts';
export type { HubFile } from './listing.ts';
export { type Push, type Pushed, push } from './push.ts';
