/** A tool of an MCP server as a Tool: what the server says passes through whole, and its failures are told apart. */
import {
  type ContentBlock,
  type JsonSchema,
  messageOf,
  type Tool,
  type ToolContext,
  ToolEnvError,
  type ToolResult,
} from '@toolenv/core';
import { validate } from '@toolenv/core/schemas';
import type { McpProgress, McpToolDefinition } from './mcp-client.ts';

export interface McpTool extends Tool {
  /** As the server lists it: its title, `_meta` and whatever else a Tool has no place for. */
  readonly definition: McpToolDefinition;
  execute(args: Record<string, unknown>, context: ToolContext): Promise<McpToolResult>;
}

export interface McpToolResult extends ToolResult {
  /** The server's own metadata of the result; no model reads it. */
  _meta?: Record<string, unknown>;
}

/** One report of a call under way. */
export interface McpCallProgress extends McpProgress {
  tool: string;
  episodeId: string;
  callIndex: number;
}

/** Performs a call over the connection; rejects as the client does. */
export type Call = (
  name: string,
  args: Record<string, unknown>,
  context: ToolContext,
) => Promise<{ [field: string]: unknown }>;

/** JSON-RPC's code for arguments that the server refuses (MCP 2025-11-25, server/tools#error-handling). */
const invalidParams = -32602;

/**
 * @param owner Names the server in errors.
 * @throws ToolEnvError `infrastructure.mcp_schema` for a schema that cannot be compiled.
 */
export function mcpTool(definition: McpToolDefinition, call: Call, owner: string): McpTool {
  const { name, description = '', annotations } = definition;
  const inputSchema = definition.inputSchema as JsonSchema;
  const outputSchema = definition.outputSchema as JsonSchema | undefined;
  const subject = `Tool "${name}" of ${owner}`;
  checkSchema(inputSchema, `${subject}: its inputSchema`);
  if (outputSchema) checkSchema(outputSchema, `${subject}: its outputSchema`);
  return {
    name,
    description,
    inputSchema,
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
    definition,
    async execute(args, context) {
      try {
        return toResult(await call(name, args, context), outputSchema, subject);
      } catch (error) {
        const refusal = isRefusal(error);
        if (!refusal) throw error;
        // Servers also refuse arguments by a protocol error; it is the model's mistake all the same.
        return { content: [{ type: 'text', text: messageOf(error) }], isError: true };
      }
    },
  };
}

function toResult(
  { content, structuredContent, isError, _meta }: { [field: string]: unknown },
  outputSchema: JsonSchema | undefined,
  subject: string,
): McpToolResult {
  if (!Array.isArray(content)) {
    throw badResult(`${subject} answered without a "content" array of blocks: mend the server.`);
  }
  const failed = isError === true;
  if (outputSchema && !failed) {
    const [wrong] = validate(outputSchema, structuredContent);
    if (wrong) {
      const where = `structuredContent${wrong.path}`;
      const what = `expected ${wrong.expected}; received ${wrong.received}`;
      throw badResult(`${subject} broke its outputSchema at ${where}: ${what}: mend the server.`);
    }
  }
  return {
    content: content as ContentBlock[],
    ...(structuredContent !== undefined && { structuredContent }),
    ...(failed && { isError: true }),
    ...(_meta !== undefined && { _meta: _meta as Record<string, unknown> }),
  };
}

/** A client that validates results itself reports a wrong one under the same code; that is the server's fault. */
function isRefusal(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === invalidParams && !/structured content|output ?schema/i.test(messageOf(error));
}

function checkSchema(schema: JsonSchema, subject: string): void {
  try {
    validate(schema, {});
  } catch (error) {
    const message = `${subject} is no JSON Schema that can be used: ${messageOf(error)}`;
    const remedy = 'choose other tools with "only", or mend the server';
    throw new ToolEnvError('infrastructure.mcp_schema', `${message}: ${remedy}.`, { cause: error });
  }
}

function badResult(message: string): ToolEnvError {
  return new ToolEnvError('infrastructure.mcp_result', message);
}
