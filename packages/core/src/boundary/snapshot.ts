/** snapshot: a copy that belongs to the records. Whoever made the original may change it later. */
import { type JsonBounds, recordBounds } from '../schemas/json-bounds.ts';
import { copyJson } from './copy-json.ts';

/** Returns what it is given, so that {@link Mark} puts its private field on that object. */
const Given = class {
  constructor(given: object) {
    // biome-ignore lint/correctness/noConstructorReturn: the field is put on the object that the constructor returns
    return given;
  }
};

/** A private field marks snapshots: a spread does not copy it, nobody else can set it, and it costs a tenth of a WeakSet. */
class Mark extends Given {
  #isSnapshot = true;

  static has(value: object): boolean {
    return #isSnapshot in value && value.#isSnapshot;
  }
}

/**
 * A copy as plain JSON data, or the value itself if it is such a copy, so that it is copied once on its way through several Envs.
 * @throws Error as {@link copyJson} does.
 */
export function snapshot<T extends object>(value: T, bounds: JsonBounds = recordBounds): T {
  return isSnapshot(value) ? value : asSnapshot(copyJson(value, bounds) as T);
}

/** Declares that nobody else holds the value. */
export function asSnapshot<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Mark.has(value)) new Mark(value);
  return value;
}

export function isSnapshot(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Mark.has(value);
}
