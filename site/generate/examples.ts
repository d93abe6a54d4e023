/** Finds examples of the packages' names in the written pages, whose blocks of TypeScript are compiled and run by tests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageOf, repository, writtenPages } from '../pages.ts';

export interface Example {
  /** The title of the page. */
  title: string;
  /** The address of the page on the site, with `.md`. */
  page: string;
  code: string;
}

/** Longer blocks are for their page. */
const maxLines = 40;

/**
 * Examples by entry point and name, `@toolenv/core#openEnv`: of each page that imports the name, the shortest block that
 * uses it; short examples first.
 */
export function examplesOfNames(): Map<string, Example[]> {
  const examples = new Map<string, Example[]>();
  for (const file of writtenPages())
    for (const [name, example] of examplesOn(pageOf(file)!, readFileSync(join(repository, file), 'utf8')))
      examples.set(name, [...(examples.get(name) ?? []), example]);
  for (const found of examples.values()) found.sort((one, other) => one.code.length - other.code.length);
  return examples;
}

/** The examples of one page. @param text Its Markdown. */
export function examplesOn(page: string, text: string): Map<string, Example> {
  const title = /^# (.+)$/m.exec(text)?.[1]?.replaceAll(/[`\\]/g, '') ?? page;
  const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1]!.trimEnd());
  const examples = new Map<string, Example>();
  for (const [name, local] of blocks.flatMap(importsOf)) {
    const word = new RegExp(`\\b${local.replaceAll('$', '\\$')}\\b`);
    const using = blocks.filter(
      (code) => word.test(withoutImports(code)) && code.split('\n').length <= maxLines,
    );
    const [code] = using.sort((one, other) => one.length - other.length);
    if (code !== undefined) examples.set(name, { title, page, code });
  }
  return examples;
}

const importStatement = /^import (?:type )?([^;]*?) from '([^']+)';$/gm;

/** What a block imports: `@toolenv/core#openEnv` and the name that it has in the block. */
function importsOf(code: string): [name: string, local: string][] {
  return [...code.matchAll(importStatement)].flatMap(([, clause, module]) => {
    const [, defaulted, named = ''] = /^([\w$]+)?(?:, )?(?:\{([^}]*)\})?/.exec(clause!)!;
    const names = named
      .split(',')
      .map((part) => part.trim().replace(/^type /, ''))
      .filter((part) => part !== '')
      .map((part) => part.split(' as ') as [string, string?])
      .map(([name, local = name]): [string, string] => [`${module}#${name}`, local]);
    return defaulted === undefined ? names : [[`${module}#default`, defaulted], ...names];
  });
}

function withoutImports(code: string): string {
  return code.replaceAll(importStatement, '');
}
