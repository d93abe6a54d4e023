/** The arguments of a call, from the fields of a form that was made from the tool's schema. */
export interface Field {
  name: string;
  isRequired: boolean;
  description?: string;
  /** What the field takes: `json` for all that has no field of its own. */
  kind: 'text' | 'number' | 'boolean' | 'choice' | 'json';
  /** Of a choice. */
  values?: readonly unknown[];
}

interface Property {
  type?: unknown;
  enum?: readonly unknown[];
  description?: string;
}

export function fieldsOf(inputSchema: object): Field[] {
  const { properties = {}, required = [] } = inputSchema as {
    properties?: Record<string, Property>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { type, enum: values, description }]) => ({
    name,
    isRequired: required.includes(name),
    description,
    kind: values ? 'choice' : kindOf(type),
    values,
  }));
}

function kindOf(type: unknown): Field['kind'] {
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return 'number';
  return type === 'boolean' ? 'boolean' : 'json';
}

/**
 * Empty fields are left out, except a required text. The environment checks the arguments: a person may make the mistakes of a policy.
 * @param written Texts of the fields, by name.
 * @throws SyntaxError for JSON that cannot be read, and for an integer that a number would round.
 */
export function argumentsOf(
  fields: readonly Field[],
  written: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const given = fields.flatMap(({ name, kind, isRequired, values = [] }): [string, unknown][] => {
    const text = written[name] ?? '';
    if (text === '') return isRequired && kind === 'text' ? [[name, '']] : [];
    if (kind === 'text') return [[name, text]];
    if (kind === 'choice') return [[name, values[Number(text)]]];
    return [[name, parse(text)]];
  });
  return Object.fromEntries(given);
}

function parse(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const exact = JSON.stringify(value);
  const rounded = text.match(/(?<![\d.])\d{16,}(?![\d.eE])/g)?.find((digits) => !exact.includes(digits));
  if (rounded === undefined) return value;
  throw new SyntaxError(
    `${rounded} is beyond ±${Number.MAX_SAFE_INTEGER}, where numbers are rounded: write it as a string.`,
  );
}
