/** Arguments of functions, methods and filters. */
import type { Arguments, Value } from './values.ts';

/**
 * The arguments in the order of the parameters' names; `undefined` for a missing one.
 * @throws Error for arguments that no parameter takes.
 */
export function bind({ values, named }: Arguments, parameters: readonly string[]): Value[] {
  if (values.length > parameters.length)
    throw new Error(`${values.length} arguments are too many: ${parameters.length} are possible`);
  for (const name of named.keys()) {
    const at = parameters.indexOf(name);
    if (at < 0 || at < values.length) throw new Error(`an argument "${name}" is not possible`);
  }
  return parameters.map((name, i) => (i < values.length ? values[i] : named.get(name)));
}
