/** JSON Schemas (2020-12) of everything that crosses a wire or is written to disk. The folder spec has them as files. */
import type { JsonSchema } from '../protocol/json-schema.ts';
import { pluginKinds } from '../protocol/manifest.ts';

const string: JsonSchema = { type: 'string' };
const name: JsonSchema = { type: 'string', minLength: 1 };
const natural: JsonSchema = { type: 'integer', minimum: 0 };
/** JSON's `1e999` is read as Infinity. */
const finite: JsonSchema = { type: 'number', minimum: -Number.MAX_VALUE, maximum: Number.MAX_VALUE };
const sha256: JsonSchema = { type: 'string', pattern: '^[0-9a-f]{64}$' };
const tokenIds: JsonSchema = { type: 'array', items: natural };
/** A float32. Values that JSON lacks (NaN, ±Infinity, −0) are written as strings. */
const float: JsonSchema = { type: ['number', 'string'] };

/** Marks a property of {@link object} that may be absent. */
function optional(schema: JsonSchema): { optional: JsonSchema } {
  return { optional: schema };
}

function object(given: Record<string, JsonSchema>): JsonSchema {
  const entries = Object.entries(given);
  const properties = Object.fromEntries(entries.map(([name, schema]) => [name, schema.optional ?? schema]));
  const required = entries.filter(([, schema]) => schema.optional === undefined).map(([name]) => name);
  return { type: 'object', properties, required };
}

/** Applies `rules` to an object whose `property` is one of `values`. */
function when(property: string, values: readonly string[], rules: JsonSchema): JsonSchema {
  const condition = { properties: { [property]: { enum: values } }, required: [property] };
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: condition, then: rules };
}

const toolDescription = object({ name, description: string, inputSchema: { type: 'object' } });

const toolCall = object({ id: string, name: string, arguments: { type: 'object' } });
const parseFailure = object({ parseFailure: string, text: string });
const call: JsonSchema = { anyOf: [toolCall, parseFailure] };

const image = object({
  type: { const: 'image' },
  data: string,
  mimeType: { type: 'string', pattern: '^image/' },
});

const message: JsonSchema = {
  ...object({ role: { enum: ['system', 'user', 'assistant', 'tool'] }, content: string }),
  allOf: [
    when('role', ['assistant'], {
      properties: { reasoning: string, toolCalls: { type: 'array', items: toolCall } },
    }),
    when('role', ['tool'], object({ toolCallId: string, name: string })),
    when('role', ['user', 'tool'], object({ images: optional({ type: 'array', items: image }) })),
  ],
};

const observation = object({
  messages: { type: 'array', minItems: 1, items: message },
  tools: { type: 'array', items: toolDescription },
  conversation: optional({ type: 'string', minLength: 1, maxLength: 256 }),
  stop: optional({ type: 'array', maxItems: 64, items: { type: 'string', minLength: 1, maxLength: 1024 } }),
});

const turnUsage = object({
  requests: natural,
  inputTokens: natural,
  cachedTokens: natural,
  outputTokens: natural,
  cost: optional({ ...finite, minimum: 0 }),
  uncountedReplies: optional(natural),
  cachedReplies: optional(natural),
  milliseconds: { ...finite, minimum: 0 },
});

const action = object({
  text: string,
  reasoning: optional(string),
  toolCalls: { type: 'array', items: call },
  stopReason: { enum: ['stop', 'length', 'tool_call'] },
  tokens: optional(object({ prompt: tokenIds, action: tokenIds, logprobs: { type: 'array', items: float } })),
  usage: optional(turnUsage),
});

/** A content block of MCP 2025-11-25 (server/tools#tool-result). Unknown types are allowed. */
const contentBlock: JsonSchema = {
  ...object({ type: name }),
  allOf: [
    when('type', ['text'], object({ text: string })),
    when('type', ['image', 'audio'], object({ data: string, mimeType: string })),
    when('type', ['resource_link'], object({ uri: string, name: string })),
    when('type', ['resource'], object({ resource: object({ uri: string }) })),
  ],
};

const toolResult = object({
  content: { type: 'array', items: contentBlock },
  structuredContent: optional({}),
  isError: optional({ type: 'boolean' }),
  mistake: optional(object({ path: string, expected: string, received: string, nearest: optional(string) })),
  usage: optional(object({ requests: natural, inputTokens: natural, outputTokens: natural })),
  screened: optional(string),
});

const modelMistake = object({
  code: { enum: ['malformed_call', 'unknown_tool', 'invalid_arguments', 'too_many_calls'] },
  path: string,
  expected: name,
  received: string,
  hint: name,
});

const callRecord: JsonSchema = {
  ...object({
    call,
    result: optional(toolResult),
    cut: optional(object({ characters: natural, sha256 })),
    mistake: optional(modelMistake),
    text: string,
    milliseconds: { type: 'number', minimum: 0 },
  }),
  anyOf: [{ required: ['result'] }, { required: ['mistake'] }],
};

const rewards: JsonSchema = { type: 'object', additionalProperties: { type: ['number', 'null'] } };

const rewardSpec: JsonSchema = {
  type: 'object',
  additionalProperties: object({
    kind: { enum: ['process', 'outcome'] },
    range: { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 },
    weight: { type: 'number' },
    monitor: optional({ const: true }),
  }),
};

const milliseconds = { type: 'number', exclusiveMinimum: 0 };

const limits: JsonSchema = object({
  maxTurns: { type: 'integer', minimum: 1 },
  maxCallsPerTurn: { type: 'integer', minimum: 1 },
  toolTimeout: milliseconds,
  maxToolCharacters: { type: 'integer', minimum: 1 },
});

const truncation: JsonSchema = { enum: ['max_turns', 'max_tokens', 'deadline', 'context'] };
const cause = object({ code: { type: 'string', pattern: '^infrastructure\\.' }, message: string });
const outcome: JsonSchema = {
  ...object({ kind: { enum: ['running', 'terminated', 'truncated', 'aborted'] } }),
  allOf: [
    when('kind', ['terminated'], object({ reason: name })),
    when('kind', ['truncated'], object({ reason: truncation })),
    when('kind', ['aborted'], object({ cause, retryable: { type: 'boolean' } })),
  ],
};

const calls: JsonSchema = { type: 'array', items: callRecord };
const info: JsonSchema = { type: 'object' };

/** What a step adds to a trajectory. */
const answer = {
  calls,
  environmentCalls: optional(calls),
  rewards: optional(rewards),
  playerRewards: optional({ type: 'object', additionalProperties: rewards }),
  info,
  learn: optional({ type: 'boolean' }),
};

const transition: JsonSchema = object({ observation, outcome, ...answer });

const trajectory: JsonSchema = object({
  version: { const: 1 },
  env: name,
  envVersion: optional(string),
  policy: name,
  episodeId: name,
  index: natural,
  task: {},
  group: natural,
  sample: natural,
  seed: { type: 'integer' },
  rewardSpec,
  steps: { type: 'array', items: object({ observation, action, ...answer }) },
  outcome,
  rewards,
  reward: { type: ['number', 'null'] },
  players: optional({
    type: 'object',
    additionalProperties: object({ rewards, reward: { type: ['number', 'null'] } }),
  }),
});

/** trainer_state.json of a checkpoint. */
const checkpointState: JsonSchema = object({
  version: { const: 1 },
  step: natural,
  seed: natural,
  memory: optional({ type: 'object', additionalProperties: finite }),
  sha256: { type: 'object', additionalProperties: sha256, minProperties: 1 },
});

const rule: JsonSchema = { type: 'string', pattern: '^(TOOL|ENV|WARN|POL|LRN|TRN|TRAJ|PLUG)-[1-9][0-9]*$' };

const findings: JsonSchema = {
  type: 'array',
  items: object({ rule, title: name, expected: string, received: string, hint: name }),
};
const report: JsonSchema = object({
  subject: name,
  ok: { type: 'boolean' },
  findings,
  warnings: findings,
  passed: { type: 'array', items: rule },
  skipped: { type: 'array', items: object({ rule, reason: name }) },
  abilities: optional({ type: 'array', items: object({ name, does: { type: 'boolean' }, how: string }) }),
});

const pluginInfo: JsonSchema = object({
  ref: { type: 'string', pattern: '^.+/[^/]+-v[1-9][0-9]*$' },
  kind: { enum: pluginKinds },
  package: name,
  version: name,
  declaredName: optional(string),
});

const manifestEntries: JsonSchema = {
  type: 'object',
  propertyNames: { pattern: '^[a-z0-9][a-z0-9_.-]*-v[1-9][0-9]*$' },
  additionalProperties: { type: 'string', pattern: '^\\./(?!.*\\.\\.)' },
};

/** The `"toolenv"` field of a package.json. */
const manifest: JsonSchema = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: { const: 'v1' },
    ...Object.fromEntries(pluginKinds.map((kind) => [kind, manifestEntries])),
  },
  additionalProperties: false,
};

/** What a plugin says of itself. A plugin that cannot be loaded has an `error`. */
const pluginDetails: JsonSchema = object({
  ref: optional({ type: 'string', pattern: '^.+/[^/]+-v[1-9][0-9]*$' }),
  kind: { enum: pluginKinds },
  package: optional(name),
  version: optional(name),
  declaredName: optional(string),
  /** The file of an environment that is not a plugin yet. */
  module: optional(name),
  name: optional(string),
  description: optional(string),
  options: optional({ type: 'object' }),
  rewards: optional(rewardSpec),
  limits: optional(limits),
  capabilities: optional({ type: 'object', additionalProperties: { type: ['boolean', 'integer'] } }),
  roles: optional({ type: 'object', additionalProperties: name }),
  example: optional({}),
  // From here on: what an environment shows once it is open.
  missingOptions: optional({ type: 'array', items: name }),
  tasks: optional(object({ train: natural, validation: natural, test: natural })),
  split: optional({ enum: ['train', 'validation', 'test'] }),
  observation: optional(observation),
  toolTimeouts: optional({ type: 'object', additionalProperties: milliseconds }),
  error: optional(string),
});

/** The first line of a recording. */
export const recordingHeader: JsonSchema = object({
  recording: { const: 'tools' },
  version: { const: 1 },
  tools: {
    type: 'array',
    items: object({
      role: optional(string),
      name: string,
      description: {},
      inputSchema: { type: 'object' },
      timeout: optional(milliseconds),
    }),
  },
  instructions: optional(string),
  policy: optional(
    object({
      name,
      options: { type: 'object' },
      spec: object({ name, contextLength: { type: 'integer', minimum: 1 } }),
    }),
  ),
});

/** A further line of a recording: a turn of the policy. */
export const recordedTurn: JsonSchema = {
  ...object({
    episode: string,
    take: natural,
    conversation: optional(string),
    turn: natural,
    request: { type: 'object' },
    action: optional(action),
    error: optional(object({ message: string })),
    abandoned: optional({ const: true }),
  }),
  oneOf: [{ required: ['action'] }, { required: ['error'] }, { required: ['abandoned'] }],
};

/** A further line of a recording. */
export const recordedCall: JsonSchema = {
  ...object({
    episode: string,
    take: { type: 'integer' },
    call: { type: 'integer' },
    tool: string,
    arguments: {},
    result: optional(object({ content: { type: 'array' } })),
    error: optional(object({ message: {} })),
    abandoned: optional({ const: true }),
  }),
  oneOf: [{ required: ['result'] }, { required: ['error'] }, { required: ['abandoned'] }],
};

/** The schemas of the spec. */
export type WireSchemaName =
  | 'action'
  | 'checkpoint-state'
  | 'limits'
  | 'manifest'
  | 'observation'
  | 'outcome'
  | 'plugin-details'
  | 'plugin-info'
  | 'report'
  | 'reward-spec'
  | 'tool-description'
  | 'tool-recording'
  | 'tool-result'
  | 'trajectory'
  | 'transition';

/** Also in `spec/<name>.schema.json`. Unknown properties are allowed everywhere except in a manifest. */
export const wireSchemas: Readonly<Record<WireSchemaName, JsonSchema>> = {
  action,
  'checkpoint-state': checkpointState,
  limits,
  manifest,
  observation,
  outcome,
  'plugin-details': pluginDetails,
  'plugin-info': pluginInfo,
  report,
  'reward-spec': rewardSpec,
  'tool-description': toolDescription,
  'tool-recording': { anyOf: [recordingHeader, recordedCall, recordedTurn] },
  'tool-result': toolResult,
  trajectory,
  transition,
};
