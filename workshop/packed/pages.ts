/**
 * The walk-throughs of docs/guides, and a recipe, word by word: a reader copies each file and types each command, in an empty folder, with the packed packages.
 *
 * A block that begins with a comment like `// train.ts` is that file. Blocks of `sh` are typed in order. A block of `text` after them is what they print
 * to stdout; … stands for anything, and numbers with decimals may be others. npm gets the packages from the registry of this test, so the page names them as they
 * are published.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../interop/free-port.ts';
import { attempt } from './attempt.ts';
import type { Sandbox } from './sandbox.ts';

const docs = join(import.meta.dirname, '../../docs');

/** The pages that are walk-throughs. Each trains into `runs/first`. */
export const walkThroughs = ['guides/environment', 'guides/mcp', 'guides/train'];
/** The recipe that walks from a hosted model to an own one. */
export const road = 'recipes/hosted-to-own';

/** In place of the line of the page that has its sizes. Of two equal flags, the last counts. */
const quickRoad = `tasks=8 episodes=24 users=12 hosted='1 --tasks-per-step 4 --group-size 2' epochs=1 distil='1 --tasks-per-step 2' own='1 --tasks-per-step 2'`;

/** Printed after each block of commands, to tell their outputs apart. */
const mark = '\u241e';

export type Block =
  | { kind: 'file'; name: string; text: string }
  | { kind: 'commands'; text: string; output?: string };

/** @throws Error for a block that is neither a named file, nor commands, nor what commands print. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  for (const [, language, text] of page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)) {
    const name = language === 'ts' ? /^\/\/ ([\w./-]+\.ts)\n/.exec(text!)?.[1] : undefined;
    const last = blocks.at(-1);
    if (name !== undefined) blocks.push({ kind: 'file', name, text: text! });
    else if (language === 'sh') blocks.push({ kind: 'commands', text: text! });
    else if (language === 'text' && last?.kind === 'commands' && last.output === undefined)
      last.output = text!;
    else throw new Error(`This block of ${language} is no file, and no command printed it:\n${text}`);
  }
  return blocks;
}

/**
 * A script of bash that does what the reader does. Its outputs end with {@link mark}. As in the reader's terminal, `kill` knows jobs by name. Those that are
 * left end with the script.
 */
export function scriptOf(blocks: readonly Block[]): string {
  const steps = blocks.map((block) =>
    block.kind === 'file'
      ? `cat > '${block.name}' << 'END OF FILE'\n${block.text}END OF FILE\n`
      : `${block.text}echo '${mark}'\n`,
  );
  const end = `trap 'for job in $(jobs -p); do kill -- -"$job" 2> /dev/null || true; done' EXIT`;
  return `set -meuo pipefail\n${end}\nexport NO_COLOR=1 COLUMNS=120\n${steps.join('')}`;
}

/** Fails if a block of commands printed something else than its page says. */
export function compareOutputs(blocks: readonly Block[], printed: string): void {
  const outputs = printed.split(`${mark}\n`);
  for (const { text, output } of blocks.filter((block) => block.kind === 'commands')) {
    const received = outputs.shift() ?? '';
    if (output !== undefined && !patternOf(output.trim()).test(received.trim()))
      throw new Error(`${text}\nThe page says:\n${output}\nIt printed:\n${received}`);
  }
}

/** `…` stands for anything, and a number with decimals for any other: times and scores differ by machine. */
function patternOf(output: string): RegExp {
  const parts = output
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/\d+\\\.\d+/g, '-?\\d+\\.\\d+'));
  return new RegExp(`^${parts.join('[\\s\\S]*?')}$`);
}

export async function followPage(page: string, { folder: parent, run }: Sandbox): Promise<void> {
  const folder = join(parent, page);
  await mkdir(folder, { recursive: true });
  const blocks = blocksOf(await readFile(join(docs, `${page}.md`), 'utf8'));
  let printed = '';
  const followed = await attempt(`page ${page}.md: every command works`, async () => {
    printed = await run('bash', ['-c', scriptOf(blocks)], folder);
  });
  if (!followed) return;
  await attempt(`page ${page}.md: the commands print what it says`, async () =>
    compareOutputs(blocks, printed),
  );
  await attempt(`page ${page}.md: the reward rises`, () => checkLearning(join(folder, 'runs/first')));
}

/** The commands of the recipe with small sizes, on free ports. Fails if its table lacks a row or a score. */
export async function followRoad({ folder: parent, run }: Sandbox): Promise<void> {
  const folder = join(parent, road);
  await mkdir(folder, { recursive: true });
  const blocks = blocksOf(await quickPage(await readFile(join(docs, `${road}.md`), 'utf8')));
  await attempt(`page ${road}.md: every command works`, async () => {
    const printed = await run('bash', ['-c', scriptOf(blocks)], folder);
    const rows = printed.match(/^\| \d\. .+ \| \d\.\d{3} \(\d\.\d{3} to \d\.\d{3}\) \|.+\|$/gm);
    if (rows?.length !== 10) throw new Error(`the table has other rows:\n${printed}`);
  });
}

async function quickPage(page: string): Promise<string> {
  const [sizes, port] = [/^tasks=.+$/m, /\b800\d\b/g];
  if (!sizes.test(page)) throw new Error('The page has no line of sizes.');
  const ports = [...new Set(page.match(port))];
  const free = await Promise.all(ports.map(freePort));
  return page.replace(sizes, quickRoad).replaceAll(port, (each) => String(free[ports.indexOf(each)]));
}

/** Fails if the mean reward of the last two steps is not 0.2 above that of the first two. */
async function checkLearning(run: string): Promise<void> {
  const lines = (await readFile(join(run, 'metrics.jsonl'), 'utf8')).trim().split('\n');
  const rewards = lines
    .map((line): { type: string; metrics: { reward: number } } => JSON.parse(line))
    .filter(({ type }) => type === 'rollout')
    .map(({ metrics }) => metrics.reward);
  const meanOf = (two: readonly number[]) => (two[0]! + two[1]!) / 2;
  if (!(meanOf(rewards.slice(-2)) > meanOf(rewards.slice(0, 2)) + 0.2))
    throw new Error(`the rewards of the steps are ${rewards.join(', ')}`);
}
