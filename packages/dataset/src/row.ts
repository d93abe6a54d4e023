/** What all formats give: rows, and the place of each for errors. */

/** A row of a file. */
export interface Row {
  value: object;
  /** Whether all values are texts, whatever they mean. */
  isOfTexts?: boolean;
  /** `data.jsonl, line 3`. */
  place: string;
}
