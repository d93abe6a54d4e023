/** Extent: how much of a file has been read. */
export interface Extent {
  /** Lines that count. */
  count: number;
  /** How often the file was replaced or truncated, so its lines are different lines. */
  generation: number;
}

export const nothingRead: Extent = { count: 0, generation: 0 };
