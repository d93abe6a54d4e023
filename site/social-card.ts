/** What a page is called where its address is shared: Open Graph (https://ogp.me), which Mastodon, Slack and X read. */
import type { HeadConfig, PageData } from 'vitepress';
import { descriptionOf } from './llms.ts';
import { writtenPages } from './pages.ts';

/** Written by `npm run screenshots`. */
const picture = { file: 'card.png', width: '1200', height: '630' };

/** The first sentence of a page as its description, unless it has one. VitePress writes a description into an attribute as it is. */
export function describe(page: PageData): void {
  const given =
    page.description || (writtenPages().includes(page.filePath) ? descriptionOf(page.filePath) : '');
  page.description = given.replaceAll('"', "'").replaceAll(/[<>&]/g, '');
}

/** @param site The address of the site, or its path on its host, with `/` at its end. */
export function socialCard({ title, description, relativePath }: PageData, site: string): HeadConfig[] {
  const page = relativePath.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '.html');
  const properties = {
    'og:site_name': 'toolenv',
    'og:type': relativePath === 'index.md' ? 'website' : 'article',
    'og:title': title,
    'og:description': description,
    'og:url': site + page,
    'og:image': site + picture.file,
    'og:image:width': picture.width,
    'og:image:height': picture.height,
    'og:image:alt': 'toolenv: train agents that use tools',
  };
  return [
    ...Object.entries(properties).map(([property, content]): HeadConfig => ['meta', { property, content }]),
    ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
  ];
}
