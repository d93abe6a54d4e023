/**
 * Draws a curve for each agent of examples/agents from its run, and prints the rows of the table of its README:
 * `npm run example studies/agent-trials/example-curves.ts <folder of runs>`. The README says how they are trained; a run has the name of its file.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { curveGroups, readMetrics } from '@toolenv/training';
import { svgChart } from '@toolenv/training/reports';

const runs = process.argv[2] ?? 'runs/agents';
const folder = join(import.meta.dirname, '../../examples/agents');
await mkdir(join(folder, 'curves'), { recursive: true });
for (const file of await readdir(folder)) {
  const name = basename(file, '.ts');
  if (!file.endsWith('.ts') || !existsSync(join(runs, name))) continue;
  const lines = await readMetrics(join(runs, name));
  const all = curveGroups(lines).flatMap(({ curves }) => curves);
  const curves = ['EM', 'validation EM'].map((each) => all.find((curve) => curve.name === each)!);
  const chart = svgChart({ title: `${name}, seed 1`, valueLabel: 'exact match', curves });
  await writeFile(join(folder, 'curves', `${name}.svg`), chart);
  const evaluations = lines.filter(({ type }) => type === 'evaluation');
  const [before, after] = [evaluations[0], evaluations.at(-1)].map((line) => {
    const [mean, low, high] = ['mean', 'ci_low', 'ci_high'].map((key) =>
      line!.metrics[`rewards/em/${key}`]!.toFixed(2).replace('0.', '.'),
    );
    return `${mean} (${low} to ${high})`;
  });
  console.log(
    `| \`${file}\` | ${before} | ${after} | ![Exact match of each step, ${name}](curves/${name}.svg) |`,
  );
}
