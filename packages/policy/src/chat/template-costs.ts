/**
 * What the operations of a chat template cost, in units of about a nanosecond or a byte. Each cost is an upper bound of the
 * work of the operation, computed before it, because a single operation can take all time and memory:
 * `text | replace("", text)`.
 */
import { lengthOf, partsOf, type Spend, type TemplateValue, weigh } from './template-values.ts';

/** Evaluating a node of the template. */
export const nodeUnits = 32;
/** A name without a value: the interpreter throws and catches an error. */
export const undefinedUnits = 2000;
/** Calling a macro or a function: a scope. */
export const callUnits = 1000;
/** One round of a loop: two scopes and the loop's variables. */
export const roundUnits = 1000;
/** The methods of a text or an object are made when the first one is used. */
export const methodsUnits = 1000;
/** One item of `range`. */
export const itemUnits = 64;
/** `strftime_now`: a date formatter. */
export const dateUnits = 100_000;

/** The cost of a binary operator. */
export function chargeOperator(
  operator: string,
  left: TemplateValue,
  right: TemplateValue,
  spend: Spend,
): void {
  const containers = [left, right].filter(partsOf).length;
  if (operator === 'in' || operator === 'not in') {
    spend(
      left.type === 'StringValue' && right.type === 'StringValue'
        ? searchUnits(right, left)
        : lengthOf(right) * 8,
    );
  } else if (operator === '+' && containers === 2) {
    spend((lengthOf(left) + lengthOf(right)) * 8);
  } else if (operator === '+' || operator === '~' || containers === 1) {
    // Both become text. Comparing a list with a text makes text of the list too.
    for (const value of [left, right]) chargeText(value, spend);
  } else {
    spend(Math.min(lengthOf(left), lengthOf(right)));
  }
}

/** The cost of a value as text. */
export function chargeText(value: TemplateValue, spend: Spend): void {
  if (partsOf(value)) weigh(value, spend);
  else spend(lengthOf(value));
}

/** The cost of a filter, or of the method of a text or an object. Lists among the arguments count as several arguments. */
export function chargeFilter(
  name: string,
  operand: TemplateValue,
  given: readonly TemplateValue[],
  spend: Spend,
): void {
  const size = lengthOf(operand);
  const args = given.flatMap((arg) => {
    const parts = partsOf(arg);
    return parts === undefined ? arg : [...parts.values()];
  });
  const longest = Math.max(1, ...args.map(lengthOf));
  const largest = Math.max(1, ...args.map(numberOf));
  spend(methodsUnits + size * 8 + args.reduce((sum, arg) => sum + lengthOf(arg), 0));
  switch (name) {
    case 'replace': {
      const [old, by] = args;
      if (old && by) spend(searchUnits(operand, old) + matches(size, old) * (replaceUnits + lengthOf(by)));
      break;
    }
    case 'split': {
      const [by] = args;
      spend(by ? searchUnits(operand, by) + matches(size, by) * matchUnits : size * matchUnits);
      break;
    }
    case 'indent':
      // A text has at most as many lines as characters.
      spend((size + 1) * (args.length === 0 ? 4 : largest));
      break;
    case 'join':
      weigh(operand, spend);
      spend(size * longest);
      break;
    case 'string':
    case 'tojson': {
      const { characters, nodes, depth } = weigh(operand, spend);
      // A character becomes up to six, `\u00e9`.
      spend(characters * 6 + nodes * (matchUnits + depth * largest + longest));
      break;
    }
    case 'sort':
    case 'dictsort': {
      const { characters, nodes } = weigh(operand, spend);
      spend((characters + nodes * (matchUnits + longest)) * 2 * Math.ceil(Math.log2(size + 2)));
      break;
    }
    case 'map':
      spend(size * (matchUnits + longest));
      break;
    case 'unique':
      spend(size * matchUnits);
      break;
    case 'selectattr':
    case 'rejectattr':
      // Their tests for lower and upper case read the whole text.
      if (args.some(({ value }) => value === 'lower' || value === 'upper')) weigh(operand, spend);
      else spend(size * matchUnits);
      break;
  }
}

/** A match of `replace`. Many templates replace single characters in the whole conversation. */
const replaceUnits = 32;
/** A part of `split` or a comparison of `sort`: a call and a small object. */
const matchUnits = 128;

/** Finding a text in another. Long patterns may be compared from their start at each character. */
function searchUnits(text: TemplateValue, pattern: TemplateValue): number {
  return lengthOf(text) * (1 + lengthOf(pattern) / 16);
}

function matches(size: number, pattern: TemplateValue): number {
  return size / Math.max(1, lengthOf(pattern)) + 1;
}

function numberOf({ value }: TemplateValue): number {
  return typeof value === 'number' ? Math.abs(value) : 0;
}
