/** @toolenv/tools-search: a search tool over an embedded full-text index. */
export type { SearchDocument, SearchHit } from './document.ts';
export { createSearchIndex, type SearchIndex, type SearchIndexOptions } from './search-index.ts';
export { createSearchTool, type SearchData, type SearchMaterial } from './search-v1.ts';
