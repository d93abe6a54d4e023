/**
 * [T, T]: 0 at the positions that a row attends to, −1e9 at the others. A row attends to its own position and earlier ones, at most
 * `window` of them.
 */
export function causalMask(time: number, window: number = time): Float32Array {
  const mask = new Float32Array(time * time);
  for (let row = 0; row < time; row++) {
    mask.fill(-1e9, row * time, row * time + Math.max(0, row + 1 - window));
    mask.fill(-1e9, row * time + row + 1, (row + 1) * time);
  }
  return mask;
}
