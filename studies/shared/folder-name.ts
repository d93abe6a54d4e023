/** folderName: the name of a run's folder, from the words that tell it from others. */
export function folderName(...words: readonly (string | number)[]): string {
  return words
    .join(' ')
    .toLowerCase()
    .replaceAll(/[^a-z0-9.+]+/g, '-');
}
