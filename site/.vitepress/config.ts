/** The site. Its pages are the Markdown of the repository: see `site/pages.ts`. */
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { repositoryAddress, siteAddress } from '../addresses.ts';
import { repositoryLinks, slugify } from '../links.ts';
import { sidebars } from '../navigation.ts';
import { packageManagers } from '../package-managers.ts';
import { foldersWithoutPages, pageOf } from '../pages.ts';
import { crossSidebars } from '../path.ts';
import { searchText } from '../search.ts';
import { describe, socialCard } from '../social-card.ts';

const publicFolder = join(import.meta.dirname, '../public');
/** Also the name of the button for screen readers, which must contain what is seen. */
const searchButton = 'Search, or press /';
const { host, base } = siteAddress();

export default defineConfig({
  title: 'toolenv',
  description: 'Environments, tools and reinforcement learning for language-model agents, in TypeScript.',
  lang: 'en',
  base,
  ...(host && { sitemap: { hostname: host + base } }),
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}logo.svg` }]],
  srcDir: '..',
  srcExclude: foldersWithoutPages(),
  rewrites: (file) => pageOf(file) ?? file,
  outDir: 'dist',
  // Otherwise every page has every sidebar in it.
  metaChunk: true,
  transformPageData(page) {
    crossSidebars(page);
    describe(page);
  },
  transformHead: ({ pageData }) => socialCard(pageData, (host ?? '') + base),
  markdown: {
    image: { lazyLoading: true },
    anchor: { slugify },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    languageAlias: { sbatch: 'sh' },
    config: (markdown) => {
      markdown.use(repositoryLinks).use(packageManagers);
    },
  },
  vite: {
    publicDir: publicFolder,
    // The index of the search is large, and is loaded by the first search.
    build: { chunkSizeWarningLimit: 4000 },
  },
  themeConfig: {
    logo: '/logo.svg',
    socialLinks: [{ icon: 'github', link: repositoryAddress }],
    // In the order in which a reader follows the pages.
    nav: [
      { text: 'Learn', link: '/start', activeMatch: '^/(start|concepts|glossary)' },
      {
        text: 'Your agent',
        link: '/guides/agents',
        activeMatch: '^/guides/(agents|command-line-agents|traffic)',
      },
      {
        text: 'Guides',
        link: '/guides/',
        activeMatch: '^/(guides/(?!agents|command-line-agents|traffic)|models|scale|mcp-servers|examples)',
      },
      { text: 'Playground', link: '/playground/', target: '_self' },
      { text: 'Reference', link: '/spec/v1', activeMatch: '^/(api|reference|spec|packages|source)/' },
      {
        text: 'More',
        items: [
          { text: 'Recipes', link: '/recipes/', activeMatch: '^/recipes/' },
          { text: 'Environments', link: '/environments/' },
          { text: 'Benchmarks', link: '/benchmarks/' },
          { text: 'Project', link: '/project/architecture' },
          { text: 'Decisions', link: '/decisions/' },
        ],
      },
    ],
    editLink: { pattern: `${repositoryAddress}/edit/main/:path`, text: 'Edit this page' },
    sidebar: sidebars(),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        _render: searchText,
        // Pages that explain come before names and decisions. The browser runs this function, so that it stands alone.
        miniSearch: {
          searchOptions: { boostDocument: (page: string) => (/\/(api|decisions)\//.test(page) ? 0.4 : 1) },
        },
        translations: { button: { buttonText: searchButton, buttonAriaLabel: searchButton } },
      },
    },
  },
});
