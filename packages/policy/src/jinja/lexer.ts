/** Tokens of a template, as `jinja2/lexer.py` makes them with `trim_blocks` and `lstrip_blocks`. */
import { stripEnd, whitespace } from './whitespace.ts';

/** `type` is `data`, `{%`, `%}`, `{{`, `}}`, `name`, `string`, `integer`, `float`, `end`, or an operator. */
export interface Token {
  readonly type: string;
  readonly value: string;
}

const ws = `[${whitespace}]`;
const opening = /\{[{%#]/g;
const raw = new RegExp(`\\{%[-+]?${ws}*raw${ws}*(?:-%\\}${ws}*|%\\})`, 'y');
const endRaw = new RegExp(`\\{%([-+]?)${ws}*endraw${ws}*(?:\\+%\\}|-%\\}${ws}*|%\\}\\n?)`, 'g');
const commentEnd = new RegExp(`\\+#\\}|-#\\}${ws}*|#\\}\\n?`, 'g');
const blockEnd = new RegExp(`\\+%\\}|-%\\}${ws}*|%\\}\\n?`, 'y');
const variableEnd = new RegExp(`-\\}\\}${ws}*|\\}\\}`, 'y');

const inside: readonly (readonly [type: string, pattern: RegExp])[] = [
  ['space', new RegExp(`${ws}+`, 'y')],
  ['float', /(?<!\.)\d+(?:_\d+)*(?:(?:\.\d+(?:_\d+)*)?e[+-]?\d+(?:_\d+)*|\.\d+(?:_\d+)*)/iy],
  ['integer', /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy],
  ['name', /\p{ID_Continue}+/uy],
  ['string', /'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"/sy],
  ['operator', /\*\*|\/\/|[=!<>]=|[-+/*%~[\](){}<>=.:|,]/y],
];
const closers: Record<string, string> = { '(': ')', '[': ']', '{': '}' };

/** @throws SyntaxError */
export function tokenize(template: string): Token[] {
  const source = template.replaceAll(/\r\n?/g, '\n').replace(/\n$/, '');
  const tokens: Token[] = [];
  let position = 0;
  let startsLine = true;

  const match = (pattern: RegExp, at = position) => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  const pass = (found: RegExpExecArray) => {
    position = found.index + found[0].length;
    startsLine = found[0].endsWith('\n');
  };
  /** Text before a tag with this sign. */
  const addText = (text: string, sign: string | undefined, isVariable: boolean) => {
    let kept = text;
    if (sign === '-') kept = stripEnd(text);
    else if (sign !== '+' && !isVariable) {
      const line = text.lastIndexOf('\n') + 1;
      if ((line > 0 || startsLine) && stripEnd(text.slice(line)) === '') kept = text.slice(0, line);
    }
    if (kept !== '') tokens.push({ type: 'data', value: kept });
  };

  while (position < source.length) {
    const tag = match(opening);
    const at = tag?.index ?? source.length;
    const text = source.slice(position, at);
    if (!tag) {
      tokens.push({ type: 'data', value: text });
      break;
    }
    const sign = source[at + 2];
    addText(text, sign, tag[0] === '{{');
    const rawTag = tag[0] === '{%' && match(raw, at);
    if (rawTag) {
      pass(rawTag);
      const end = match(endRaw);
      if (!end) throw new SyntaxError('a raw block has no end');
      addText(source.slice(position, end.index), end[1], false);
      pass(end);
      continue;
    }
    position = at + (sign === '-' || sign === '+' ? 3 : 2);
    if (tag[0] === '{#') {
      const end = match(commentEnd);
      if (!end) throw new SyntaxError('a comment has no end');
      pass(end);
    } else {
      tokens.push({ type: tag[0], value: '' });
      lexTag(tag[0] === '{%' ? '%}' : '}}');
    }
  }
  tokens.push({ type: 'end', value: '' });
  return tokens;

  function lexTag(close: '%}' | '}}'): void {
    const open: string[] = [];
    while (position < source.length) {
      const end = open.length === 0 && match(close === '%}' ? blockEnd : variableEnd);
      if (end) {
        tokens.push({ type: close, value: '' });
        pass(end);
        return;
      }
      const found = inside.map(([type, pattern]) => [type, match(pattern)] as const).find(([, each]) => each);
      if (!found) throw new SyntaxError(`unexpected character ${JSON.stringify(source[position])}`);
      const [type, { 0: value }] = found as [string, RegExpExecArray];
      position += value.length;
      if (type === 'operator') {
        const closer = closers[value];
        if (closer !== undefined) open.push(closer);
        else if (')]}'.includes(value) && open.pop() !== value) throw new SyntaxError(`unexpected ${value}`);
        tokens.push({ type: value, value });
      } else if (type === 'string') tokens.push({ type, value: unescaped(value.slice(1, -1)) });
      else if (type !== 'space')
        tokens.push({ type, value: type === 'name' ? value : value.replaceAll('_', '') });
    }
    throw new SyntaxError(`a tag has no ${close}`);
  }
}

const escapes: Record<string, string> = {
  ...{
    '\n': '',
    '\\': '\\',
    "'": "'",
    '"': '"',
    a: '\x07',
    b: '\b',
    f: '\f',
    n: '\n',
    r: '\r',
    t: '\t',
    v: '\v',
  },
};

/** The escapes of a Python string. Unknown ones stay. */
function unescaped(text: string): string {
  const pattern = /\\(?:([0-7]{1,3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([\s\S]))/g;
  return text.replace(pattern, (whole, octal, x, u, U, other) => {
    if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
    const hex = x ?? u ?? U;
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if ('xuUN'.includes(other)) throw new SyntaxError(`invalid escape ${whole}`);
    return escapes[other] ?? whole;
  });
}
