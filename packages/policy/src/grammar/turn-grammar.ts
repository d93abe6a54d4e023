/** turnGrammar: turns in which each call is one of an offered tool, as a model family writes them. */
import { messageOf, type ToolDescription, ToolEnvError } from '@toolenv/core';
import { JsonGrammar } from './json-grammar.ts';
import {
  among,
  choice,
  exactly,
  json,
  type Markers,
  markerTail,
  type Part,
  type Sequence,
  space,
} from './part.ts';
import { type Bytes, bytesOf } from './token-bytes.ts';
import { below } from './token-trie.ts';
import { valueShapes } from './value-shapes.ts';

/** What a grammar needs of a tool. */
export type Tool = Pick<ToolDescription, 'name' | 'inputSchema'>;

/** How the turns of a format are read. */
export interface TurnFormat {
  /** Texts that strings in calls may not have, because the parser would take them for the format's own. */
  markers: Markers;
  turn(calls: Calls): Sequence;
}

/** The calls of the offered tools. */
interface Calls {
  /** Without tools, nothing may begin a call. */
  isEmpty: boolean;
  /** A JSON object with the name and the arguments. */
  object(argumentsKey: string): Part;
  /** What follows `{"name":` and white space in such an object. */
  name(argumentsKey: string): Part;
  /** The name, `separator` and the arguments. */
  plain(separator: Bytes): Part;
}

const hermes: TurnFormat = {
  markers: ['</tool_call>'],
  turn: (calls) => {
    const call = [space, calls.object('arguments'), space, exactly('</tool_call>')];
    const turn = text(['<tool_call>'], () => (calls.isEmpty ? [] : [[...call, turn]]));
    return [turn];
  },
};

const pythonTag = '<|python_tag|>';

const llama: TurnFormat = {
  markers: [pythonTag],
  turn: (calls) => {
    const next = choice('next', () => [
      [atEnd],
      [exactly(';'), space, calls.object('parameters'), space, next],
    ]);
    const only = (sequence: Sequence) => (calls.isEmpty ? [] : [[...sequence, space, next]]);
    const plain = text([pythonTag], () => []);
    /** The start of a turn that may become a call. White space may come before each place of `spaced`. */
    const begun = (start: Bytes, spaced: readonly number[], then: Sequence, at = 0): Part => ({
      ...textEnd,
      key: `begun ${start} ${at}`,
      read: (byte) => {
        if (spaced.includes(at) && ' \n\r\t'.includes(String.fromCharCode(byte)))
          return [[begun(start, spaced, then, at)]];
        if (byte !== start.charCodeAt(at)) return plain.read!(byte);
        return at + 1 === start.length ? only(then) : [[begun(start, spaced, then, at + 1)]];
      },
    });
    const tagged = begun(pythonTag, [], [space, calls.object('parameters')]);
    const object = begun('{"name":', [1, 7], [space, calls.name('parameters')]);
    const turn: Part = {
      ...textEnd,
      key: 'turn',
      read: (byte) => {
        // The parser trims all that Unicode calls white space, some of it beyond ASCII.
        if (byte <= 0x20 || byte >= 0x80) return [[turn]];
        return (byte === pythonTag.charCodeAt(0) ? tagged : object).read!(byte);
      },
    };
    return [turn];
  },
};

const [callsTag, argumentsTag] = ['[TOOL_CALLS]', '[ARGS]'];

const mistral: TurnFormat = {
  markers: [callsTag, argumentsTag],
  turn: (calls) => {
    const more = choice('more', () => [
      [exactly(']')],
      [exactly(','), space, calls.object('arguments'), space, more],
    ]);
    const list = [exactly('['), space, calls.object('arguments'), space, more];
    const after = choice('after', () => [[atEnd], [exactly(callsTag), space, body]]);
    const body = choice('body', () =>
      [list, [calls.plain(argumentsTag)]].map((each) => [...each, space, after]),
    );
    return [text([callsTag], () => (calls.isEmpty ? [] : [[space, body]]))];
  },
};

/** By the name of the format of calls. */
const formats: Readonly<Record<string, TurnFormat>> = { hermes, llama, mistral };

/** @throws ToolEnvError `usage.constrain_calls` for a format without a grammar. */
export function turnFormat(name: string): TurnFormat {
  const format = formats[name];
  if (format) return format;
  const known = Object.keys(formats).join(', ');
  const message = `Calls in the format "${name}" cannot be constrained, only those in ${known}: leave constrainCalls out.`;
  throw new ToolEnvError('usage.constrain_calls', message);
}

/** What `work` makes of a tool. @throws ToolEnvError `usage.constrain_calls` if the schema is too hard, naming the tool. */
export function ofTool<T>({ name }: Tool, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const message = `Calls of the tool "${name}" cannot be constrained, because of its schema: ${messageOf(error)}. Simplify the schema, or leave constrainCalls out.`;
    throw new ToolEnvError('usage.constrain_calls', message, { cause: error });
  }
}

/** @throws ToolEnvError as {@link ofTool}. */
export function turnGrammar({ markers, turn }: TurnFormat, tools: readonly Tool[]): Sequence {
  const offered = tools.map((tool, index) => ({
    name: tool.name,
    args: new JsonGrammar(`tool ${index}`, markers).value(ofTool(tool, () => valueShapes(tool.inputSchema))),
  }));
  const name = (argumentsKey: string) =>
    among(
      'names',
      offered.map(({ name, args }) => ({
        bytes: json(JSON.stringify(name), markers),
        after: () => [
          ...[space, exactly(','), space, exactly(JSON.stringify(argumentsKey))],
          ...[space, exactly(':'), space, args, space, exactly('}')],
        ],
      })),
    );
  return turn({
    isEmpty: offered.length === 0,
    name,
    object: (argumentsKey) =>
      choice('call', () => [
        [exactly('{'), space, exactly('"name"'), space, exactly(':'), space, name(argumentsKey)],
      ]),
    plain: (separator) => {
      const isPlain = ({ name }: { name: string }) =>
        name.trim() === name && !markers.some((marker) => name.includes(marker));
      const named = offered.filter(isPlain).map(({ name, args }) => {
        return { bytes: bytesOf(name) + separator, after: () => [space, args] };
      });
      return among('plain', named);
    },
  });
}

/** The turn may end here, and tokens without a text may come. */
const textEnd = { mayEnd: true, isText: true };

/** Any text. @param then What may follow a marker. */
function text(markers: Markers, then: () => Sequence[], tail = ''): Part {
  return {
    ...textEnd,
    takesAll: (held) => tail === '' && (held & below.marker) === 0,
    key: `text ${tail}`,
    read: (byte) => {
      const next = tail + String.fromCharCode(byte);
      return markers.includes(next) ? then() : [[text(markers, then, markerTail(next, markers))]];
    },
  };
}

/** The end of a turn, where no text may come. */
const atEnd: Part = { key: 'end', mayEnd: true, read: () => [] };
