/** Every command and every plugin of the packages has its page, with every option, and links from the documents lead to these pages. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pluginKinds } from '@toolenv/core/plugins';
import { metricNames } from '@toolenv/training';
import { expect, test } from 'vitest';
import { commands } from '../../packages/cli/src/commands/commands.ts';
import { helpOf } from '../../packages/cli/test/help-of.ts';
import { homepage } from '../addresses.ts';
import { declaredPlugins, referencePages } from '../generate/reference.ts';
import { slugify } from '../links.ts';
import { repository, writtenPages } from '../pages.ts';

const pages = await referencePages();
const plugins = await declaredPlugins();

/** The first cells of the tables of a page. */
function named(page: string): string[] {
  return [...pages.get(page)!.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name!);
}

test('every plugin that a manifest names has a page', () => {
  const manifests = readdirSync(join(repository, 'packages')).flatMap((folder) => {
    const json = JSON.parse(readFileSync(join(repository, 'packages', folder, 'package.json'), 'utf8'));
    const names = pluginKinds.flatMap((kind) => Object.keys(json.toolenv?.[kind] ?? {}));
    return names.map((name) => `reference/${folder}/${name}.md`);
  });
  expect(manifests.length).toBeGreaterThan(40);
  expect(manifests.filter((page) => !pages.has(page))).toEqual([]);
  const index = pages.get('reference/index.md')!;
  for (const { ref, page } of plugins) expect(index).toContain(`[${ref}](/${page})`);
});

test('the README of the command line names every command', () => {
  const readme = readFileSync(join(repository, 'packages/cli/README.md'), 'utf8');
  expect(Object.keys(commands).filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
});

test('the README of a package with plugins links to the reference', () => {
  const folders = new Set(plugins.map(({ page }) => page.split('/')[1]!));
  const silent = [...folders].filter((folder) => {
    const readme = readFileSync(join(repository, 'packages', folder, 'README.md'), 'utf8');
    return !readme.includes(`](${homepage}reference/`);
  });
  expect(silent).toEqual([]);
});

test('every option of a plugin is on its page, and its schema describes it', () => {
  const all = plugins.flatMap(({ page, details }) =>
    Object.entries((details.options?.properties ?? {}) as Record<string, { description?: string }>).map(
      ([name, { description = '' }]) => ({ page, name, description }),
    ),
  );
  expect(all.length).toBeGreaterThan(700);
  expect(all.filter(({ description }) => description === '')).toEqual([]);
  expect(all.filter(({ page, name }) => !named(page).includes(name))).toEqual([]);
});

test('the page of an environment has its rewards, with their weights, and the tools of its roles', () => {
  const environments = plugins.filter(({ kind }) => kind === 'envs');
  for (const { page, details } of environments) {
    const text = pages.get(page)!;
    for (const [name, { kind, weight }] of Object.entries(details.rewards!))
      expect(text).toContain(`| \`${name}\` | ${kind} | ${weight} |`);
    for (const [role, tool] of Object.entries(details.roles!))
      expect(text).toContain(`| \`${role}\` | \`${tool}\` |`);
  }
  expect(environments.length).toBeGreaterThan(18);
});

test('a default is on the page: of a flag as its help shows it, in a reference as it is', () => {
  expect(pages.get('reference/trainer-grpo/grpo-v1.md')).toMatch(
    /\| `keepCheckpoints` \| `--keep-checkpoints <n>` \| .* \(default: 3\) \|/,
  );
  expect(pages.get('reference/envs-qa/bridge-v1.md')).toContain('| `topK` | `--env-top-k <n>` |');
  expect(pages.get('reference/sandbox/virtual-v1.md')).toContain('| `timeout` | `10000` | milliseconds');
});

test.each(Object.keys(commands))(
  'the flags of %s are on its page, or on those of its plugins',
  async (name) => {
    const ofPlugins = ['reference/policy/transformer-v1.md', 'reference/trainer-grpo/grpo-v1.md'];
    const shown = [`reference/toolenv-${name}.md`, ...ofPlugins].map((page) => pages.get(page)!).join('\n');
    const flags = [...(await helpOf(name)).matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag!);
    expect(flags).toContain('--help');
    const missing = flags.filter((flag) => flag !== '--help' && !new RegExp(`\`${flag}[\` ]`).test(shown));
    expect(missing).toEqual([]);
  },
);

test('the page of metrics has every metric, under a heading', () => {
  expect(named('reference/metrics.md')).toEqual(Object.keys(metricNames));
  const text = pages.get('reference/metrics.md')!;
  expect(text.match(/^## .+$/gm)).toContain('## A policy on a server');
  const plain = text.replaceAll('\\', '').replaceAll('&lt;', '<').replaceAll('&gt;', '>');
  for (const [name, meaning] of Object.entries(metricNames))
    expect(plain).toContain(`| \`${name}\` | ${meaning} |`);
});

test('a link from a document to the reference leads to a page', () => {
  const links = writtenPages().flatMap((file) =>
    [...readFileSync(join(repository, file), 'utf8').matchAll(/\]\((https:[^)\s]+)\)/g)]
      .map(([, link]) => link!)
      .filter((link) => link.startsWith(`${homepage}reference/`)),
  );
  expect(links.length).toBeGreaterThan(15);
  const leadsNowhere = links.filter((link) => {
    const [path, anchor] = link.slice(homepage.length).split('#') as [string, string?];
    const page = pages.get(path.replace(/\/$/, '/index.html').replace(/\.html$/, '.md'));
    const anchors = [...(page ?? '').matchAll(/^##? (.+)$/gm)].map(([, heading]) => slugify(heading!));
    return page === undefined || (anchor !== undefined && !anchors.includes(anchor));
  });
  expect(leadsNowhere).toEqual([]);
});
