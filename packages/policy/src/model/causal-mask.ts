/** [T, T]: 0 at the positions that a row attends to (its own and earlier ones), −1e9 at later positions. */
export function causalMask(time: number): Float32Array {
  const mask = new Float32Array(time * time);
  for (let row = 0; row < time; row++) mask.fill(-1e9, row * time + row + 1, (row + 1) * time);
  return mask;
}
