/** What a server says about itself: OpenEnv's metadata, schemas and OpenAPI document. */
import { readFileSync } from 'node:fs';
import type { JsonSchema } from '@toolenv/core';
import { actionSchema } from './action.ts';

const json: { version: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

const object: JsonSchema = { type: 'object' };
const observation: JsonSchema = {
  title: 'CallToolObservation',
  type: 'object',
  properties: {
    tool_name: { type: 'string' },
    result: { type: 'object', description: 'content, structured_content, data (its text) and is_error' },
    error: { type: 'null' },
    messages: { type: 'array', items: object, description: 'messages after the turn' },
    metadata: { type: 'object', description: 'outcome and rewards by name' },
  },
};
const resetObservation: JsonSchema = {
  title: 'ResetObservation',
  type: 'object',
  properties: {
    messages: { type: 'array', items: object, description: 'how the conversation begins' },
    task: { type: 'integer' },
    seed: { type: 'integer' },
  },
};
const state: JsonSchema = {
  title: 'State',
  type: 'object',
  properties: {
    episode_id: { type: ['string', 'null'] },
    step_count: { type: 'integer' },
    task: { type: 'integer' },
    seed: { type: 'integer' },
    reward: { type: ['number', 'null'], description: 'sum of the rewards so far' },
    done: { type: 'boolean' },
  },
  required: ['step_count'],
};

export const schemas: Readonly<Record<string, JsonSchema>> = {
  action: actionSchema,
  observation,
  reset_observation: resetObservation,
  state,
};

export type Metadata = Record<'name' | 'description' | 'version', string> &
  Record<'readme_content' | 'author' | 'documentation_url', null>;

export function metadataOf(name: string, version: string | undefined): Metadata {
  const description = `The environment ${name}. A tool call is a step; episode_answer gives the answer.`;
  const none = { readme_content: null, author: null, documentation_url: null };
  return { name, description, version: version ?? json.version, ...none };
}

/** OpenEnv 0.10 requires the paths and a version 1.x of its HTTP interface (cli/_validation.py). */
export function openApi(name: string): object {
  const get = { get: { responses: { 200: { description: 'OK' } } } };
  const post = {
    post: {
      requestBody: { content: { 'application/json': { schema: object } } },
      responses: { 200: { description: 'OK' }, 422: { description: 'Invalid body' } },
    },
  };
  return {
    openapi: '3.1.0',
    info: { title: `OpenEnv Environment HTTP API: ${name}`, version: '1.0.0' },
    paths: {
      '/health': get,
      '/metadata': get,
      '/schema': get,
      '/state': get,
      '/reset': post,
      '/step': post,
      '/mcp': post,
    },
  };
}
