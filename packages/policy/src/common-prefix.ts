/** The length of the common prefix of two sequences. */
export function commonPrefix<T>(a: ArrayLike<T>, b: ArrayLike<T>): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}
