/**
 * The options of an index of passages, as a JSON Schema: `toolenv index` has a flag for each. `@toolenv/tools-search/options` is this
 * file, which does not load LanceDB. The languages are those of LanceDB.
 */
import type { OptionsOf } from '@toolenv/core/schemas';

export const indexOptionsSchema = {
  type: 'object',
  properties: {
    format: {
      enum: ['jsonl', 'beir', 'kilt', 'search-r1'],
      description: 'format of the lines (default: that of the first line)',
    },
    language: {
      enum: [
        'Arabic',
        'Danish',
        'Dutch',
        'English',
        'Finnish',
        'French',
        'German',
        'Greek',
        'Hungarian',
        'Italian',
        'Norwegian',
        'Portuguese',
        'Romanian',
        'Russian',
        'Spanish',
        'Swedish',
        'Tamil',
        'Turkish',
      ],
      default: 'English',
      description: 'language of the stemmer and the stop words',
    },
    stem: {
      type: 'boolean',
      default: true,
      description: 'whether to find words by their stem: "wells" finds "well"',
    },
    stopWords: { type: 'boolean', default: false, description: 'whether to index stop words too' },
    asciiFolding: { type: 'boolean', default: true, description: 'whether to ignore accents' },
    embeddings: {
      type: 'string',
      minLength: 1,
      description:
        'base URL of an OpenAI-compatible server, or a folder for @huggingface/transformers; adds vectors (default: words only)',
    },
    embeddingModel: { type: 'string', minLength: 1, description: 'name of the model on the server' },
    pooling: {
      enum: ['mean', 'cls'],
      default: 'mean',
      description: 'how a local model makes one vector of a text',
    },
    queryPrefix: {
      type: 'string',
      default: '',
      description: 'text before each query that is embedded, as "query: "',
    },
    passagePrefix: {
      type: 'string',
      default: '',
      description: 'text before each passage that is embedded, as "passage: "',
    },
  },
} as const;

export type IndexOptions = Partial<OptionsOf<typeof indexOptionsSchema>>;
export type CompleteIndexOptions = OptionsOf<typeof indexOptionsSchema>;
