/**
 * Runs every example of the help that trains, as it is printed, and the commands of four trainers' READMEs: the policy improves. Other examples of READMEs and
 * guides are among these, or in another test, or say that they show only the mechanics.
 */
import { readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { readMetrics } from '@toolenv/training';
import { beforeAll, expect, test } from 'vitest';
import { helpTexts } from '../../packages/cli/src/flags/command-help.ts';
import { newFolder } from '../test/new-folder.ts';
import { runShell } from './shell.ts';

const root = join(import.meta.dirname, '../..');
const folder = await newFolder();
beforeAll(async () => {
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
});

/** The commands of a page that train or play episodes, each on one line. */
async function commandsOf(page: string): Promise<string[]> {
  const text = (await readFile(join(root, page), 'utf8')).replaceAll(/\\\n\s*/g, '');
  const commands = [...text.matchAll(/^\s*npx (toolenv (?:train|rollout) .+)$/gm)].map(
    ([, command]) => command!,
  );
  return commands.filter((command) => !command.includes(' --help'));
}

// Two commands have the same first example.
const all = Object.values(helpTexts).flatMap(({ examples }) => examples);
const ofHelp = all.filter((example) => example.startsWith('toolenv train '));
const ofTrainers = ['grpo', 'sft', 'distill', 'es'].map((name) =>
  commandsOf(`packages/trainer-${name}/README.md`),
);
const commands = [...new Set([...ofHelp, ...(await Promise.all(ofTrainers)).flat()])];
const training = commands.filter((command) => command.startsWith('toolenv train '));

/** The share of right answers in each step, or minus the loss for a trainer that plays no episodes. */
async function scores(out: string): Promise<number[]> {
  const metrics = await readMetrics(join(folder, out));
  const right = metrics.flatMap(({ metrics: { 'rewards/em/mean': em } }) => (em === undefined ? [] : [em]));
  return right.length > 0
    ? right
    : metrics.flatMap(({ metrics: { loss } }) => (loss === undefined ? [] : [-loss]));
}

test('some examples train', () => expect(training).toHaveLength(7));

/** Commands that need a model, a server or data of the reader, or whose improvement another test demands. */
const elsewhere =
  /--policy \S*(my-checkpoint|:http|HuggingFace|Qwen)|--trainer @toolenv\/trainer-gepa|--policy runs\//;
/** `npm run packed` follows these pages, and demands that their rewards rise. */
const followed = ['docs/guides/environment.md', 'docs/guides/mcp.md', 'docs/guides/train.md'];
const mechanics = /shows? (only )?the mechanics/;

test('an example of a README or a guide is run, or says that it shows only the mechanics', async () => {
  const packages = await readdir(join(root, 'packages'));
  const guides = (await readdir(join(root, 'docs/guides'))).map((name) => `docs/guides/${name}`);
  const pages = [...packages.map((name) => `packages/${name}/README.md`), ...guides];
  const wrong: string[] = [];
  for (const page of pages.filter((name) => name.endsWith('.md') && !followed.includes(name))) {
    const isHonest = mechanics.test(await readFile(join(root, page), 'utf8'));
    for (const command of await commandsOf(page)) {
      const isShort = /--steps [12] /.test(`${command} `);
      const isHeld = commands.includes(command) || elsewhere.test(command);
      if (command.startsWith('toolenv train ') && (isShort ? !isHonest : !isHeld))
        wrong.push(`${page}: ${command}`);
    }
  }
  expect(wrong).toEqual([]);
});

// In order: a resumed run, a student and a learner from data need an earlier command.
test.each(commands)('%s', { timeout: 600_000 }, async (command) => {
  await runShell(`npx ${command}`, folder);
  if (!training.includes(command)) return;
  const [out, steps] = [/--out (\S+)/.exec(command)![1]!, /--steps (\d+)/.exec(command)?.[1]];
  const score = await scores(out);
  if (steps !== undefined) expect(score).toHaveLength(Number(steps));
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  // Of 64 answers in a step about six are right at first, and 50 in the end.
  expect(mean(score.slice(-2)) - mean(score.slice(0, 2))).toBeGreaterThan(0.25);
});
