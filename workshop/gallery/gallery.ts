/**
 * `npm run gallery` writes docs/environments: a page with every environment that a package of the repository declares, a picture of an
 * episode of its oracle, and the curve of a recorded run where there is such a run.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openEnv, playTask } from '@toolenv/core';
import { findPlugin } from '@toolenv/core/plugins';
import { certifyEnv } from '@toolenv/testing';
import { type MetricsLine, trainingCurves } from '@toolenv/training';
import { svgChart } from '@toolenv/training/reports';
import type { Result } from '../../studies/library/results.ts';
import type { Result as RealResult } from '../../studies/real/results.ts';
import { readResults } from '../../studies/shared/result-file.ts';
import { type EnvironmentFacts, factsOf, factsRow } from './environment-facts.ts';
import { declaredEnvironments, type Environment, playable } from './environments.ts';
import { conversationOf, episodeSvg, type Line } from './episode-svg.ts';
import { libraryResults } from './library-results.ts';

interface Entry extends Environment {
  facts: EnvironmentFacts;
  description: string;
  hasCurve: boolean;
  /** What the study of the library says. */
  scores?: string | undefined;
  /** What its certificate says. */
  certified?: string | undefined;
}

const head = `# Environments

Every environment that a package of toolenv declares, with an episode of its oracle, which knows the answer. \`eval\` scores a policy, \`train\` takes the same arguments, and
\`play\` lets you play. [The reference](https://toolenv.github.io/toolenv/reference/) has the options. [Write an environment](../guides/environment.md) adds yours. \`npm run gallery\` makes this page.

| environment | tools | turns of the oracle | tasks | trained in a study |
| --- | --- | --- | --- | --- |
`;

/** The pretrained model of the studies. */
const pretrained = 'SmolLM2-135M';

function galleryPage(entries: readonly Entry[]): string {
  const folders = [...new Set(entries.map(({ folder }) => folder))];
  const sections = folders.map((folder) =>
    [
      `## @toolenv/${folder}\n`,
      `[Its README](../../packages/${folder}/README.md) says how they are scored.\n`,
      ...entries.filter((entry) => entry.folder === folder).map(sectionOf),
    ].join('\n'),
  );
  const rows = entries.map((entry) => `${factsRow(entry.name, entry.facts, trainedIn(entry))}\n`);
  return [head + rows.join(''), ...sections].join('\n');
}

function trainedIn({ name, run, scores }: Entry): string[] {
  const isReal = realResults.some(({ environment, row }) => `${environment}-v1` === name && row === 'GRPO');
  return [
    ...(run !== undefined || scores !== undefined ? ['the small policy'] : []),
    ...(isReal ? [pretrained] : []),
  ];
}

function sectionOf({ ref, name, description, flags, task, isRemote, hasCurve, run, ...said }: Entry): string {
  const drawn = task === undefined ? `An episode of ${name}` : `A task of ${name} and its solution`;
  const policy = run ? 'node_modules/@toolenv/checkpoints/tiny --max-tokens 64' : 'my-checkpoint';
  const command = ['npx toolenv eval', ref, flags, '--policy', policy].filter((part) => part !== undefined);
  const curve = hasCurve ? `\n![A training in ${name}](${name}-curve.svg)` : '';
  const measured = [said.scores, said.certified].flatMap((text) => (text ? [`${text}\n\n`] : [])).join('');
  const picture = isRemote ? '' : `![${drawn}](${name}.svg)${curve}\n\n`;
  return `### ${name}\n\n${description}\n\n${picture}${measured}\`\`\`sh\n${command.join(' ')}\n\`\`\`\n`;
}

const root = join(import.meta.dirname, '../..');
const out = join(root, 'docs/environments');
const from = import.meta.dirname;

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const results = await readResults<Result>(join(root, 'docs/benchmarks/library.jsonl'));
const realResults = await readResults<RealResult>(join(root, 'docs/benchmarks/real-study.jsonl'));
const written: Entry[] = [];
for (const environment of declaredEnvironments().map(playable)) {
  const { plugin } = await findPlugin('envs', environment.ref, { from });
  const { name, description } = plugin;
  if (!environment.isRemote)
    await writeFile(
      join(out, `${name}.svg`),
      episodeSvg(`An episode of ${name}`, await episodeOf(environment)),
    );
  const library = libraryResults(name, results);
  const curve = library?.chart ?? (await curveOf(environment));
  if (curve !== undefined) await writeFile(join(out, `${name}-curve.svg`), curve);
  // A task of containers needs Docker or Podman.
  const isHere = !environment.isRemote && environment.task === undefined;
  const certified = isHere ? await certificateOf(environment) : undefined;
  written.push({
    ...environment,
    facts: await factsOf(environment, from),
    description,
    hasCurve: curve !== undefined,
    scores: library?.text,
    certified,
  });
  console.log(environment.ref);
}
await writeFile(join(out, 'README.md'), galleryPage(written));

/** `Certified: of 16 players that do none of the work, …`; `undefined` without a certificate. */
async function certificateOf({ ref, folder, options }: Environment): Promise<string | undefined> {
  // Episodes with a sandbox or a server take longer.
  const tasks = folder === 'envs-code' || folder === 'envs-mcp' ? 16 : 64;
  const { certificate, ok } = await certifyEnv(ref, { options: await options, tasks, from });
  if (!certificate || !ok) return undefined;
  const { players } = certificate.panel;
  const [best] = players.toSorted((a, b) => b.share - a.share);
  const share = Math.round(100 * best!.share);
  const most =
    share === 0 ? 'none earns anything' : `the best ("${best!.name}") has ${share} % of the oracle's reward`;
  return `[Certified](../guides/publish.md#a-certificate): of ${players.length} players that do none of the work, ${most}, in ${certificate.tasks} tasks.`;
}

/** What the oracle does in the first test task. */
async function episodeOf({ ref, options, task }: Environment): Promise<readonly Line[]> {
  if (task !== undefined) {
    const read = (file: string) => readFile(join(root, task, file), 'utf8');
    return [
      { who: 'user', text: await read('instruction.md') },
      { who: 'assistant', text: await read('solution/solve.sh') },
    ];
  }
  const { plugin } = await findPlugin('envs', ref, { from });
  await using env = await openEnv(ref, await options, { from, seed: 1 });
  const first = await env.tasks.test.get(0);
  return conversationOf(await playTask(env, first, plugin.oracle!(first)!, { seed: 1 }));
}

async function curveOf({ name, run }: Environment): Promise<string | undefined> {
  if (run === undefined) return undefined;
  const text = await readFile(join(root, run, 'metrics.jsonl'), 'utf8');
  const curves = trainingCurves(
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as MetricsLine),
  );
  return svgChart({ title: `The tiny policy learns ${name} by GRPO`, valueLabel: 'mean of a step', curves });
}
