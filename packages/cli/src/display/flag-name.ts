/** flagName: the flag of an option of a plugin. */

/** `groupSize` → `--group-size`. */
export function flagName(property: string): string {
  return `--${property.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
