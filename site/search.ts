/** What the search knows of a page. */
import type { MarkdownEnv, MarkdownRenderer } from 'vitepress';
import { pageOf } from './pages.ts';

/** The page as HTML, in which each heading begins an entry. */
export function searchText(source: string, env: MarkdownEnv, markdown: MarkdownRenderer): string {
  const page = pageOf(env.relativePath) ?? '';
  // Files are for reading, and their text would bury the pages.
  if (page.startsWith('source/')) return '';
  const html = withoutColours(markdown, () => markdown.render(source, env));
  // "Parameters" and "Returns" are headings of every function.
  return page.startsWith('api/') ? html.replaceAll(/<(\/?)h[456]/g, '<$1p') : html;
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
