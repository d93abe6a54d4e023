/** The table of diagnoses in the guide is that of the code, and each remedy has a section. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { diagnosisRules } from '../../src/index.ts';

const docs = join(import.meta.dirname, '../../../../docs');

test('the guide lists every diagnosis with its remedy', async () => {
  const guide = await readFile(join(docs, 'guides/troubleshooting.md'), 'utf8');
  const section = guide.split('\n## ').find((part) => part.startsWith('What a run says of itself'))!;
  const rows = section.split('\n').filter((line) => line.startsWith('| ['));
  const wanted = Object.entries(diagnosisRules).map(([name, { fault, remedy, page }]) => {
    const link = page.startsWith('guides/troubleshooting.md') ? page.replace(/.*#/, '#') : `../${page}`;
    return `| [\`${name}\`](${link}) | ${fault} | ${remedy} |`;
  });
  expect(rows).toEqual(wanted);
});

test('each remedy leads to a section', async () => {
  for (const { page } of Object.values(diagnosisRules)) {
    const [file, anchor] = page.split('#');
    const headings = [...(await readFile(join(docs, file!), 'utf8')).matchAll(/^#+ (.+)$/gm)];
    const anchors = headings.map(([, text]) =>
      text!
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    expect(anchors, page).toContain(anchor);
  }
});
