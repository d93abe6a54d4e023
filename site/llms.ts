/** The site for language models: llms.txt, llms-full.txt (https://llmstxt.org), and each page as Markdown at its own address. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DefaultTheme } from 'vitepress';
import { pageOfFile, targetOf } from './links.ts';
import { addressOf, writtenSidebars } from './navigation.ts';
import { pageOf, repository, writtenPages } from './pages.ts';

interface Section {
  title: string;
  /** Paths from the root of the repository. */
  files: string[];
}

const summary =
  'toolenv has environments, tools and reinforcement-learning trainers for language-model agents, in TypeScript. It trains transformer policies on the machine where it is installed, or on a server.';

/** Sections whose pages llms-full.txt leaves out: they are about the project, not about its use. */
const indexOnly = ['Benchmarks', 'Project', 'Decisions'];

/** Writes the files into the folder of the built site. `base` is the address of the site, or its path on its host, with `/` at its end. */
export function writeLlmsFiles(dist: string, base: string): void {
  for (const file of writtenPages()) {
    // The home page has a layout in place of text.
    if (file === 'site/index.md') continue;
    const at = join(dist, pageOf(file)!);
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, markdownOf(file, base));
  }
  writeFileSync(join(dist, 'llms.txt'), indexText(base));
  writeFileSync(join(dist, 'llms-full.txt'), fullText(base));
}

/** llms.txt: every page of the sidebars with its first sentence. */
export function indexText(base: string): string {
  const sections = sectionsOfSite().map(({ title, files }) => {
    // Readers with little room skip the section of this name.
    const heading = title === 'Decisions' ? 'Optional' : title;
    const lines = files.map(
      (file) => `- [${titleOf(file)}](${base}${pageOf(file)}): ${descriptionOf(file)}\n`,
    );
    return `## ${heading}\n\n${lines.join('')}`;
  });
  return `# toolenv\n\n> ${summary}\n\nllms-full.txt has the guides, the recipes, the spec and the packages in one file.\n\n${sections.join('\n')}`;
}

/** llms-full.txt: the pages for users, one after the other. */
export function fullText(base: string): string {
  const files = sectionsOfSite().flatMap(({ title, files }) => (indexOnly.includes(title) ? [] : files));
  const pages = files.map((file) => `<!-- ${base}${pageOf(file)} -->\n\n${markdownOf(file, base).trim()}\n`);
  return `# toolenv\n\n> ${summary}\n\n${pages.join('\n---\n\n')}`;
}

/** The groups of the three sidebars, in their order. */
export function sectionsOfSite(): Section[] {
  const fileAt = new Map(writtenPages().map((file) => [addressOf(file), file]));
  const sidebars = writtenSidebars();
  return ['/', '/packages/', '/benchmarks/'].flatMap((sidebar) =>
    sidebars[sidebar]!.map((group) => ({
      title: group.text!,
      files: linksOf(group).flatMap((link) => fileAt.get(link) ?? []),
    })),
  );
}

function linksOf({ link, items = [] }: DefaultTheme.SidebarItem): string[] {
  return [...(link === undefined ? [] : [link]), ...items.flatMap(linksOf)];
}

/** The Markdown of a page with links of the site, without comments. */
function markdownOf(file: string, base: string): string {
  return textOf(file)
    .split(/(^```[\s\S]*?^```$|`[^`\n]*`)/m)
    .map((part, at) => (at % 2 === 1 ? part : prose(part)))
    .join('');

  function prose(part: string): string {
    return part
      .replaceAll(/<!--[\s\S]*?-->\n?/g, '')
      .replaceAll(/(?<!!\[[^\]]*)\]\(([^)\s]+)\)/g, (_, link) => `](${siteLink(file, link, base)})`);
  }
}

function siteLink(file: string, link: string, base: string): string {
  const target = targetOf(file, link);
  if (target.kind === 'page') return `${base}${target.page}${target.anchor}`;
  return target.kind === 'file' ? `${base}${pageOfFile(target.file).replace(/\.md$/, '.html')}` : link;
}

function titleOf(file: string): string {
  return /^# (.+)$/m.exec(textOf(file))![1]!.replaceAll(/[`\\]/g, '');
}

/** The first sentence below the heading, as plain text. */
export function descriptionOf(file: string): string {
  const body = textOf(file)
    .replace(/^[\s\S]*?^# .+$/m, '')
    .replaceAll(/^```[\s\S]*?^```$|<!--[\s\S]*?-->|^(Date|Status): .*$/gm, '');
  const paragraph = body.split(/\n\n+/).find((part) => /^[^\s#|!<-]/.test(part.trim())) ?? '';
  const plain = paragraph
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*`]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return (/^.+?[.:?!](?=\s+[\p{Lu}\p{N}]|$)/u.exec(plain)?.[0] ?? plain).replace(/:$/, '.');
}

function textOf(file: string): string {
  return readFileSync(join(repository, file), 'utf8');
}
