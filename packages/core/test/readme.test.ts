/** The README's examples run unchanged, and its table names every wrapper. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'node:util';
import { expect, test, vi } from 'vitest';

const readme = await readFile(join(import.meta.dirname, '..', 'README.md'), 'utf8');

async function printedBy(example: string): Promise<string> {
  const folder = await mkdtemp(join(import.meta.dirname, 'readme-'));
  const printed: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((...values) => void printed.push(format(...values)));
  try {
    const file = join(folder, 'example.ts');
    await writeFile(file, example);
    await import(file);
    return printed.join('\n');
  } finally {
    await rm(folder, { recursive: true });
  }
}

const [environment, wrapped] = Array.from(
  readme.matchAll(/```ts\n([\s\S]*?)```/g),
  ([, example]) => example!,
);

test('the oracle opens the safe with one try', async () => {
  expect(await printedBy(environment!)).toBe('It opens. 0.99');
});

test('the example of wrappers cuts episodes after four turns and shows two of them', async () => {
  // The task's messages, then two more of each turn, two turns at most.
  expect(await printedBy(wrapped!)).toBe('4 [ 2, 4, 6, 6 ]');
});

test('the table names every wrapper', async () => {
  const index = await readFile(join(import.meta.dirname, '..', 'src', 'wrappers', 'index.ts'), 'utf8');
  const exported = [...index.matchAll(/export \{([^}]*)\} from '\.\//g)].flatMap((match) =>
    match[1]!.split(','),
  );
  const wrappers = exported.map((name) => name.trim()).filter((name) => /^[a-z]\w*$/.test(name));
  const table = /## Wrappers[\s\S]*?## Conformance/.exec(readme)![0];
  const named = [...table.matchAll(/^\| `(\w+)`/gm)].map((match) => match[1]!);
  expect(named.sort()).toEqual(wrappers.sort());
});
