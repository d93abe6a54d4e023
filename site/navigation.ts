/** The sidebars: every page has its place in them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DefaultTheme } from 'vitepress';
import { entryPoints } from './entry-points.ts';
import { pageOf, repository } from './pages.ts';

type Item = DefaultTheme.SidebarItem;

const generated = join(import.meta.dirname, 'generated');

/** The sidebars of the site. The pages of files must have been written. */
export function sidebars(): Record<string, Item[]> {
  return {
    ...apiSidebars(),
    '/reference/': optionPages(),
    '/source/': [{ text: 'Files', items: tree('source') }],
    ...writtenSidebars(),
  };
}

/** The sidebars without the generated pages. For a reader who learns, a reader who looks something up, and a reader who changes toolenv. */
export function writtenSidebars(): Record<string, Item[]> {
  const reference = referencePages();
  const project = projectPages();
  return {
    '/api/': reference,
    '/packages/': reference,
    '/spec/': reference,
    '/benchmarks/': project,
    '/decisions/': project,
    '/project/': project,
    '/': learningPages(),
  };
}

/** The guides, in the order in which a reader needs them. */
const guides: Readonly<Record<string, readonly string[]>> = {
  'Your agent': ['agents', 'command-line-agents', 'traffic'],
  Environments: [
    'environment',
    'environment-parts',
    'state',
    'several-players',
    'tool',
    'mcp',
    'mcp-environments',
    'serve',
    'rewards',
    'judges',
  ],
  Training: ['train', 'evaluate-and-train', 'which-algorithm', 'sft', 'prompts', 'distillation'],
  Looking: ['view', 'evaluations-in-tests', 'playground', 'troubleshooting'],
  Extending: ['losses', 'trainer', 'publish'],
};

function learningPages(): Item[] {
  return [
    group('Begin', ['docs/start.md', 'docs/concepts.md', 'docs/glossary.md']),
    {
      text: 'Guides',
      link: addressOf('docs/guides/README.md'),
      collapsed: false,
      items: Object.entries(guides).map(([title, names]) =>
        group(
          title,
          names.map((name) => `docs/guides/${name}.md`),
        ),
      ),
    },
    group(
      'Recipes',
      [
        'README',
        'base-model-to-agent',
        'flat-rewards',
        'kl-runs-off',
        'long-tool-outputs',
        'lora-on-one-gpu',
        'hosted-to-own',
        'multihop-qa',
        'reading-metrics',
        'self-play',
      ].map((name) => `docs/recipes/${name}.md`),
    ),
    group(
      'Coming from',
      ['coming-from', 'from-gymnasium', 'from-verifiers', 'from-openenv', 'from-trl', 'from-agent-r1'].map(
        (name) => `docs/guides/${name}.md`,
      ),
    ),
    {
      text: 'More',
      items: [
        ...[
          'docs/environments/README.md',
          'docs/models.md',
          'docs/scale.md',
          'docs/mcp-servers.md',
          'examples/README.md',
        ].map(item),
        ...['examples/agents/README.md', 'examples/harbor/README.md'].map(item),
        { text: 'Files of the multi-hop recipe', link: addressOf('examples/multihop-qa/README.md') },
      ],
    },
  ];
}

function referencePages(): Item[] {
  const packages = readdirSync(join(repository, 'packages')).map((name) => `packages/${name}/README.md`);
  return [
    {
      text: 'The standard',
      items: [
        item('packages/core/spec/v1.md'),
        { text: 'Commands, plugins and metrics', link: '/reference/' },
        { text: 'All entry points', link: '/api/' },
      ],
    },
    group('Packages', packages),
  ];
}

/** The pages of commands and plugins, by package. */
function optionPages(): Item[] {
  const all = tree('reference');
  const packages = readdirSync(join(repository, 'packages'));
  const below = (start: string) => all.filter(({ link }) => link!.startsWith(`/reference/${start}`));
  return [
    {
      text: 'Reference',
      items: [
        { text: 'Commands, plugins and metrics', link: '/reference/' },
        item('site/generated/reference/metrics.md'),
      ],
    },
    { text: 'Commands', items: below('toolenv-') },
    ...packages.map((name) => ({ text: `@toolenv/${name}`, items: below(`${name}/`) })),
  ].filter(({ items }) => items.length > 0);
}

/**
 * A sidebar for each package, with its entry points: every page has the whole sidebar in it, so the names of a thousand pages are
 * on the pages of their entry points.
 */
function apiSidebars(): Record<string, Item[]> {
  const entries = entryPoints();
  const packages = new Map(
    entries.map(({ name, folder }) => [/^@[^/]+\/[^/]+|^[^/]+/.exec(name)![0], folder]),
  );
  return Object.fromEntries(
    [...packages].map(([name, folder]) => [
      `/api/${name}/`,
      [
        { text: 'Reference', items: [{ text: 'All entry points', link: '/api/' }] },
        {
          text: name,
          items: [
            { text: 'README', link: `/packages/${folder}.html` },
            ...entries
              .filter((entry) => entry.folder === folder)
              .map((entry) => ({ text: entry.name, link: `/api/${entry.name}/` })),
          ],
        },
      ],
    ]),
  );
}

/** The pages about the project. */
function projectPages(): Item[] {
  const decisions = readdirSync(join(repository, 'docs/decisions'))
    .filter((name) => name !== 'README.md')
    .map((name) => `docs/decisions/${name}`);
  return [
    group(
      'Benchmarks',
      [
        'README',
        'real-model',
        'table',
        'masks',
        'budget',
        'price',
        'library',
        'failures',
        'trl',
        'multi-hop-files',
        'search',
        'staleness',
        'chaos',
      ].map((name) => `docs/benchmarks/${name}.md`),
    ),
    {
      text: 'Project',
      items: [
        { text: 'README', link: addressOf('README.md') },
        ...[
          'ARCHITECTURE.md',
          'CONTRIBUTING.md',
          'workshop/README.md',
          'studies/README.md',
          'VERSIONING.md',
          'SECURITY.md',
        ].map(item),
      ],
    },
    group('Decisions', ['docs/decisions/README.md', ...decisions]),
  ];
}

/** Generated pages below a folder, in order of their titles. */
function tree(folder: string): Item[] {
  return readdirSync(join(generated, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.md') && name !== 'index.md')
    .map((name) => item(`site/generated/${folder}/${name}`))
    .sort((one, other) => (one.text! < other.text! ? -1 : 1));
}

function group(text: string, files: readonly string[]): Item {
  return { text, items: files.map(item) };
}

function item(file: string): Item {
  return { text: titleOf(file), link: addressOf(file) };
}

/** The address of a page on the site, such as `/guides/train.html`, or `/guides/` for an index. */
export function addressOf(file: string): string {
  return `/${pageOf(file)!
    .replace(/\.md$/, '.html')
    .replace(/(^|\/)index\.html$/, '$1')}`;
}

/** The first heading of a page. */
export function titleOf(file: string): string {
  const at = join(repository, file);
  if (!existsSync(at)) throw new Error(`The sidebar names ${file}, which does not exist.`);
  const heading = /^# (.+)$/m.exec(readFileSync(at, 'utf8'))?.[1];
  if (heading === undefined) throw new Error(`${file} has no heading. Give it a line that begins with #.`);
  return heading.replaceAll(/[`\\]/g, '');
}
