/** The JSON Schema of task.toml, after Harbor's reference of the configuration (format 1.0 to 1.4). Unknown keys are mistakes. */
import type { JsonSchema } from '@toolenv/core';

const text = { type: 'string', minLength: 1 } as const;
const seconds = { type: 'number', exclusiveMinimum: 0, maximum: 86_400 } as const;
const variables = { type: 'object', additionalProperties: { type: 'string' } } as const;
/** A name or a number of a user. */
const user = { type: ['string', 'integer'] } as const;

const network = {
  network_mode: { enum: ['no-network', 'public', 'allowlist'] },
  allowed_hosts: { type: 'array', items: text },
} as const;

/** Read, so that a task that uses them is refused by name. */
const unsupported = {
  os: { type: 'string' },
  gpus: { type: 'integer', minimum: 0 },
  gpu_types: { type: 'array' },
  tpu: { type: 'object' },
  mcp_servers: { type: 'array' },
  skills_dir: { type: 'string' },
  healthcheck: { type: 'object' },
} as const;

const environment = {
  type: 'object',
  properties: {
    ...network,
    ...unsupported,
    allow_internet: { type: 'boolean' },
    build_timeout_sec: seconds,
    docker_image: text,
    cpus: { type: 'number', exclusiveMinimum: 0 },
    memory_mb: { type: 'integer', minimum: 6 },
    storage_mb: { type: 'integer', minimum: 1 },
    // The older spellings of the two above: "2G".
    memory: { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?[KMGkmg]$' },
    storage: { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?[KMGkmg]$' },
    env: variables,
    workdir: { type: 'string', pattern: '^/' },
  },
  additionalProperties: false,
} as const;

const artifact = {
  anyOf: [
    text,
    {
      type: 'object',
      properties: {
        source: text,
        destination: text,
        exclude: { type: 'array', items: text },
        service: text,
      },
      required: ['source'],
      additionalProperties: false,
    },
  ],
} as const;

const artifacts = { type: 'array', items: artifact } as const;

const collect = {
  type: 'array',
  items: {
    type: 'object',
    properties: { command: text, service: text, timeout_sec: seconds, user },
    required: ['command'],
    additionalProperties: false,
  },
} as const;

const agent = {
  type: 'object',
  properties: { ...network, timeout_sec: seconds, user },
  additionalProperties: false,
} as const;

const verifier = {
  type: 'object',
  properties: {
    ...network,
    timeout_sec: seconds,
    env: variables,
    user,
    environment_mode: { enum: ['shared', 'separate'] },
    environment,
    collect,
  },
  additionalProperties: false,
} as const;

const step = {
  type: 'object',
  properties: {
    // A folder below steps/.
    name: {
      type: 'string',
      pattern: '^(?!\\.{1,2}$)[^<>:"/\\\\|?*\\u0000-\\u001f\\u007f]*[^<>:"/\\\\|?*\\u0000-\\u001f\\u007f. ]$',
    },
    agent,
    verifier,
    min_reward: {
      anyOf: [{ type: 'number' }, { type: 'object', additionalProperties: { type: 'number' } }],
    },
    artifacts,
    healthcheck: { type: 'object' },
  },
  required: ['name'],
  additionalProperties: false,
} as const;

export const taskSchema = {
  type: 'object',
  properties: {
    schema_version: { type: 'string', pattern: '^1\\.[0-4]$' },
    version: { type: 'string', pattern: '^1\\.[0-4]$' },
    task: { type: 'object', properties: { name: text } },
    metadata: { type: 'object' },
    source: { type: 'string' },
    agent,
    verifier,
    environment,
    solution: { type: 'object', properties: { env: variables }, additionalProperties: false },
    multi_step_reward_strategy: { enum: ['mean', 'final'] },
    // The name of the strategy before format 1.3.
    multi_step_reward_mode: { type: 'string' },
    steps: { type: 'array', items: step },
    artifacts,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
