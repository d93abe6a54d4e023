/** fill: puts figures into a page of Markdown, between `<!-- number: name -->` and `<!-- /number -->`. */

/** Not in quotes of code, where a page writes about marks. */
const mark = /(?<!`)(<!-- number: ([\w.-]+) -->)([\s\S]*?)(<!-- \/number -->)/g;

/**
 * The page with the figures of today.
 * @throws Error for a figure that does not exist, and for marks that Markdown would misread.
 */
export function fill(page: string, figures: ReadonlyMap<string, string>): string {
  const opened = page.match(/(?<!`)<!-- number: /g)?.length ?? 0;
  const marks = [...page.matchAll(mark)];
  if (marks.length !== opened) throw new Error(`${opened} numbers begin, and ${marks.length} of them end.`);
  const filled = page.replaceAll(mark, (_all, begin: string, name: string, _old: string, end: string) => {
    const figure = figures.get(name);
    if (figure === undefined)
      throw new Error(`There is no number ${name}. There are: ${[...figures.keys()].join(', ')}.`);
    return begin + figure + end;
  });
  // To Markdown, a line that begins with a comment is HTML, with all that stands in it.
  const html = /^ {0,3}<!-- number: ([\w.-]+) -->.*\S/m.exec(filled);
  if (html) throw new Error(`The number ${html[1]} begins a line: put a word before it.`);
  return filled;
}
