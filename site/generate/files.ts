/** Writes a page for each linked file and folder of the repository that has none. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { repositoryAddress } from '../addresses.ts';
import { pageOfFile, targetOf } from '../links.ts';
import { repository, writtenPages } from '../pages.ts';

const languages: Readonly<Record<string, string>> = {
  '.ts': 'ts',
  '.mjs': 'js',
  '.json': 'json',
  '.py': 'python',
  '.sbatch': 'sh',
};

/** Files and folders to which the pages link, sorted. Folders bring their files. */
export function linkedFiles(): string[] {
  const files = new Set<string>();
  for (const document of writtenPages()) {
    const prose = readFileSync(join(repository, document), 'utf8').replaceAll(
      /^(```|~~~).*\n[\s\S]*?^\1$|`[^`\n]*`/gm,
      '',
    );
    for (const [, link] of prose.matchAll(/(?<!!\[[^\]]*)\]\(([^)\s]+)\)/g)) {
      const target = targetOf(document, link!);
      if (target.kind === 'file') add(target.file, files);
    }
  }
  return [...files].sort();
}

function add(file: string, files: Set<string>): void {
  files.add(file);
  if (isFolder(file)) for (const name of readdirSync(join(repository, file))) add(`${file}/${name}`, files);
}

function isFolder(file: string): boolean {
  return statSync(join(repository, file)).isDirectory();
}

export function writeFilePages(generated: string): void {
  for (const file of linkedFiles()) {
    const at = join(generated, pageOfFile(file));
    mkdirSync(dirname(at), { recursive: true });
    const inRepository = `[In the repository](${repositoryAddress}/blob/main/${file})\n\n`;
    const contents = isFolder(file) ? listOf(file) : inRepository + textOf(file);
    writeFileSync(at, `---\neditLink: false\n---\n\n# ${file}\n\n${contents}`);
  }
}

function listOf(folder: string): string {
  const names = readdirSync(join(repository, folder));
  return names.map((name) => `- [${name}](/${pageOfFile(`${folder}/${name}`)})\n`).join('');
}

function textOf(file: string): string {
  const text = readFileSync(join(repository, file), 'utf8');
  // Colours make a large file ten times as large.
  const language = text.length < 16_000 ? languages[extname(file)] : undefined;
  return `\`\`\`\`${language ?? 'text'}\n${text.trimEnd()}\n\`\`\`\`\n`;
}
