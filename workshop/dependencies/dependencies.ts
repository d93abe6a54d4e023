/**
 * `npm run dependencies`: weighs the third-party packages that each package installs, and writes dependencies.json and the READMEs of the packages.
 * Run it on Linux x64 after `npm ci`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { anyWeightText, root, tableFile, weighAll, weightText } from './weigh.ts';

const table = weighAll();
console.table(table);
writeFileSync(tableFile, `${JSON.stringify(table, null, 2)}\n`);
for (const folder of readdirSync(join(root, 'packages'))) {
  const { name } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'));
  const readme = join(root, 'packages', folder, 'README.md');
  const text = readFileSync(readme, 'utf8');
  const weight = weightText(name, table[name]!);
  if (anyWeightText.test(text)) writeFileSync(readme, text.replace(anyWeightText, weight));
  else console.log(`${readme} does not say its weight. Add: ${weight}`);
}
