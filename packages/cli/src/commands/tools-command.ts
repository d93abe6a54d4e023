/** `toolenv tools`: lists the tools of an MCP server, or calls one. */
import { type ContentBlock, type JsonSchema, type Tool, ToolEnvError } from '@toolenv/core';
import { dispatch } from '@toolenv/core/tools';
import type { McpTool } from '@toolenv/mcp';
import { toolSignature } from '../display/message-view.ts';
import { safeLine } from '../display/terminal-text.ts';
import { importPackage, optionalSchema } from '../flags/import-optional.ts';
import { parseJson } from '../flags/schema-flags.ts';
import { readServer, type ServerFlags, serverFlags } from '../flags/server-flags.ts';
import type { MakeCommand } from './commands.ts';

interface Flags extends ServerFlags {
  call?: string;
  arguments?: string;
  resources?: boolean;
  prompts?: boolean;
  json?: boolean;
}

export const make: MakeCommand = async (command, { signal }) => {
  const schema = await optionalSchema('servers');
  command.description('Lists the tools of an MCP server, or calls one of them.');
  for (const flag of serverFlags(schema)) command.addOption(flag);
  command
    .option('--call <tool>', 'tool to call')
    .option('--arguments <json>', 'arguments of the call (default: {})')
    .option('--resources', 'offer the resources of the server as tools')
    .option('--prompts', 'offer the prompts of the server as tools')
    .option('--json', 'print JSON: the array of tools, or the result of the call')
    .action((flags: Flags) => showTools(schema, flags, signal));
};

async function showTools(schema: JsonSchema, flags: Flags, signal: AbortSignal): Promise<void> {
  if (flags.call === undefined && flags.arguments !== undefined) {
    throw new ToolEnvError('usage.arguments', '--arguments without --call: name the tool to call.');
  }
  const args = readArguments(flags.arguments ?? '{}');
  const { connectMcp } = await importPackage('mcp', '--mcp');
  const { server, options } = await readServer(schema, flags);
  const offer = (['resources', 'prompts'] as const).filter((material) => flags[material]);
  const connection = await connectMcp(server, { ...options, signal, offer });
  try {
    const output =
      flags.call === undefined
        ? listText(connection.tools, flags.json)
        : await callText(connection.tools, flags.call, args, flags.json, signal);
    process.stdout.write(`${output}\n`);
  } finally {
    await connection.close();
  }
}

function listText(tools: readonly Tool[], json: boolean | undefined): string {
  if (json) {
    const shown = ['name', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;
    return JSON.stringify(
      tools.map((tool) => Object.fromEntries(shown.map((field) => [field, tool[field]]))),
    );
  }
  if (tools.length === 0) return 'The server offers no tools.';
  const rows = tools.map(
    (tool) => [safeLine(toolSignature(tool)), safeLine(tool.description.trim().split('\n')[0]!)] as const,
  );
  const width = Math.max(...rows.map(([left]) => left.length).filter((length) => length <= 40), 0);
  return rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`.trimEnd()).join('\n');
}

const noLimits = {
  maxTurns: 1,
  maxCallsPerTurn: 1,
  toolTimeout: Number.POSITIVE_INFINITY,
  maxToolCharacters: Number.POSITIVE_INFINITY,
};

/**
 * @throws ToolEnvError `usage.unknown_tool`, `usage.tool_arguments` or `usage.tool_refused`, for mistakes that a model
 *   would read as the answer to its call.
 */
async function callText(
  tools: readonly McpTool[],
  name: string,
  args: Record<string, unknown>,
  json: boolean | undefined,
  signal: AbortSignal,
): Promise<string> {
  const context = { limits: noLimits, episodeId: 'toolenv-tools', seed: 0, firstCallIndex: 0, signal };
  // The server's own name of a tool may be another than that for models.
  const own = tools.find((tool) => tool.definition.name === name)?.name ?? name;
  const [record] = await dispatch([{ id: 'call', name: own, arguments: args }], [...tools], context);
  const { result, mistake } = record!;
  if (mistake?.code === 'unknown_tool') {
    throw new ToolEnvError('usage.unknown_tool', `The server has no tool "${name}". ${mistake.hint}`);
  }
  if (mistake) {
    const { path, expected, received, hint } = mistake;
    const message = `--arguments${path}: expected ${expected}; received ${received}. ${hint}`;
    throw new ToolEnvError('usage.tool_arguments', message);
  }
  const { content, structuredContent: data } = result!;
  const blocks = content.length === 0 && data !== undefined ? [JSON.stringify(data)] : content.map(blockText);
  if (!result!.isError) return json ? JSON.stringify(result) : blocks.join('\n');
  if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
  const message = `Tool "${name}" says that the call failed: ${blocks.join(' ')}`;
  throw new ToolEnvError('usage.tool_refused', message);
}

function blockText(block: ContentBlock): string {
  if (block.type === 'text') return String(block.text);
  const { data, mimeType, uri, resource, name, description } = block as Record<string, unknown>;
  const embedded = resource as { text?: string; uri?: string } | undefined;
  if (embedded?.text !== undefined) return embedded.text;
  const bytes = typeof data === 'string' ? `${Buffer.byteLength(data, 'base64')} bytes` : undefined;
  const given = (parts: unknown[], mark: string) => parts.filter((part) => part !== undefined).join(mark);
  const said = given([name, description], ': ');
  return `[${given([block.type, mimeType, bytes, uri ?? embedded?.uri], ' ')}]${said && ` ${said}`}`;
}

function readArguments(text: string): Record<string, unknown> {
  const value = parseJson(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  const message = `--arguments ${text}: give a JSON object, such as '{"name": "value"}'.`;
  throw new ToolEnvError('usage.bad_flag', message);
}
