/** The formats of calls, by model family. A checkpoint's format is the format that reads back what its chat template writes. */
import { defineFormat, type ToolCallFormat, type WrittenCall } from './call-format.ts';
import { jsonFormat, llamaFormat, mistralFormat, readNamed, readSingleKeys } from './json-calls.ts';
import { skipSpace } from './json-end.ts';
import { put, readItems, readLiteral } from './literals.ts';
import { readTagged, type TagSyntax } from './tagged-arguments.ts';
import { Unreadable } from './unreadable.ts';

/** `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, any number of times: Hermes, Qwen 2.5 and 3, Granite 4, SmolLM3. */
export const hermesFormat: ToolCallFormat = jsonFormat('hermes', '<tool_call>', '</tool_call>');

function taggedFormat(
  name: string,
  open: string,
  close: string,
  tags: TagSyntax,
  frame?: RegExp,
): ToolCallFormat {
  return defineFormat({ name, open, close, read: readTagged(tags, close), ...(frame && { frame }) });
}

/** `<function=NAME><parameter=KEY>…</parameter></function>` between two marks. */
const functionTags: TagSyntax = {
  head: /<function=([^>\n]*)>/y,
  key: /<parameter=([^>\n]*)>/y,
  valueEnd: '</parameter>',
  tail: '</function>',
};

/** `<invoke name="NAME"><parameter name="KEY">…</parameter></invoke>`, whose tags may have a prefix. */
function invokeTags(prefix = ''): TagSyntax {
  return {
    head: new RegExp(`<${prefix}invoke name="([^"\\n]*)">`, 'y'),
    key: new RegExp(`<${prefix}parameter name="([^"\\n]*)"(?: string="(true|false)")?>`, 'y'),
    valueEnd: `</${prefix}parameter>`,
    tail: `</${prefix}invoke>`,
  };
}

/** `NAME<arg_key>KEY</arg_key><arg_value>…</arg_value>`, whose tags may have a suffix. */
function keyTags(suffix: string, head: RegExp, tail?: string): TagSyntax {
  return {
    head,
    key: new RegExp(`<arg_key${suffix}>([^<\\n]*)</arg_key${suffix}>\\s*<arg_value${suffix}>`, 'y'),
    valueEnd: `</arg_value${suffix}>`,
    ...(tail !== undefined && { tail }),
  };
}

/** `name(key=value, …)` of Python, in a list. */
function readPython(text: string, at: number): { calls: WrittenCall[]; end: number } {
  const start = skipSpace(text, at);
  if (text[start] !== '[') throw new Unreadable('Write calls as [name(key=value)].');
  const calls: WrittenCall[] = [];
  const end = readItems(text, start + 1, ']', (place) => {
    const call = pythonCall(text, place);
    calls.push({ ...call, text: text.slice(place, call.end) });
    return call.end;
  });
  return { calls, end };
}

function pythonCall(text: string, at: number): { name: string; arguments: unknown; end: number } {
  const head = /([\w.-]+)\(/y;
  head.lastIndex = at;
  const name = head.exec(text)?.[1];
  if (name === undefined) throw new Unreadable('The call has no name.');
  const args: Record<string, unknown> = {};
  const end = readItems(text, head.lastIndex, ')', (place) => {
    const key = /([\w-]+)\s*=/y;
    key.lastIndex = place;
    const named = key.exec(text)?.[1];
    if (named === undefined) throw new Unreadable('Write arguments as key=value.');
    const { value, end: after } = readLiteral(text, key.lastIndex);
    put(args, named, value);
    return after;
  });
  return { name, arguments: args, end };
}

/** `call:NAME{key:<|"|>text<|"|>,other:3}` of Gemma 4. */
function readGemma(text: string, at: number): { calls: WrittenCall[]; end: number } {
  const head = /call:([\w.-]+)(?=\{)/y;
  head.lastIndex = at;
  const name = head.exec(text)?.[1];
  if (name === undefined) throw new Unreadable('Write a call as call:name{key:value}.');
  const { value, end } = readLiteral(text, head.lastIndex, { quote: '<|"|>', bareKeys: true });
  return { calls: [{ name, arguments: value }], end };
}

/**
 * All formats. The order decides where several formats read the same text.
 * Sources: the chat templates of the families, and their model cards.
 */
export const callFormats: readonly ToolCallFormat[] = [
  hermesFormat,
  // Qwen3-Coder, Qwen3.5, Nemotron 3, Step 3.5.
  taggedFormat('qwen-coder', '<tool_call>', '</tool_call>', { ...functionTags, pad: '\n' }),
  // GLM 4.5 to 4.7, Laguna, Ling, Spark.
  taggedFormat('glm', '<tool_call>', '</tool_call>', keyTags('', /([^<\n]*)/y)),
  mistralFormat,
  llamaFormat,
  jsonFormat('granite', '<|tool_call|>', '<|/tool_call|>'),
  jsonFormat('tool-calls', '<tool_calls>', '</tool_calls>'),
  jsonFormat('nemotron', '<TOOLCALL>', '</TOOLCALL>'),
  jsonFormat('command-r', '<|START_ACTION|>', '<|END_ACTION|>', {
    frame: /<\|(?:START|END)_(?:RESPONSE|TEXT)\|>/g,
  }),
  jsonFormat('apertus', '<|tools_prefix|>', '<|tools_suffix|>', { read: readSingleKeys }),
  jsonFormat('gigachat', '<|function_call|>'),
  jsonFormat('gigachat-3', 'function call<|role_sep|>', '', {
    frame: /<\|message_sep\|>/g,
    inner: ['<|message_sep|>'],
  }),
  defineFormat({
    name: 'deepseek',
    open: '<｜tool▁call▁begin｜>',
    close: '<｜tool▁call▁end｜>',
    inner: ['<｜tool▁sep｜>', '<｜tool▁calls▁begin｜>', '<｜tool▁calls▁end｜>'],
    frame: /<｜tool▁calls▁(?:begin|end)｜>/g,
    read: readNamed(
      /(?:function<｜tool▁sep｜>(?<other>[^\n]*)\n```json|(?<name>[^<\n]*)<｜tool▁sep｜>)/y,
      '```',
    ),
  }),
  ...['function_calls', 'tool_calls'].map((list) =>
    taggedFormat(`dsml-${list}`, `<｜DSML｜${list}>`, `</｜DSML｜${list}>`, invokeTags('｜DSML｜')),
  ),
  defineFormat({
    name: 'kimi',
    open: '<|tool_call_begin|>',
    close: '<|tool_call_end|>',
    inner: ['<|tool_call_argument_begin|>', '<|tool_calls_section_begin|>', '<|tool_calls_section_end|>'],
    frame: /<\|tool_calls_section_(?:begin|end)\|>/g,
    templateId: (id, name) => `functions.${name}:${/\d+$/.exec(id)?.[0] ?? 0}`,
    read: readNamed(/\s*(?:functions\.)?(?<name>[^<:\s]+)(?::\d+)?\s*<\|tool_call_argument_begin\|>/y),
  }),
  taggedFormat(
    'kimi-3',
    '<|open|>tools<|sep|>',
    '<|close|>tools<|sep|>',
    {
      head: /<\|open\|>call tool="([^"\n]*)"[^<\n]*<\|sep\|>/y,
      key: /<\|open\|>argument key="([^"\n]*)" type="(\w+)"<\|sep\|>/y,
      valueEnd: '<|close|>argument<|sep|>',
      tail: '<|close|>call<|sep|>',
    },
    /<\|(?:open|close)\|>(?:response|message)<\|sep\|>/g,
  ),
  taggedFormat('minimax', '<minimax:tool_call>', '</minimax:tool_call>', invokeTags()),
  taggedFormat('seed', '<seed:tool_call>', '</seed:tool_call>', functionTags),
  taggedFormat(
    'hunyuan',
    '<tool_calls:opensource>',
    '</tool_calls:opensource>',
    keyTags(
      ':opensource',
      /<tool_call:opensource>([^<\n]*)<tool_sep:opensource>/y,
      '</tool_call:opensource>',
    ),
  ),
  taggedFormat('minicpm', '<function', '', {
    head: /name="([^"\n]*)">/y,
    key: /<param name="([^"\n]*)">/y,
    valueEnd: '</param>',
    tail: '</function>',
  }),
  defineFormat({
    name: 'functionary',
    open: '<function=',
    close: '</function>',
    read: readNamed(/(?<name>[^>\n]*)>/y),
  }),
  defineFormat({
    name: 'functionary-3',
    open: '>>>',
    frame: /^>>>all\n/,
    read: (text, at, tools) => {
      const head = /(?<name>[\w.-]+)\n(?=\s*\{)/y;
      head.lastIndex = at;
      return head.test(text) ? readNamed(head)(text, at, tools) : undefined;
    },
  }),
  defineFormat({
    name: 'solar',
    open: '<|tool_call:begin|>',
    close: '<|tool_call:end|>',
    inner: ['<|tool_call:name|>', '<|tool_call:args|>', '<|tool_calls|>', '<|calls|>'],
    frame: /<\|(?:tool_calls|calls|content)\|>|<\|begin\|>assistant/g,
    read: readNamed(/(?<id>[^<\n]*)<\|tool_call:name\|>(?<name>[^<\n]*)<\|tool_call:args\|>/y),
  }),
  // GPT-OSS: a recipient makes a call, and other messages are text.
  defineFormat({
    name: 'harmony',
    open: ' to=functions.',
    close: '<|call|>',
    inner: ['<|channel|>', '<|start|>', '<|message|>', '<|constrain|>', '<|end|>', '<|return|>'],
    frame: /<\|start\|>assistant|<\|channel\|>(?:final|commentary)|<\|message\|>|<\|(?:end|return|call)\|>/g,
    read: readNamed(/(?<name>[\w.-]{1,256})(?![\w.-])[^{[]{0,100}?<\|message\|>/y),
  }),
  taggedFormat(
    'muse',
    '<atem:function_calls>',
    '</atem:function_calls>',
    invokeTags('atem:'),
    /(?:<\|eom\|>)?(?:<\|start\|>assistant)? to=[\w.-]+<\|message\|>/g,
  ),
  defineFormat({
    name: 'gemma-4',
    open: '<|tool_call>',
    close: '<tool_call|>',
    inner: ['<|"|>'],
    read: readGemma,
  }),
  defineFormat({
    name: 'lfm2',
    open: '<|tool_call_start|>',
    close: '<|tool_call_end|>',
    read: readPython,
  }),
  defineFormat({
    name: 'pythonic',
    open: '',
    read: (text, at) => {
      if (!/^\[[ \n\r\t]*[\w.-]+\(/.test(text.slice(at, at + 300))) return undefined;
      const found = readPython(text, at);
      if (skipSpace(text, found.end) < text.length) throw new Unreadable('Write nothing behind the calls.');
      return found;
    },
  }),
];
