/** `str.format` and the operator `%` of a str. */
import type { Meter } from './meter.ts';
import { floatText, repr, str } from './python-text.ts';
import {
  type Arguments,
  aType,
  charactersOf,
  isDict,
  isFloat,
  isList,
  numberOf,
  Tuple,
  textOf,
  type Value,
} from './values.ts';

/** The widest field and the most digits. */
const widest = 100_000;

interface Spec {
  fill?: string;
  align?: string;
  sign?: string;
  alternate?: string;
  zero?: string;
  width?: number;
  grouping?: string;
  precision?: number | undefined;
  type?: string;
}

const specPattern =
  /^(?:(?<fill>.)?(?<align>[<>=^]))?(?<sign>[-+ ])?(?<alternate>#)?(?<zero>0)?(?<width>\d+)?(?<grouping>[,_])?(?:\.(?<precision>\d+))?(?<type>[a-zA-Z%])?$/su;

/**
 * `text.format(...)`.
 * @param read Reads an attribute or an item of a value, as the template does.
 */
export function formatText(
  text: string,
  { values, named }: Arguments,
  read: (value: Value, name: string | number, isItem: boolean) => Value,
  meter: Meter,
): string {
  meter.spend(text.length * 8);
  let next = 0;
  const field = (whole: string, name: string): Value => {
    const [, first, rest] = /^([^.[]*)(.*)$/s.exec(name)!;
    const index = first === '' ? next++ : /^\d+$/.test(first!) ? Number(first) : undefined;
    let value = index === undefined ? named.get(first!) : values[index];
    if (index === undefined ? !named.has(first!) : index >= values.length)
      throw new Error(`no argument for ${whole}`);
    for (const [, attribute, item] of rest!.matchAll(/\.([^.[]+)|\[([^\]]+)\]/g))
      value = read(value, attribute ?? (/^\d+$/.test(item!) ? Number(item) : item!), item !== undefined);
    return value;
  };
  const pattern = /\{\{|\}\}|\{([^{}!:]*)(?:!([rsa]))?(?::((?:[^{}]|\{[^{}]*\})*))?\}|[{}]/gs;
  return text.replace(pattern, (whole, name, conversion, spec: string | undefined) => {
    if (whole === '{{' || whole === '}}') return whole[0]!;
    if (name === undefined) throw new Error('a format has a single brace');
    const value = field(whole, name);
    const inner =
      spec?.replace(/\{([^{}]*)\}/g, (part, innerName) => str(field(part, innerName), meter)) ?? '';
    const shown =
      conversion === undefined ? value : conversion === 's' ? str(value, meter) : repr(value, meter);
    return formatValue(shown, inner, meter);
  });
}

/** `format(value, spec)`. */
function formatValue(value: Value, spec: string, meter: Meter): string {
  if (spec === '') return str(value, meter);
  const groups = specPattern.exec(spec)?.groups;
  if (!groups) throw new Error(`the format ${JSON.stringify(spec)} is not known`);
  const { width, precision, ...rest } = groups;
  const parsed: Spec = {
    ...rest,
    ...(width && { width: Number(width) }),
    precision: precision === undefined ? undefined : Number(precision),
  };
  const number = numberOf(value);
  if (number === undefined || (typeof value === 'boolean' && !parsed.type)) {
    const text = typeof value === 'boolean' ? str(value, meter) : textOf(value);
    if (text === undefined) throw new Error(`${aType(value)} takes no format`);
    const cut = precision === undefined ? text : charactersOf(text).slice(0, Number(precision)).join('');
    return pad(cut, '', { align: '<', ...defined(parsed) }, meter);
  }
  const [sign, digits] = digitsOf(number, isFloat(value), parsed);
  return pad(digits, sign, { align: '>', ...defined(parsed) }, meter);
}

function defined<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;
}

/** The sign and the digits of a number. */
function digitsOf(number: number, isFloating: boolean, spec: Spec): [sign: string, digits: string] {
  const { sign = '-', grouping, precision, type = isFloating ? undefined : 'd' } = spec;
  if ((precision ?? 0) > 100) throw new RangeError('a number has more than 100 digits');
  const size = Math.abs(number);
  const shown = number < 0 || Object.is(number, -0) ? '-' : sign === '-' ? '' : sign;
  const base = { d: 10, x: 16, X: 16, o: 8, b: 2 }[type ?? ''];
  let digits: string;
  if (base !== undefined) {
    if (isFloating) throw new Error(`a float has no format "${type}"`);
    const prefix = spec.alternate && base !== 10 ? `0${type}` : '';
    digits = prefix + (type === 'X' ? size.toString(base).toUpperCase() : size.toString(base));
  } else if (type === 'f' || type === 'F') digits = size.toFixed(precision ?? 6);
  else if (type === '%') digits = `${(size * 100).toFixed(precision ?? 6)}%`;
  else if (type === 'e' || type === 'E') {
    digits = size.toExponential(precision ?? 6).replace(/e([+-])(\d)$/, 'e$10$2');
    if (type === 'E') digits = digits.toUpperCase();
  } else if (type === 'g' || (type === undefined && precision !== undefined)) {
    const precise = Number(size.toPrecision(precision || 6));
    digits = type === 'g' ? floatText(precise).replace(/\.0$/, '') : floatText(precise);
  } else if (type === undefined) digits = floatText(size);
  else throw new Error(`the format "${type}" is not known`);
  if (grouping) digits = digits.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, grouping));
  return [shown, digits];
}

function pad(text: string, sign: string, { fill, align, zero, width = 0 }: Spec, meter: Meter): string {
  if (width > widest) throw new RangeError(`a field is wider than ${widest} characters`);
  meter.spend(text.length + width);
  const missing = width - charactersOf(text).length - sign.length;
  if (missing <= 0) return sign + text;
  const space = (count: number) => (fill ?? (zero ? '0' : ' ')).repeat(count);
  if (align === '=' || (zero && fill === undefined && align === '>')) return sign + space(missing) + text;
  if (align === '^') return space(missing >> 1) + sign + text + space(missing - (missing >> 1));
  return align === '<' ? sign + text + space(missing) : space(missing) + sign + text;
}

/** `text % value`. */
export function percentFormat(text: string, value: Value, meter: Meter): string {
  meter.spend(text.length * 8);
  const values = value instanceof Tuple ? value : [value];
  let next = 0;
  const result = text.replace(
    /%(?:\(([^)]*)\))?([-+ #0]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])?/g,
    (whole, key, flags: string, width, precision, type) => {
      if (type === '%') return '%';
      if (type === undefined) throw new Error(`the format ${whole} is not whole`);
      if (key === undefined && next >= values.length) throw new Error('a format has too few values');
      const given = key === undefined ? values[next++] : isDict(value) ? value.get(key) : undefined;
      if (key !== undefined && !(isDict(value) && value.has(key))) throw new Error(`no value for ${whole}`);
      const spec: Spec = { align: flags.includes('-') ? '<' : '>', width: Number(width ?? 0) };
      if ('sr'.includes(type)) {
        const shown = type === 's' ? str(given, meter) : repr(given, meter);
        return pad(precision === undefined ? shown : shown.slice(0, Number(precision)), '', spec, meter);
      }
      const number = numberOf(given);
      if (number === undefined) throw new Error(`${aType(given)} has no format ${whole}`);
      const isWhole = 'diu'.includes(type);
      const [sign, digits] = digitsOf(
        isWhole ? Math.trunc(number) : number,
        !isWhole && !'xXo'.includes(type),
        {
          sign: flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '-',
          type: isWhole ? 'd' : type,
          precision: precision === undefined ? undefined : Number(precision),
        },
      );
      return pad(digits, sign, { ...spec, ...(flags.includes('0') && { zero: '0' }) }, meter);
    },
  );
  if (next < values.length && !isDict(value) && (value instanceof Tuple || !isList(value)))
    throw new Error('a format has too many values');
  return result;
}
