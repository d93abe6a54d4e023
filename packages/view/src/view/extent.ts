/** Extent: how much of a file has been read. */
export interface Extent {
  /** Lines that count. */
  count: number;
  /** Times at which the file began anew, after which its lines are other lines. */
  generation: number;
}

export const nothingRead: Extent = { count: 0, generation: 0 };
