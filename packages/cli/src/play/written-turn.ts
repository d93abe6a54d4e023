/** readTurn: turns a typed line into a tool call or an answer. */
import { type ToolDescription, ToolEnvError } from '@toolenv/core';
import type { WrittenTurn } from '@toolenv/view';
import { toolSignature } from '../display/tool-signature.ts';
import { parseJson } from '../flags/schema-flags.ts';

/**
 * `search {"query": "Ada"}` and `search Ada` call the tool, the latter if one argument is enough. Every other line is an answer, and
 * so is a line that begins with a colon.
 * @throws ToolEnvError `usage.turn` for arguments that cannot be read.
 */
export function readTurn(line: string, tools: readonly ToolDescription[]): WrittenTurn {
  const text = line.trim();
  if (text.startsWith(':')) return { text: text.slice(1).trim(), calls: [] };
  const [, name, rest = ''] = /^(\S+)(?:\s+(.*))?$/s.exec(text) ?? [];
  const tool = tools.find((each) => each.name === name);
  return tool
    ? { text: '', calls: [{ name: tool.name, arguments: readArguments(tool, rest) }] }
    : { text, calls: [] };
}

function readArguments(tool: ToolDescription, text: string): Record<string, unknown> {
  if (text.startsWith('{')) {
    try {
      return JSON.parse(text);
    } catch (error) {
      const { message } = error as SyntaxError;
      throw new ToolEnvError('usage.turn', `The arguments of ${tool.name} are not JSON: ${message}.`);
    }
  }
  const { properties = {}, required = [] } = tool.inputSchema as {
    properties?: Record<string, { type?: unknown }>;
    required?: string[];
  };
  if (text === '' && required.length === 0) return {};
  const names = required.length === 0 ? Object.keys(properties) : required;
  const [only] = names;
  if (names.length !== 1 || only === undefined || text === '') {
    const message = `Write the arguments of ${toolSignature(tool)} as JSON: ${tool.name} {${names.map((each) => `"${each}": …`).join(', ')}}.`;
    throw new ToolEnvError('usage.turn', message);
  }
  // A number, true or false where the text is one; else the text.
  const value = properties[only]?.type === 'string' ? undefined : parseJson(text);
  return { [only]: value === undefined ? text : value };
}
