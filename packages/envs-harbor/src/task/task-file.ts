/** Reads task.toml: TOML that follows the schema. */
import { readFile } from 'node:fs/promises';
import { type JsonSchema, messageOf, ToolEnvError } from '@toolenv/core';
import { type OptionsOf, pointerKeys, resolvePointer, validate } from '@toolenv/core/schemas';
import { parse } from 'smol-toml';

export type TaskFile = OptionsOf<typeof taskSchema>;
export type EnvironmentTable = NonNullable<TaskFile['environment']>;
export type VerifierTable = NonNullable<TaskFile['verifier']>;
export type HealthTable = NonNullable<EnvironmentTable['healthcheck']>;
export type StepTable = NonNullable<TaskFile['steps']>[number];

/** Bytes. Harbor's own are a few kilobytes. */
const longest = 2 ** 20;

/** @throws ToolEnvError `usage.harbor_task` that names the file and the key. */
export async function readTaskFile(file: string): Promise<TaskFile> {
  let table: Record<string, unknown>;
  try {
    const text = await readFile(file, 'utf8');
    if (text.length > longest) throw new Error(`it has more than ${longest} characters`);
    table = parse(text);
  } catch (error) {
    throw taskMistake(file, '', `it cannot be read: ${messageOf(error).trim()}`, error);
  }
  const [mistake] = validate(taskSchema, table);
  if (!mistake) return table as TaskFile;
  const { path, expected, received, nearest } = mistake;
  const isUnknown = expected.includes('additional properties') && resolvePointer(table, path) !== undefined;
  const problem = isUnknown
    ? `no such key is known${nearest ? `: did you mean ${nearest}?` : ': leave it out'}`
    : `expected ${expected.replace(/^must /, 'it must ')}; received ${received}`;
  throw taskMistake(file, keyOf(path), problem.replace(/[.?]$/, ''));
}

/** `/steps/0/name` → `steps[0].name`. */
function keyOf(path: string): string {
  return pointerKeys(path)
    .map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`))
    .join('')
    .slice(1);
}

/**
 * @param file Absolute path.
 * @param key Of task.toml, such as `environment.gpus`; empty for the whole file.
 * @param problem What is wrong, and the remedy.
 */
export function taskMistake(file: string, key: string, problem: string, cause?: unknown): ToolEnvError {
  const where = key === '' ? file : `${file}: ${key}`;
  return new ToolEnvError('usage.harbor_task', `${where}: ${problem}.`, { cause });
}

/** A table that may say something about the network. */
type NetworkTable = Pick<EnvironmentTable, 'network_mode' | 'allow_internet'> | undefined;

/** What the last table says that says something. Unlike in Harbor, a task that says nothing asks for no network. */
export function asksNetwork(...tables: NetworkTable[]): boolean {
  for (const { network_mode: mode, allow_internet: older } of [...tables]
    .reverse()
    .map((table) => table ?? {})) {
    if (mode !== undefined) return mode !== 'no-network';
    if (older !== undefined) return older;
  }
  return false;
}

const text = { type: 'string', minLength: 1 } as const;
const seconds = { type: 'number', exclusiveMinimum: 0, maximum: 86_400 } as const;
const variables = { type: 'object', additionalProperties: { type: 'string' } } as const;
/** A name or a number of a user. */
const user = { type: ['string', 'integer'] } as const;

const network = {
  network_mode: { enum: ['no-network', 'public', 'allowlist'] },
  allowed_hosts: { type: 'array', items: text },
} as const;

const pause = { type: 'number', minimum: 0, maximum: 3600 } as const;

const healthcheck = {
  type: 'object',
  properties: {
    command: text,
    interval_sec: pause,
    timeout_sec: seconds,
    start_period_sec: pause,
    start_interval_sec: pause,
    retries: { type: 'integer', minimum: 1, maximum: 1000 },
  },
  required: ['command'],
  additionalProperties: false,
} as const;

/** Read, so that a task that uses them is refused by name. */
const unsupported = {
  os: { type: 'string' },
  gpus: { type: 'integer', minimum: 0 },
  gpu_types: { type: 'array' },
  tpu: { type: 'object' },
  mcp_servers: { type: 'array' },
  skills_dir: { type: 'string' },
} as const;

const environment = {
  type: 'object',
  properties: {
    ...network,
    ...unsupported,
    healthcheck,
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
    healthcheck,
  },
  required: ['name'],
  additionalProperties: false,
} as const;

const taskSchema = {
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

/**
 * Fills in `${NAME}` and `${NAME:-default}` in the variables of a task, from the environment of this process.
 * @param allowed Variables that the user lets tasks read. Another one has its default.
 * @throws ToolEnvError `usage.harbor_task` for a variable that is not allowed or not set, and has no default.
 */
export function fillVariables(
  env: Readonly<Record<string, unknown>> = {},
  { file, key, allowed }: { file: string; key: string; allowed: readonly string[] },
): Record<string, string> {
  const filled = Object.entries(env).map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw taskMistake(file, `${key}.${name}`, 'a variable has letters, digits and "_" only');
    const text = String(value).replace(
      /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
      (_, asked: string, otherwise?: string) => {
        const found = allowed.includes(asked) ? process.env[asked] : undefined;
        if (found !== undefined) return found;
        if (otherwise !== undefined) return otherwise;
        const remedy = allowed.includes(asked)
          ? `set ${asked}`
          : `tasks read no variables of this machine unless the option hostVariables names them: ${asked}`;
        throw taskMistake(file, `${key}.${name}`, `it needs the variable ${asked}: ${remedy}`);
      },
    );
    return [name, text] as const;
  });
  return Object.fromEntries(filled);
}
