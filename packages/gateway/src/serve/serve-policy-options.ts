/** ServePolicyOptions: how a policy is served to clients of models. The schema has the defaults. */
import type { OptionsOf } from '@toolenv/core/schemas';
import { serveProperties } from '@toolenv/serving';

const own = {
  modelName: {
    type: 'string',
    minLength: 1,
    default: 'policy',
    description: 'name of the model in the list of models; requests may give any name',
  },
  concurrency: {
    type: 'integer',
    minimum: 1,
    default: 64,
    description: 'requests that the policy answers at the same time',
  },
  queue: {
    type: 'integer',
    minimum: 0,
    default: 64,
    description: 'further requests that wait; those beyond get status 429',
  },
  conversations: {
    type: 'integer',
    minimum: 0,
    default: 64,
    description: 'conversations between two requests whose cache is kept; 0 keeps none',
  },
  maxTokens: {
    type: 'integer',
    minimum: 1,
    default: 4_096,
    description: 'tokens of an answer, at most; a request may ask for fewer',
  },
  temperature: {
    type: 'number',
    minimum: 0,
    maximum: 2,
    default: 1,
    description: 'sampling temperature of requests that give none; 0: greedy',
  },
  topP: {
    type: 'number',
    exclusiveMinimum: 0,
    maximum: 1,
    default: 1,
    description: 'nucleus sampling of requests that give no top_p; 1: all tokens',
  },
  topK: {
    type: 'integer',
    minimum: 1,
    description: 'most likely tokens that requests without top_k sample from',
  },
  minP: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    default: 0,
    description: 'least probability of a token, as a fraction of the highest, for requests without min_p',
  },
  constrainCalls: {
    type: 'boolean',
    default: false,
    description: 'draw only tokens with which tool calls parse and fit the schemas of their tools',
  },
} as const;

/** JSON Schema of the options that only a served policy has. */
export const ownSchema: { readonly type: 'object'; readonly properties: typeof own } = {
  type: 'object',
  properties: own,
};

/** JSON Schema of the options, with defaults. */
export const servePolicySchema: {
  readonly type: 'object';
  readonly properties: typeof serveProperties & typeof own;
} = { type: 'object', properties: { ...serveProperties, ...own } };

/** The options with their defaults. */
export type CompleteServePolicyOptions = OptionsOf<typeof servePolicySchema>;

export interface ServePolicyOptions extends Partial<CompleteServePolicyOptions> {
  /** Milliseconds between the signs of life that a client gets while the policy answers. Default 15,000. */
  heartbeat?: number;
  /** Called with errors of the policy. The client gets status 500. Default: write to stderr. */
  onError?(error: unknown): void;
}
