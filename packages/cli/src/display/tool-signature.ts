/** How a tool is called: `name(a, b?)`. */
import type { ToolDescription } from '@toolenv/core';

/** A question mark stands after an optional argument. */
export function toolSignature({ name, inputSchema }: ToolDescription): string {
  const { properties = {}, required = [] } = inputSchema as { properties?: object; required?: string[] };
  const names = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`));
  return `${name}(${names.join(', ')})`;
}
