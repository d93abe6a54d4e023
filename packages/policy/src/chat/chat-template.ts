/** A checkpoint's chat template, rendered within bounds: the template comes with the checkpoint and may be malicious. */
import { Environment, parse, tokenize } from '@huggingface/jinja';
import { GuardedInterpreter } from './guarded-interpreter.ts';
import { dateUnits, itemUnits } from './template-costs.ts';
import { type Spend, weigh } from './template-values.ts';

/** Characters of a template. The longest known templates have 30,000. */
const longestTemplate = 200_000;
/** White-space characters in a row. The lexer takes quadratic time for them. */
const longestSpace = 1000;
/** Units of work for every rendering, and for each character of the conversation in addition. 2²⁷ units take about a second. */
const baseUnits = 2 ** 26;
const unitsPerCharacter = 256;
/** Characters of the rendered text, and for each character of the conversation in addition. */
const baseOutput = 2 ** 20;
const outputPerCharacter = 16;

const remedy = 'correct chat_template.jinja or use another checkpoint.';

export class ChatTemplate {
  readonly #program: ReturnType<typeof parse>;
  readonly #length: number;

  /** @throws Error if the template cannot be parsed. */
  constructor(source: string) {
    if (source.length > longestTemplate)
      throw new RangeError(`it has more than ${longestTemplate} characters`);
    if (longestRunOfSpaces(source) > longestSpace)
      throw new RangeError(`it has more than ${longestSpace} spaces in a row`);
    this.#program = parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }));
    this.#length = source.length;
  }

  /**
   * Renders plain JSON values by their names.
   * @throws Error if the template refuses the values, or needs more work, memory or depth than any conversation does.
   */
  render(variables: Record<string, unknown>): string {
    const scope = new Environment();
    for (const [name, value] of Object.entries(variables)) scope.set(name, value);
    let characters = 0;
    for (const name of Object.keys(variables))
      characters += weigh(scope.lookupVariable(name), () => {}).characters;

    let left = baseUnits + characters * unitsPerCharacter;
    const spend: Spend = (units) => {
      left -= units;
      // NaN is too much as well.
      if (!(left >= 0)) throw new RangeError(`it takes more work than a conversation needs: ${remedy}`);
    };
    for (const [name, value] of Object.entries(globals(spend))) scope.set(name, value);
    const text = String(
      new GuardedInterpreter(scope, this.#length, spend).evaluate(this.#program, scope).value,
    );
    if (text.length > baseOutput + characters * outputPerCharacter)
      throw new RangeError(
        `it makes ${text.length} characters of a conversation of ${characters}: ${remedy}`,
      );
    return text;
  }
}

/** The names that templates of transformers find defined. */
function globals(spend: Spend): Record<string, unknown> {
  return {
    true: true,
    false: false,
    none: null,
    True: true,
    False: false,
    None: null,
    raise_exception(message: unknown): never {
      throw new Error(String(message));
    },
    range(first: number, last?: number, step = 1): number[] {
      const [start, stop] = last === undefined ? [0, first] : [first, last];
      const count = Math.max(0, Math.ceil((stop - start) / step));
      spend(count * itemUnits);
      return Array.from({ length: count }, (_, i) => start + i * step);
    },
    strftime_now(format: string): string {
      spend(dateUnits + format.length * 64);
      return formatNow(format);
    },
  };
}

function formatNow(format: string): string {
  const now = new Date();
  const two = (number: number) => String(number).padStart(2, '0');
  const month = (style: 'long' | 'short') => new Intl.DateTimeFormat(undefined, { month: style }).format(now);
  const [long, short] = [month('long'), month('short')];
  const parts: Record<string, string> = {
    '%Y': String(now.getFullYear()),
    '%m': two(now.getMonth() + 1),
    '%d': two(now.getDate()),
    '%b': short,
    '%B': long,
    '%H': two(now.getHours()),
    '%M': two(now.getMinutes()),
    '%%': '%',
  };
  return format.replace(/%[YmdbBHM%]/g, (part) => parts[part]!);
}

function longestRunOfSpaces(text: string): number {
  let longest = 0;
  let run = 0;
  for (let i = 0; i < text.length; i++) {
    run = text[i]!.trim() === '' ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return longest;
}
