/** A checkpoint's chat template, rendered within bounds: the template comes with the checkpoint and may be malicious. */
import { globals } from '../jinja/globals.ts';
import { Meter } from '../jinja/meter.ts';
import { Scope } from '../jinja/scope.ts';
import { compile, type Statement } from '../jinja/statements.ts';
import { fromJson, type Value } from '../jinja/values.ts';

/** Characters of a template. The longest known templates have 30,000. */
const maxTemplateLength = 200_000;
/** Units of work for every rendering, and for each character of the conversation in addition. */
const baseUnits = 2 ** 26;
const unitsPerCharacter = 256;
/** Characters of the rendered text, and for each character of the conversation in addition. */
const baseOutput = 2 ** 20;
const outputPerCharacter = 16;

const remedy = 'correct chat_template.jinja or use another checkpoint.';

export class ChatTemplate {
  readonly #meter = new Meter();
  readonly #program: Statement;
  readonly #globals: Scope;

  /**
   * @param now The time that the template takes for the present one, as if it were UTC.
   * @throws Error if the template cannot be parsed.
   */
  constructor(source: string, now: Date) {
    if (source.length > maxTemplateLength)
      throw new RangeError(`it has more than ${maxTemplateLength} characters`);
    this.#program = compile(source, this.#meter);
    this.#globals = new Scope(undefined, globals(now, this.#meter));
  }

  /**
   * Renders plain JSON values by their names, as transformers does.
   * @throws Error if the template refuses the values, or needs more work, memory or depth than any conversation does.
   */
  render(variables: Record<string, unknown>): string {
    const size = { characters: 0 };
    const values = new Map<string, Value>();
    for (const [name, value] of Object.entries(variables))
      if (value !== undefined) values.set(name, fromJson(value, size));
    const { characters } = size;
    this.#meter.begin(baseUnits + characters * unitsPerCharacter);
    const out: string[] = [];
    try {
      this.#program(new Scope(this.#globals, values), out);
    } catch (error) {
      throw error instanceof RangeError ? new RangeError(`${error.message}: ${remedy}`) : error;
    }
    const text = out.join('');
    if (text.length > baseOutput + characters * outputPerCharacter)
      throw new RangeError(
        `it makes ${text.length} characters of a conversation of ${characters}: ${remedy}`,
      );
    return text;
  }
}

/**
 * An index for a mark in the middle of a text. The middle excludes outer spaces, so that templates that trim the text
 * or look at its start and end treat it the same with the mark. The index is before the first of `ends` and never
 * splits a surrogate pair.
 */
export function middleOf(text: string, ends: readonly string[]): number {
  const start = text.length - text.trimStart().length;
  const middle = start + Math.floor(text.trim().length / 2);
  const firstEnds = ends.map((end) => text.indexOf(end)).filter((index) => index >= 0);
  const at = Math.min(middle, ...firstEnds);
  return /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(Math.max(0, at - 1), at + 1)) ? at - 1 : at;
}
