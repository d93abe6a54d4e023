/** The site. Its pages are the Markdown of the repository: see `site/pages.ts`. */
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { repositoryAddress, siteAddress } from '../addresses.ts';
import { repositoryLinks, slugify } from '../links.ts';
import { sidebars } from '../navigation.ts';
import { foldersWithoutPages, pageOf } from '../pages.ts';
import { searchText } from '../search.ts';

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
  markdown: {
    anchor: { slugify },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    languageAlias: { sbatch: 'sh' },
    config: (markdown) => {
      markdown.use(repositoryLinks);
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
    nav: [
      {
        text: 'Guides',
        link: '/guides/',
        activeMatch: '^/(start|concepts|glossary|guides|recipes|scale|mcp-servers|examples)',
      },
      { text: 'Reference', link: '/api/', activeMatch: '^/(api|spec|packages|source)/' },
      { text: 'Benchmarks', link: '/benchmarks/', activeMatch: '^/benchmarks/' },
      { text: 'Project', link: '/project/architecture', activeMatch: '^/(project|decisions)/' },
      { text: 'Playground', link: '/playground/', target: '_self' },
    ],
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
