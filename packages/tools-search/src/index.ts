/** @toolenv/tools-search: search tools over an embedded index, over indexes of large corpora, and over retrieval servers. */
export type { SearchDocument, SearchHit } from './document.ts';
export { type BuildIndexOptions, buildPassageIndex, type IndexProgress } from './passages/build-index.ts';
export type { IndexOptions } from './passages/index-options.ts';
export type { IndexSearchOptions } from './passages/index-search-v1.ts';
export type { PassageFormat } from './passages/passage-formats.ts';
export {
  type OpenIndexOptions,
  openPassageIndex,
  type PassageIndex,
  type SearchMode,
} from './passages/passage-index.ts';
export type { RemoteSearchOptions } from './remote/remote-search-v1.ts';
export type { Retriever, SearchOptions } from './retriever.ts';
export { createSearchIndex, type SearchIndex, type SearchIndexOptions } from './search-index.ts';
export { retrieverOf, type SearchTool } from './search-tool.ts';
export { createSearchTool, type SearchMaterial } from './search-v1.ts';
export { type SearchService, type ServeSearchOptions, serveSearch } from './serving/serve-search.ts';
