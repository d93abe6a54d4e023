/** What the search knows of a page. */
import type { MarkdownEnv, MarkdownRenderer } from 'vitepress';
import { pageOf } from './pages.ts';

/** The page as HTML, in which each heading begins an entry. */
export function searchText(source: string, env: MarkdownEnv, markdown: MarkdownRenderer): string {
  const page = pageOf(env.relativePath) ?? '';
  // Files are for reading, and their text would bury the pages.
  if (page.startsWith('source/')) return '';
  return page.startsWith('api/')
    ? textOfName(source)
    : withoutColours(markdown, () => markdown.render(source, env));
}

/** The text of a page of the reference as one entry: "Parameters" and "Returns" are headings of every function. */
function textOfName(source: string): string {
  const [, title = '', body = ''] = /^# (.+)$([\s\S]*)/m.exec(source) ?? [];
  const text = body
    .replaceAll(/```[\s\S]*?```|<[^>]*>|\]\([^)]*\)/g, ' ')
    .replaceAll(/[|`*\\[\]#<>&-]+/g, ' ')
    .replaceAll(/\s+/g, ' ');
  return `<h1>${title.replaceAll('\\', '')}<a href="#"></a></h1><p>${text}</p>`;
}

/** Colouring code takes most of the time, and the search has no use for it. */
function withoutColours<Result>(markdown: MarkdownRenderer, render: () => Result): Result {
  const { highlight } = markdown.options;
  markdown.options.highlight = null;
  try {
    return render();
  } finally {
    markdown.options.highlight = highlight;
  }
}
