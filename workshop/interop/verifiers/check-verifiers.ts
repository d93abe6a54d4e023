/**
 * `npm run interop -- verifiers <folder>`: plays environments of verifiers here, from the folder `environments` of its repository. They are installed
 * unchanged. Two of them read datasets from the Hub, which are written into a folder instead.
 */
import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import {
  collect,
  messageOf,
  type Observation,
  type OpenedEnv,
  openEnv,
  rollout,
  type Scripted,
  scriptedPolicy,
} from '@toolenv/core';
import type { VerifiersTask } from '@toolenv/verifiers';
import { scratchFolder } from '../../scratch-folder.ts';
import { check } from '../check.ts';

type Data = Readonly<Record<string, string>>;

interface Played {
  name: string;
  config?: object;
  /** The right turn. */
  act(data: Data, observation: Observation): Scripted;
  /** Its turn is worth nothing. */
  wrong?: string;
  /** The best reward. Default 1. */
  best?: number;
  /** Tasks that are played. Default: all. */
  plays?(data: Data): boolean;
}

const lastOf = ({ messages }: Observation) => messages.at(-1)!;
const promptOf = (data: Data) => data.prompt!;

const played: readonly Played[] = [
  {
    name: 'glossary',
    act(data, observation) {
      const { role, content } = lastOf(observation);
      if (role === 'tool') return `<answer>${content}</answer>`;
      return [{ name: 'facts_lookup', arguments: { name: /look up "(.*?)"/.exec(promptOf(data))![1]! } }];
    },
  },
  {
    name: 'scratchpad',
    act(data, observation) {
      const { role, content } = lastOf(observation);
      if (role === 'tool') return content;
      return [{ name: 'scratchpad_roundtrip', arguments: { word: data.word! } }];
    },
  },
  // Both attempts of an episode are right, equally short, and one of them is the fastest.
  { name: 'code-golf', act: ({ expected }) => `\`\`\`python\nprint("${expected}")\n\`\`\``, best: 1.75 },
  { name: 'reverse-text', act: ({ answer }) => `<reversed_text>${answer}</reversed_text>` },
  { name: 'gsm8k', act: ({ answer }) => `It is\n#### ${answer}`, wrong: 'It is\n#### -1' },
  {
    name: 'interception',
    act: (data) => /exactly (\w+)\./.exec(promptOf(data))![1]!,
    // It asks a judge.
    plays: (data) => !promptOf(data).includes('JUDGE_BLOCK'),
  },
];

/** Environments that cannot be played, and why. */
const refused: Readonly<Record<string, RegExp>> = {
  'kuhn-poker': /would play 2 roles of kuhn-poker \(player0, player1\): give all but one a client/,
  'proposer-solver': /would play 2 roles of proposer-solver \(proposer, solver\)/,
  compact: /exports no Taskset/,
  'no-such-taskset': /taskset 'no-such-taskset' not found/,
};

/** @param python Has the packages of verifiers.txt. */
export async function checkVerifiers(python: string, given: string): Promise<void> {
  const folder = resolve(given);
  await using scratch = await scratchFolder();
  install(python, folder, [...played.map(({ name }) => name), ...Object.keys(refused).slice(0, -1)]);
  process.env.TOOLENV_PYTHON = python;
  // It finds uv there.
  process.env.PATH = [dirname(python), process.env.PATH].join(delimiter);
  await writeDatasets(scratch.path);
  // gsm8k reads `openai/gsm8k`, from the Hub unless there is such a folder.
  process.chdir(scratch.path);
  for (const each of played) await checkPlayed(each, scratch.path);
  for (const [name, why] of Object.entries(refused)) {
    const error = await openEnv(`verifiers:${name}`).then(() => 'opened', messageOf);
    check(why.test(error), `${name} is refused by name`, error);
  }
}

function install(python: string, folder: string, names: readonly string[]): void {
  const folders = names.map((name) => join(folder, name.replaceAll('-', '_')));
  const args = ['-m', 'pip', 'install', '-q', '--no-deps', ...folders];
  const { status, stderr } = spawnSync(python, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`pip cannot install the environments: ${stderr}`);
}

async function writeDatasets(folder: string): Promise<void> {
  const write = async (path: string, rows: readonly object[]) => {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  };
  await write(
    'reverse/train.jsonl',
    ['agents use tools', 'a short text', 'level'].map((prompt) => ({ prompt })),
  );
  const sums = [12, 7.5, 1000].map((a) => ({
    question: `What is ${a} + ${a}?`,
    answer: `It is ${2 * a}.\n#### ${2 * a}`,
  }));
  await write('openai/gsm8k/main/test.jsonl', sums);
  await writeFile(
    join(folder, 'openai/gsm8k/README.md'),
    '---\nconfigs:\n- config_name: main\n  data_files:\n  - split: test\n    path: main/test.jsonl\n---\n',
  );
}

async function checkPlayed(
  { name, act, wrong = 'I do not know.', best = 1, plays = () => true }: Played,
  scratch: string,
): Promise<void> {
  const config = name === 'reverse-text' ? { taskset: { dataset_name: join(scratch, 'reverse') } } : {};
  await using opened = await openEnv(`verifiers:${name}`, { config: JSON.stringify(config) });
  const env = opened as OpenedEnv<VerifiersTask>;
  const tasks: VerifiersTask[] = [];
  for (const set of [env.tasks.train, env.tasks.test])
    for (let index = 0; index < (await set.length); index++) tasks.push(await set.get(index));
  const chosen = tasks.filter(({ data }) => plays(data as Data)).slice(0, 8);
  const rewardsOf = async (turn: Played['act']) => {
    const policy = scriptedPolicy((observation) => {
      const shown = JSON.stringify(observation.messages);
      const { data } = chosen.find(({ data }) => shown.includes(JSON.stringify(data.prompt).slice(1, -1)))!;
      return turn(data as Data, observation);
    });
    const episodes = chosen.map((task, group) => ({ task, group, sample: 0 }));
    const sampling = { maxTokens: 64, temperature: 0 };
    const trajectories = await collect(rollout({ env, policy, episodes, concurrency: 8, sampling, seed: 1 }));
    return trajectories.map(({ outcome, reward }) =>
      outcome.kind === 'terminated' ? String(reward) : JSON.stringify(outcome),
    );
  };
  const title = `${name}: ${chosen.length} of ${tasks.length} tasks`;
  const right = await rewardsOf(act);
  const isRight = right.length > 0 && right.every((reward) => Number(reward) >= best);
  check(isRight, `${title}, right answers earn ${best}`, right.join('; '));
  const worthless = await rewardsOf(() => wrong);
  const isWrong = worthless.every((reward) => Number(reward) < best / 2);
  check(isWrong, `${title}, wrong answers do not`, worthless.join('; '));
}
