/** The value of a key, made at its first use: Map.prototype.getOrInsertComputed of ECMAScript 2026, which Node 20 lacks. */

export function getOrInsert<Key, Value>(
  map: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
