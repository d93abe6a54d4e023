/** [T, T]: 0 where a row may look, −1e9 where it may not. */
export function causalMask(time: number): Float32Array {
  const mask = new Float32Array(time * time);
  for (let row = 0; row < time; row++) mask.fill(-1e9, row * time + row + 1, (row + 1) * time);
  return mask;
}
