/** Completes a page that TypeDoc wrote: how to import its name, examples from other pages, and the pages before and after it. */
import { type Comment, type DeclarationReflection, type Reflection, ReflectionKind } from 'typedoc';
import type { Example } from './examples.ts';

/** Pages to which the end of a page leads. */
const maxPages = 5;

interface Context {
  /** The address of a reflection's page on the site: `/api/@toolenv/core/functions/openEnv.md`. */
  addressOf(reflection: Reflection): string;
  /** The folder of an entry point's package: `core` for `@toolenv/core/wrappers`. */
  folderOf(entryPoint: string): string;
  /** By entry point and name: `@toolenv/core#openEnv`. */
  examples: ReadonlyMap<string, readonly Example[]>;
}

/** @param contents The page as Markdown. */
export function completePage(contents: string, reflection: DeclarationReflection, context: Context): string {
  if (reflection.kind === ReflectionKind.Module)
    return frontmatter(reflection, context) + below(contents, packageText(context.folderOf(reflection.name)));
  const { name } = reflection.parent!;
  const exported = reflection.name === pluginName(name) ? 'default' : reflection.name;
  const examples = context.examples.get(`${name}#${exported}`) ?? [];
  return [
    frontmatter(reflection, context),
    below(contents, importOf(reflection, exported, name)),
    ...examplesText(examples),
  ].join('');
}

/** The name of the plugin that an entry point exports by default: `bridge-v1` for `@toolenv/envs-qa/bridge-v1`. */
export function pluginName(entryPoint: string): string {
  return entryPoint.slice(entryPoint.lastIndexOf('/') + 1);
}

/** Puts a text below the heading of a page. */
function below(contents: string, text: string): string {
  return contents.replace(/^# .*$/m, (heading) => `${heading}\n\n${text}`);
}

function packageText(folder: string): string {
  return `An entry point of the package [${folder}](/packages/${folder}.md).`;
}

const types = ReflectionKind.Interface | ReflectionKind.TypeAlias;

function importOf({ kind, name }: DeclarationReflection, exported: string, entryPoint: string): string {
  const local = name.replace(/-v\d+$/, '').replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  const what = exported === 'default' ? local : `{ ${name} }`;
  return `\`\`\`ts\nimport ${(kind & types) === 0 ? '' : 'type '}${what} from '${entryPoint}';\n\`\`\``;
}

function examplesText([shortest, ...others]: readonly Example[]): string[] {
  if (shortest === undefined) return [];
  const links = others.slice(0, maxPages).map(({ title, page }) => `[${title}](/${page})`);
  return [
    `\n## Example\n\nFrom [${shortest.title}](/${shortest.page}):\n\n\`\`\`ts\n${shortest.code}\n\`\`\`\n`,
    ...(links.length === 0 ? [] : [`\nSee also ${links.join(', ')}.\n`]),
  ];
}

/** The description, for search engines and social cards, and the pages before and after. */
function frontmatter(reflection: DeclarationReflection, { addressOf }: Context): string {
  const description = firstSentence(reflection) ?? `${reflection.name} in the reference of toolenv`;
  const fields: Record<string, unknown> = { description, editLink: false };
  if (reflection.kind !== ReflectionKind.Module) {
    const module = reflection.parent as DeclarationReflection;
    const pages = [module, ...(module.groups ?? []).flatMap(({ children }) => children)];
    const at = pages.indexOf(reflection);
    fields.prev = linkTo(pages[at - 1]);
    fields.next = linkTo(pages[at + 1]);
  }
  // JSON is YAML.
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `---\n${lines.join('\n')}\n---\n\n`;

  function linkTo(other: Reflection | undefined): { text: string; link: string } | false {
    if (other === undefined) return false;
    const link = addressOf(other)
      .replace(/\.md$/, '.html')
      .replace(/\/index\.html$/, '/');
    return { text: other.name, link };
  }
}

function firstSentence({ comment, signatures = [] }: DeclarationReflection): string | undefined {
  const comments = [comment, ...signatures.map((signature) => signature.comment)];
  const text = comments.map(textOf).find((each) => each !== '') ?? '';
  return /^[\s\S]+?[.:?!](?=\s|$)/.exec(text)?.[0].replaceAll(/\s+/g, ' ').replace(/:$/, '.');
}

function textOf(comment: Comment | undefined): string {
  return (comment?.summary ?? []).map(({ text }) => text).join('');
}
