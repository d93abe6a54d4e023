/** Templates: text with `{slots}`. */

const slot = /\{(\w+)\}/g;

/** `template` with each slot replaced by its value. @throws TypeError for a slot without a value. */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(slot, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new TypeError(`Slot {${name}} of "${template}" has no value.`);
    return value;
  });
}

/** The names of the slots, in order. */
export function slotsOf(template: string): string[] {
  return Array.from(template.matchAll(slot), ([, name]) => name!);
}
