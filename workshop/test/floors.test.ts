/** The folders of a package are floors: a file imports from its own folder and from those below, even types. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { expect, test } from 'vitest';

const packages = join(import.meta.dirname, '../../packages');

/** From the ground up. Files beside the folders, such as `index.ts`, may import from each floor, and share what all floors need. */
const floors: Record<string, readonly string[]> = {
  core: [
    'protocol',
    'schemas',
    'files',
    'boundary',
    'call-formats',
    'tools',
    'env',
    'rollout',
    'recording',
    'remote',
    'wrappers',
    'plugins',
  ],
  training: [
    'rows',
    'reports',
    'run-folder',
    'trainer',
    'update',
    'rollouts',
    'evaluation',
    'diagnosis',
    'run',
  ],
  policy: ['runtime', 'jinja', 'model', 'checkpoint', 'grammar', 'chat', 'sampler', 'learner'],
  mcp: ['client', 'env', 'serve'],
  cli: ['display', 'subject', 'flags', 'run', 'show', 'play', 'commands'],
};
/** Files beside the folders of which each imports nothing of its package, so that all floors may import them. */
const shared: Record<string, readonly string[]> = {
  policy: ['common-prefix.ts'],
  mcp: ['exact-message.ts', 'implementation.ts'],
};

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const found = text.matchAll(/^(?:import|export)\b[^;]*?from '(\.[^']+)';/gm);
  return [...found].map(([, from]) => join(dirname(file), from!));
}

test.each(Object.entries(floors))('no import of %s goes up', (name, order) => {
  const source = join(packages, name, 'src');
  const entries = readdirSync(source, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  expect([...order].sort()).toEqual(folders.sort());

  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const wrong: string[] = [];
  let seen = 0;
  for (const file of files.filter((each) => each.includes(sep))) {
    const floor = order.indexOf(file.split(sep)[0]!);
    for (const imported of importsOf(join(source, file))) {
      const path = relative(source, imported);
      const isAllowed = path.includes(sep)
        ? order.indexOf(path.split(sep)[0]!) <= floor
        : shared[name]?.includes(path);
      seen += 1;
      if (!isAllowed) wrong.push(`${file} imports ${path}`);
    }
  }
  expect(seen).toBeGreaterThan(files.length / 4);
  expect(wrong).toEqual([]);
});

test.each(Object.entries(shared))('what all floors of %s import imports none of them', (name, files) => {
  for (const file of files) {
    const imported = importsOf(join(packages, name, 'src', file));
    const own = imported.map((path) => relative(join(packages, name, 'src'), path));
    expect(own.filter((path) => !files.includes(path))).toEqual([]);
  }
});
