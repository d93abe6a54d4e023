/** The design of the small policy's tokenizer: the words of the library's environments, and bytes for everything else. */

import type { ToolDescription } from '@toolenv/core';
import { worldVocabulary } from '@toolenv/envs-qa';
import type { Line } from '../lines.ts';
import { type TokenizerDesign, toByteLevel } from '../tokenizer.ts';

/** Names the tools with their arguments, so that a model can follow tools that it has not seen. Descriptions are left out: they are long. */
const signatures =
  '{%- for tool in tools %} {{ tool.function.name }}({% for name in tool.function.parameters.properties or {} %}{{ name }}{% if not loop.last %}, {% endif %}{% endfor %}){% endfor -%}';
export const chatTemplate: string = [
  '{%- for message in messages -%}',
  `{%- if tools and loop.first and message.role != 'system' -%}<|im_start|>system${signatures}<|im_end|>{%- endif -%}`,
  "<|im_start|>{% if message.role == 'tool' %}tool<tool_response>{{ message.content }}</tool_response>",
  '{%- else %}{{ message.role }}{% if message.content %} {{ message.content }}{% endif %}{% endif -%}',
  `{%- if tools and loop.first and message.role == 'system' -%}${signatures}{%- endif -%}`,
  '{%- for call in message.tool_calls or [] -%}<tool_call>{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}</tool_call>{%- endfor -%}',
  '<|im_end|>{%- endfor -%}',
  '{%- if add_generation_prompt -%}<|im_start|>assistant{%- endif -%}',
].join('');

/** Fixed parts of any call, keys of the bank's records, and words with punctuation inside. */
const common = [
  '{"name": "',
  '", "arguments": {"',
  '", "arguments": {}}',
  '": "',
  '", "',
  '"}}',
  ...['id', 'name', 'owner', 'kind', 'account'].flatMap((key) => [`{"${key}":"`, `","${key}":"`]),
  ...['balance', 'limit'].map((key) => `","${key}":`),
  ...['","premium":', ',"frozen":'].flatMap((key) => [`${key}true}`, `${key}false}`]),
  ...['customer', 'product', 'purchase'].map((table) => `${table}_id`),
  '.id',
  ' in/on',
];

/** The call of a known tool up to its first argument, and the keys of its other arguments. */
function partsOf({ name, inputSchema }: ToolDescription): string[] {
  const properties = Object.entries(inputSchema.properties ?? {}) as [string, { type?: string }][];
  const [first, ...others] = properties.map(([key, { type }]) => `"${key}": ${type === 'string' ? '"' : ''}`);
  return [`{"name": "${name}", "arguments": {${first ?? ''}`, ...others.map((key) => `, ${key}`)];
}

/** GPT-2's division of a text into words, numbers and punctuation. */
const division = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/**
 * The pieces of the texts that occur at least twice, and the words of the worlds, with and without a space before them. Numbers, and short
 * words without a space, are spelled: the letters of a guess in Wordle are always a token each.
 */
export function libraryDesign(lines: readonly Line[]): TokenizerDesign {
  const tools = lines.flatMap((line) => ('tools' in line ? line.tools : []));
  const fixed = [...new Set([...common, ...tools.flatMap(partsOf)])];
  const counts = new Map<string, number>();
  const between = new RegExp(
    [...fixed]
      .sort((a, b) => b.length - a.length)
      .map(literally)
      .join('|'),
  );
  for (const text of lines.flatMap(textsOf)) {
    for (const part of text.split(between))
      for (const [piece] of part.matchAll(division)) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  }
  const frequent = [...counts].flatMap(([piece, count]) => (count > 1 ? [piece] : []));
  const ofWorlds = worldVocabulary().flatMap((word) => [word, ` ${word}`]);
  const pieces = [...new Set([...frequent, ...ofWorlds])].filter((piece) => !isSpelled(piece));
  return { pieces: pieces.sort().map(toByteLevel), fixed, joinsLines: false, chatTemplate };
}

function isSpelled(piece: string): boolean {
  return (
    /\p{N}/u.test(piece) || /^[a-z]{1,5}$/.test(piece) || /^ ?[-_:]+$/.test(piece) || /^ ?[GY]+$/.test(piece)
  );
}

function literally(text: string): string {
  return text.replaceAll(/[{}"[\]().?*+^$|\\]/g, '\\$&');
}

/** JSON as chat templates write it. */
function spaced(args: unknown): string {
  return JSON.stringify(args, null, 1)
    .replaceAll(/\n */g, ' ')
    .replaceAll(/(?<=\{) | (?=\})/g, '');
}

function textsOf(line: Line): string[] {
  if ('segments' in line) return [line.segments.map(({ text }) => text).join('')];
  const { messages, tools } = line;
  const calls = messages.flatMap((message) =>
    message.role !== 'assistant'
      ? []
      : (message.toolCalls ?? []).map(
          ({ name, arguments: args }) => `{"name": "${name}", "arguments": ${spaced(args)}}`,
        ),
  );
  const signatures = tools.map(
    ({ name, inputSchema }) => ` ${name}(${Object.keys(inputSchema.properties ?? {}).join(', ')})`,
  );
  return [...messages.map(({ content }) => ` ${content}`), ...calls, ...signatures];
}
