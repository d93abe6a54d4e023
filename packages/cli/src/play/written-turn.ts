/** readTurn: turns a typed line into a tool call or an answer. */
import { type ToolDescription, ToolEnvError } from '@toolenv/core';
import { didYouMean, integerMistake, nearest, unsafeInteger } from '@toolenv/core/schemas';
import type { WrittenTurn } from '@toolenv/view';
import { toolSignature } from '../display/tool-signature.ts';
import { parseJson } from '../flags/schema-flags.ts';

/**
 * `search {"query": "Ada"}` and `search Ada` call the tool, the latter if one argument is enough. Every other line is an answer, and
 * so is a line that begins with a colon. A line that looks like a call of another tool is a slip: it would end the episode as an answer.
 * @throws ToolEnvError `usage.turn` for such a line, and for arguments that cannot be read.
 */
export function readTurn(line: string, tools: readonly ToolDescription[]): WrittenTurn {
  const text = line.trim();
  if (text.startsWith(':')) return { text: text.slice(1).trim(), calls: [] };
  const [, name = '', rest = ''] = /^([^\s({]*)\s*(.*)$/s.exec(text) ?? [];
  const tool = tools.find((each) => each.name === name);
  if (tool) return { text: '', calls: [{ name, arguments: readArguments(tool, rest) }] };
  refuseSlip(name, rest, tools);
  return { text, calls: [] };
}

/** A misspelt name of a tool, or any name before a JSON object. */
function refuseSlip(name: string, rest: string, tools: readonly ToolDescription[]): void {
  if (name === '' || tools.length === 0) return;
  const names = tools.map((tool) => tool.name);
  // Narrower than a hint may be: a short answer is near to many names.
  const isMisspelt = nearest(name, names, Math.min(2, Math.floor(name.length / 3))) !== undefined;
  if (!isMisspelt && !/^\{\s*["}]/.test(rest)) return;
  const message = `There is no tool ${name}. ${didYouMean(name, names, 'Tools')} A colon before the line makes it your answer.`;
  throw new ToolEnvError('usage.turn', message);
}

function readArguments(tool: ToolDescription, text: string): Record<string, unknown> {
  if (text.startsWith('{')) {
    const long = unsafeInteger(text);
    if (long !== undefined) throw new ToolEnvError('usage.turn', integerMistake(long));
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
  if (names.length !== 1 || only === undefined || text === '' || text.startsWith('(')) {
    const message = `Write the arguments of ${toolSignature(tool)} as JSON: ${tool.name} {${names.map((each) => `"${each}": …`).join(', ')}}.`;
    throw new ToolEnvError('usage.turn', message);
  }
  // A number, true or false where the text is one; else the text.
  const value = properties[only]?.type === 'string' ? undefined : parseJson(text);
  return { [only]: value === undefined ? text : value };
}
