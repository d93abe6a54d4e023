/** KindReader: the kinds of tasks, which are fields of a task with few values, such as its level. */

/** Field of a task → its value, as text. A field of an object has a dotted name. */
export type KindFields = Readonly<Record<string, string>>;

/** Values of a field at most; with more, the field names no kinds. */
export const maxValues = 12;
const maxFields = 20;
const maxValueLength = 40;

/** Finds the kinds of tasks as they are read, and drops a field as soon as it has too many values. */
export class KindReader {
  readonly #values = new Map<string, Set<string>>();

  of(task: unknown): KindFields {
    const fields = fieldsOf(task).filter(([name, value]) => {
      const known = this.#values.get(name) ?? new Set();
      if (this.#values.size < maxFields) this.#values.set(name, known);
      if (known.size <= maxValues) known.add(value);
      return known.size <= maxValues;
    });
    return Object.fromEntries(fields);
  }
}

/** Short texts, whole numbers and truths of the task and of its objects. */
function fieldsOf(value: unknown, prefix = '', depth = 2): [name: string, value: string][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, part]): [string, string][] => {
    if (typeof part === 'object') return depth > 1 ? fieldsOf(part, `${prefix}${name}.`, depth - 1) : [];
    const isKind = typeof part === 'boolean' || Number.isInteger(part) || typeof part === 'string';
    const text = String(part);
    const isShort = text !== '' && text.length <= maxValueLength && !/[\p{Cc}\p{Surrogate}]/u.test(text);
    return isKind && isShort ? [[prefix + name, text]] : [];
  });
}
