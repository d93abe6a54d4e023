/** sampleTasks: a task for each tool of a server, which only a call of the tool solves. */
import type { JsonSchema, Split } from '@toolenv/core';
import { resolvePointer, validate } from '@toolenv/core/schemas';
import type { McpTool } from '../client/mcp-tool.ts';
import type { McpTask } from './mcp-task.ts';

const splits: readonly Split[] = ['test', 'train', 'validation'];
/** Schemas inside of schemas. */
const maxDepth = 6;

/** Leaves out tools that say that they destroy, and tools for which no small arguments are valid. */
export function sampleTasks(tools: readonly McpTool[]): McpTask[] {
  const calls = tools.flatMap(({ name, inputSchema, annotations }) => {
    const args = smallValue(inputSchema, inputSchema, 0);
    const isSafe = annotations?.destructiveHint !== true || annotations.readOnlyHint === true;
    const isValid = validate(inputSchema, args).length === 0;
    return isSafe && isValid ? [{ name, args: args as Record<string, unknown> }] : [];
  });
  return calls.map(({ name, args }, index) => ({
    prompt: `Call ${name} with ${JSON.stringify(args)}. Then answer: done`,
    answer: 'done',
    calls: { [name]: args },
    split: splits[index % splits.length],
  }));
}

/** The example that a schema gives, or else a small value that its common keywords allow. */
function smallValue(schema: JsonSchema, root: JsonSchema, depth: number): unknown {
  if (typeof schema !== 'object' || depth > maxDepth) return undefined;
  if (typeof schema.$ref === 'string') {
    const pointed = schema.$ref.startsWith('#') && resolvePointer(root, schema.$ref.slice(1));
    return pointed ? smallValue(pointed as JsonSchema, root, depth + 1) : undefined;
  }
  const { const: only, enum: named, examples, default: usual } = schema as Record<string, unknown>;
  const given = [only, usual, ...list(examples), ...list(named)].find((value) => value !== undefined);
  if (given !== undefined) return given;
  const [other] = [...list(schema.anyOf), ...list(schema.oneOf), ...list(schema.allOf)];
  if (other && schema.type === undefined) return smallValue(other as JsonSchema, root, depth + 1);
  switch (list(schema.type)[0] ?? schema.type) {
    case 'string':
      return 'text'.padEnd(Number(schema.minLength ?? 0), '.').slice(0, Number(schema.maxLength ?? 1e6));
    case 'integer':
    case 'number':
      return Math.min(
        Number(schema.maximum ?? 1e9),
        Math.max(1, Number(schema.minimum ?? 1), Number(schema.exclusiveMinimum ?? 0) + 1),
      );
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array': {
      const item = smallValue((schema.items ?? {}) as JsonSchema, root, depth + 1) ?? 'text';
      return Array.from({ length: Number(schema.minItems ?? 0) }, () => item);
    }
    default: {
      const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
      const required = list(schema.required) as string[];
      return Object.fromEntries(
        required.map((key) => [key, smallValue(properties[key] ?? {}, root, depth + 1)]),
      );
    }
  }
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
