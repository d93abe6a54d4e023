/** The environment that the conformance suite of MCP plays: its tools have the names and results that the suite asks for. */
import { defineToolEnv, type EnvDefinition, type EnvLimits, type JsonSchema, type Tool } from '@toolenv/core';

/** A PNG of one red pixel. */
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** A WAV file without samples. */
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';

const image = { type: 'image', data: png, mimeType: 'image/png' };
const said = (text: string) => ({ type: 'text', text });
const resource = (uri: string, mimeType: string, text: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text },
});

const nothing: JsonSchema = { type: 'object', properties: {}, additionalProperties: false };

/** The schema of the scenario json-schema-2020-12. */
const address: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const results: Record<string, object[]> = {
  test_simple_text: [said('This is a simple text response for testing.')],
  test_image_content: [image],
  test_audio_content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }],
  test_embedded_resource: [
    resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ],
  test_multiple_content_types: [
    said('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
};

const tools: Tool[] = Object.entries(results).map(([name, content]) => ({
  name,
  description: name,
  inputSchema: nothing,
  execute: async () => ({ content: content as never }),
}));
tools.push(
  {
    name: 'test_error_handling',
    description: 'fails',
    inputSchema: nothing,
    execute: async () => ({
      content: [{ type: 'text', text: 'This tool intentionally returns an error for testing' }],
      isError: true,
    }),
  },
  {
    name: 'json_schema_2020_12_tool',
    description: 'has a schema with many keywords',
    inputSchema: address,
    execute: async () => ({ content: [{ type: 'text', text: 'done' }] }),
  },
);

export default defineToolEnv({
  name: 'conformance-v1',
  description: 'Tools for the conformance suite of MCP.',
  rewards: { right: { kind: 'outcome' } },
  limits: { maxTurns: 1_000_000 },
  tasks: { test: ['Call the tools.'] },
  episode: ({ task }) => ({
    messages: [{ role: 'user', content: task }],
    tools: () => tools,
    onAnswer: () => ({ rewards: { right: 1 }, end: 'answered' }),
  }),
}) as EnvDefinition<string, EnvLimits>;
