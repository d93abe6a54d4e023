/** Links of the repository's Markdown, as links of the site. A link to a file without a page leads to a generated page that shows the file. */
import { existsSync, statSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { homepage, pathInRepository } from './addresses.ts';
import { pageOf, repository } from './pages.ts';

export type Target =
  | { kind: 'page'; page: string; anchor: string }
  /** A file or a folder without a page, without `/` at its end. */
  | { kind: 'file'; file: string }
  | { kind: 'elsewhere' };

/**
 * Where a link of a Markdown file leads. Pages that npm shows have addresses of the repository in place of relative links.
 *
 * @throws Error if nothing is there.
 */
export function targetOf(document: string, link: string): Target {
  const fromRoot = pathInRepository(link);
  if (fromRoot === undefined && /^([a-z]+:|#|\/)/i.test(link)) return { kind: 'elsewhere' };
  const [path, anchor] = (fromRoot ?? link).split('#') as [string, string?];
  const folder = fromRoot === undefined ? posix.dirname(document) : '.';
  const file = posix.join(folder, decodeURI(path)).replace(/\/$/, '');
  const at = join(repository, file);
  if (!existsSync(at)) throw new Error(`${document}: ${link} does not exist. Correct the link.`);
  const readme = `${file}/README.md`;
  const shown = statSync(at).isDirectory() && existsSync(join(repository, readme)) ? readme : file;
  const page = pageOf(shown);
  return page === undefined
    ? { kind: 'file', file: shown }
    : { kind: 'page', page, anchor: anchor === undefined ? '' : `#${anchor}` };
}

/** The page that shows a file. `.md` is part of its name. */
export function pageOfFile(file: string): string {
  return `source/${file}.md`;
}

/** A plugin of markdown-it that changes the links of a page. */
export function repositoryLinks(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
    const document = relative(repository, env.realPath ?? env.path).replaceAll('\\', '/');
    // Generated pages have the links of the site already.
    if (document.startsWith('site/')) return;
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type !== 'link_open') continue;
      const href = token.attrGet('href')!;
      if (href.startsWith(homepage)) token.attrSet('href', `/${href.slice(homepage.length)}`);
      const target = targetOf(document, href);
      if (target.kind === 'page') token.attrSet('href', `/${target.page}${target.anchor}`);
      if (target.kind === 'file') token.attrSet('href', `/${pageOfFile(target.file)}`);
    }
  });
}

/** The anchors that GitHub gives to headings, so that a link works on both. */
export function slugify(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}
