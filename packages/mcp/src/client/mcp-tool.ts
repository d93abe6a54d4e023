/** mcpTool: a tool of an MCP server as a Tool. Passes results through whole, and separates the model's mistakes from server faults. */
import {
  asClause,
  type ContentBlock,
  type JsonSchema,
  type Tool,
  type ToolContext,
  ToolEnvError,
  type ToolResult,
} from '@toolenv/core';
import {
  isLongInteger,
  isObject,
  leaveOutUnusable,
  pointerKeys,
  resolvePointer,
  type SchemaMistake,
  validate,
} from '@toolenv/core/schemas';
import { answerOf, isErrorAnswer } from './client-error.ts';
import type { McpToolDefinition } from './mcp-client.ts';

export interface McpTool extends Tool {
  /** The tool as the server lists it: under its own name, with its title, `_meta` and other fields that a Tool lacks. */
  readonly definition: McpToolDefinition;
  execute(args: Record<string, unknown>, context: ToolContext): Promise<McpToolResult>;
}

/** In `structuredContent`, an integer beyond ±(2⁵³ − 1) is the text of its digits, because a number would round it. */
export interface McpToolResult extends ToolResult {
  /** The server's own metadata of the result. Models do not see it. */
  _meta?: Record<string, unknown>;
}

/** Performs a call over the connection. Rejects as the client does. */
export type Call = (
  name: string,
  args: Record<string, unknown>,
  context: ToolContext,
) => Promise<{ [field: string]: unknown }>;

/**
 * @param owner Names the server in errors.
 * @param warn Called with a sentence if constraints of a schema cannot be checked here. The model still reads them, and the server judges.
 * @param name The name under which models call it.
 */
export function mcpTool(
  definition: McpToolDefinition,
  call: Call,
  owner: string,
  warn: (message: string) => void,
  name: string = definition.name,
): McpTool {
  const { name: given, description = '', title } = definition;
  const annotations = title === undefined ? definition.annotations : { title, ...definition.annotations };
  const listed = definition.inputSchema as JsonSchema;
  const outputSchema = definition.outputSchema as JsonSchema | undefined;
  const subject = `Tool "${given}" of ${owner}`;
  const inputSchema = withoutDefaulted(listed);
  warnOfUnusable(inputSchema, `${subject}: its inputSchema`, warn);
  if (outputSchema) warnOfUnusable(outputSchema, `${subject}: its outputSchema`, warn);
  return {
    name,
    description,
    inputSchema,
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
    definition,
    async execute(args, context) {
      try {
        return toResult(await call(given, withDefaults(listed, args), context), outputSchema, subject);
      } catch (error) {
        if (!isErrorAnswer(error)) throw error;
        // Some servers refuse a call by a protocol error. The server lives, so this is an answer to the model too.
        return { content: [{ type: 'text', text: answerOf(error) }], isError: true };
      }
    },
  };
}

function toResult(
  { content: given, structuredContent, isError, _meta }: { [field: string]: unknown },
  outputSchema: JsonSchema | undefined,
  subject: string,
): McpToolResult {
  // Some servers send nothing but data. A policy reads it as JSON.
  const content = given === undefined && structuredContent !== undefined ? [] : given;
  if (!Array.isArray(content)) {
    throw badResult(`${subject} answered without a "content" array of blocks: fix the server.`);
  }
  const failed = isError === true;
  if (outputSchema && !failed) {
    const wrong = outputMistake(outputSchema, structuredContent);
    if (wrong) {
      const where = `structuredContent${wrong.path}`;
      const what = `expected ${wrong.expected}; received ${wrong.received}`;
      throw badResult(`${subject} broke its outputSchema at ${where}: ${what}: fix the server.`);
    }
  }
  return {
    content: content as ContentBlock[],
    ...(structuredContent !== undefined && { structuredContent }),
    ...(failed && { isError: true }),
    ...(_meta !== undefined && { _meta: _meta as Record<string, unknown> }),
  };
}

/** The first mistake of structured content, in which a long integer is the text of its digits (`exactMessage`). */
function outputMistake(schema: JsonSchema, data: unknown): SchemaMistake | undefined {
  const mistakes = validate(schema, data);
  const digits = mistakes.map(({ path }) => path).filter((path) => isLongInteger(resolvePointer(data, path)));
  if (digits.length === 0) return mistakes[0];
  const rounded = { data: structuredClone(data) };
  for (const path of digits.map((path) => `/data${path}`)) {
    const owner = resolvePointer(rounded, path.slice(0, path.lastIndexOf('/'))) as Record<string, unknown>;
    const key = pointerKeys(path).at(-1)!;
    owner[key] = Number(owner[key]);
  }
  return validate(schema, rounded.data)[0];
}

function warnOfUnusable(schema: JsonSchema, subject: string, warn: (message: string) => void): void {
  const leftOut = leaveOutUnusable(schema);
  if (leftOut.length === 0) return;
  const places = leftOut.slice(0, 3).map(({ path, why }) => `${path || 'all of it'} (${asClause(why)})`);
  const more = leftOut.length > 3 ? `, and ${leftOut.length - 3} more` : '';
  warn(`${subject} has constraints that only the server checks: ${places.join(', ')}${more}.`);
}

function badResult(message: string): ToolEnvError {
  return new ToolEnvError('infrastructure.mcp_result', message);
}

/**
 * The schema that a policy sees. It does not require properties with a default, which libraries such as zod list as required although
 * servers fill them in. A call gets them before it is sent, because some servers check their own list. The same object if it requires none.
 */
function withoutDefaulted(schema: JsonSchema): JsonSchema {
  const { properties, items, required } = schema as Parts;
  const changes: Record<string, unknown> = {};
  if (isObject(properties)) {
    const inner = mapped(properties, (property) =>
      isObject(property) ? withoutDefaulted(property) : property,
    );
    if (inner !== properties) changes.properties = inner;
  }
  if (isObject(items) && withoutDefaulted(items) !== items) changes.items = withoutDefaulted(items);
  const defaulted = new Set(defaultedOf(schema));
  if (defaulted.size > 0) changes.required = required!.filter((name) => !defaulted.has(name));
  return Object.keys(changes).length > 0 ? { ...schema, ...changes } : schema;
}

/** The value, with the defaults of required properties that it lacks. The same object if it lacks none. */
function withDefaults<Value>(schema: JsonSchema, value: Value): Value;
function withDefaults(schema: JsonSchema, value: unknown): unknown {
  const { properties, items } = schema as Parts;
  if (Array.isArray(value)) {
    if (!isObject(items)) return value;
    const filled = value.map((item) => withDefaults(items, item));
    return filled.some((item, at) => item !== value[at]) ? filled : value;
  }
  if (!isObject(value) || !isObject(properties)) return value;
  const inner = mapped(value, (part, name) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return isObject(property) ? withDefaults(property, part) : part;
  });
  const missing = defaultedOf(schema).filter((name) => !Object.hasOwn(value, name));
  if (missing.length === 0) return inner;
  const defaults = missing.map((name) => [name, structuredClone((properties[name] as JsonSchema).default)]);
  return { ...inner, ...Object.fromEntries(defaults) };
}

interface Parts {
  properties?: unknown;
  items?: unknown;
  required?: string[];
}

function defaultedOf(schema: JsonSchema): string[] {
  const { properties, required } = schema as Parts;
  if (!Array.isArray(required) || !isObject(properties)) return [];
  return required.filter((name) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return isObject(property) && property.default !== undefined;
  });
}

/** The same object if no part changes. */
function mapped(
  object: Record<string, unknown>,
  change: (part: unknown, name: string) => unknown,
): Record<string, unknown> {
  const entries = Object.entries(object).map(([name, part]) => [name, change(part, name)] as const);
  return entries.some(([name, part]) => part !== object[name]) ? Object.fromEntries(entries) : object;
}
