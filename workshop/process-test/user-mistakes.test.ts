/** Sixty mistakes of people who use the command line: each is named in words, with its exit code and without a stack. */
import { spawn } from 'node:child_process';
import { readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { runCliIn } from '../../packages/cli/test/run-cli.ts';
import { newFolder } from '../test/new-folder.ts';
import { shellEnv } from './shell.ts';

const root = join(import.meta.dirname, '../..');
const variables = { ...shellEnv, HF_HUB_OFFLINE: '1' };
const names = { B: '@toolenv/envs-qa/bridge-v1', P: 'node_modules/@toolenv/checkpoints/tiny' };
const env = { ...process.env, ...variables, ...names, MAIN: join(root, 'packages/cli/dist/main.js') };
const short = {
  toolenv: '',
  train:
    'train $B --policy $P --env-top-k 2 --steps 1 --tasks-per-step 2 --group-size 2 --max-tokens 16 --out new',
  evaluate: 'eval $B --policy $P --env-top-k 2 --count 2 --max-tokens 16',
};
const begin = Object.entries(short)
  .map(([name, words]) => `${name}() { node "$MAIN" ${words} "$@"; }\n`)
  .join('');

const folder = await newFolder();

/** Runs a script of bash with an empty standard input. */
function bash(script: string): Promise<{ code: number | null; said: string }> {
  const shell = spawn('bash', ['-c', begin + script], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const parts: string[] = [];
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => parts.push(text));
  return new Promise((resolve) => shell.on('close', (code) => resolve({ code, said: parts.join('') })));
}

/**
 * A command that has nothing for a shell but {@link names}. `play` reads the standard input, and `check` repeats what Node's own loader says,
 * which Vitest's stands in for.
 */
const plain = /^(?!toolenv (?:play|check) )(?:toolenv|train|evaluate) [\w $@/.,:#=-]+$/;

/** Runs a plain command in this process. */
async function inProcess(script: string): Promise<{ code: number | null; said: string }> {
  const [name, ...rest] = script.split(' ');
  const words = [...short[name as keyof typeof short].split(' '), ...rest].filter((word) => word !== '');
  const args = words.map((word) => word.replace(/\$([BP])\b/g, (_, each: 'B' | 'P') => names[each]));
  for (const [variable, value] of Object.entries(variables)) vi.stubEnv(variable, value);
  const { code, stdout, stderr } = await runCliIn(folder, ...args);
  return { code, said: `${stdout}${stderr}` };
}

beforeAll(async () => {
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"name": "mine", "type": "module"}');
  await writeFile(join(folder, 'data.csv'), 'prompt,answer\nhi,there\n');
  await writeFile(join(folder, 'empty.jsonl'), '');
  const said = '{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yo"}]}\n';
  await writeFile(join(folder, 'captured.jsonl'), said);
  const made = await bash('train --out runs/done && evaluate --out evals/done');
  expect(made).toMatchObject({ code: 0 });
});

/** What the user did: the script, what it says, and its exit code, if that is not 2. */
const mistakes: Readonly<Record<string, readonly [script: string, says: string, code?: number]>> = {
  // Training.
  "a flag of TRL's": ['train --num_train_epochs 3', 'Did you mean --epochs?'],
  "TRL's spelling": ['train --learning_rate 1e-4', 'Did you mean --learning-rate?'],
  'a decimal comma': ['train --learning-rate 0,0001', '--learning-rate 0,0001: give a number from 0 up.'],
  'a deadline in seconds': [
    'train --out late --deadline 1',
    'No episode was scored, so nothing was learned',
    1,
  ],
  'a share in percent': ['train --warmup-ratio 10', '--warmup-ratio 10: give a number from 0 to 1.'],
  'an alpha without a rank': ['train --lora-alpha 32', '"loraAlpha": give loraRank too'],
  'a best metric without evaluations': ['train --best-metric reward', 'also give evaluateEvery'],
  'a best metric that is none': [
    'train --out metric --evaluate-every 1 --evaluation-episodes 2 --best-metric em',
    'has no metric "em". Metrics: reward,',
  ],
  'patience without a metric': ['train --patience 3', 'also give bestMetric, such as reward'],
  'a group of one': ['train --group-size 1', '--group-size 1: give a whole number from 2 up.'],
  'one weight for two environments': [
    'toolenv train $B @toolenv/envs-qa/lookup-v1 --policy $P --env-top-k 2 --weights 1 --out new',
    '--weights 1: give 2 numbers',
  ],
  'SFT without data': ['toolenv train $B --trainer sft --policy $P --out new', 'needs --data <text>'],
  'SFT on a CSV': [
    'toolenv train --trainer sft --data data.csv --policy $P --steps 1 --out new',
    'data.csv:1: expected a line of JSON; received "prompt,answer".',
  ],
  'a run as policy': ['train --policy runs/done', 'runs/done is a run: use runs/done/policy.'],
  'environment and policy swapped': ['toolenv train $P --policy $B --out new', 'It is an environment.'],
  'a finished run again': ['train --out runs/done', 'is not empty: choose another folder, or resume'],
  'an evaluation resumed as a run': [
    'train --out evals/done --resume',
    'has episodes and no run of a trainer',
  ],
  'two runs in one folder': [
    `node "$MAIN" train $B --policy $P --env-top-k 2 \\
       --tasks-per-step 2 --group-size 2 --max-tokens 16 --out twice >/dev/null 2>&1 & first=$!
     until [ -f twice/metrics.jsonl ]; do sleep .1; done
     train --out twice; code=$?; kill $first; wait $first; exit $code`,
    'is in use by process',
  ],
  'a tracker at no address': [
    'MLFLOW_TRACKING_URI=localhost train --report-to mlflow',
    'set MLFLOW_TRACKING_URI to the address',
  ],
  'a flag of another command': ['train --count 10', "'--count' (It is a flag of eval,"],
  // Evaluation.
  'a split of another name': ['evaluate --split dev', '--split dev: give train, validation or test.'],
  "flags of verifiers'": ['evaluate -n 5 -r 3', "Unknown option '-n'. See --help."],
  'samples that repeat': ['evaluate --samples 4', '--samples 4: at temperature 0 a model repeats itself', 0],
  'top-p without temperature': [
    'evaluate --top-p 0.9',
    '--top-p is a flag of the sampler, and has no effect',
    0,
  ],
  'a gate in percent': ['evaluate --fail-below em=80', 'and must be at least 80', 1],
  'a gate of no metric': ['evaluate --fail-below accuracy=.5', 'no metric "accuracy". Metrics: reward, em,'],
  'the address of a server alone': [
    'evaluate --policy http://127.0.0.1:9/v1',
    'write openai:http://127.0.0.1:9/v1#<model>.',
  ],
  'a server that is down': [
    'toolenv eval $B --policy openai:http://127.0.0.1:9/v1#m --count 1',
    'cannot be reached (connect ECONNREFUSED 127.0.0.1:9): start the server',
    1,
  ],
  "Python's quotes": [
    `evaluate --template-arguments "{'enable_thinking': False}"`,
    'with double quotes around names',
  ],
  'policies with a comma': ['toolenv eval $B --policy $P,oracle', 'give --policy again for each'],
  'a tilde in quotes': ["evaluate --policy '~/models/tiny'", 'the shell has left ~ as it is'],
  'a tilde behind =': ['evaluate --out=~/evals', 'Write "--out=$HOME/evals".'],
  'a count of 0': ['evaluate --count 0', '--count 0: give a whole number from 1 up.'],
  'a comparison with another JSON': [
    'evaluate --against package.json',
    'package.json has no scores of tasks',
  ],
  'a margin without a comparison': ['evaluate --margin .1', '--margin is for --against'],
  'a colon in an option': ['evaluate --env-option topK:2', 'write it as key=value.'],
  'the folder of another evaluation': ['evaluate --out evals/done', 'is not empty: choose another folder'],
  'policies and players': ['evaluate --players a=$P,b=$P', '--policy is not for --players'],
  // Looking.
  'the folder above the runs': ['toolenv show runs', 'runs holds runs: give one of them, runs/done.'],
  'a policy to show': ['toolenv show $P', 'is not a run folder'],
  'a range with a dash': ['toolenv show runs/done --reward 0.5-1', 'such as 0.5, 0..0.5'],
  'a misspelt tool': ['toolenv show runs/done --tool serach', 'None of the 4 episodes matches.', 0],
  'a file of PowerShell': [
    `(printf '\\xff\\xfe'; iconv -t UTF-16LE runs/done/trajectories.jsonl) > utf16.jsonl; toolenv show utf16.jsonl`,
    'is UTF-16: save it as UTF-8.',
  ],
  'a port in use': [
    `exec 3< <(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => console.log(s.address().port))')
     read -r port <&3; toolenv view runs/done --port $port; code=$?; kill $!; exit $code`,
    'choose another port, or 0 for any.',
  ],
  'an export into a folder': [
    'toolenv view runs/done --export runs',
    'cannot be replaced: name another file.',
  ],
  'an episode without a number': [
    'toolenv play $B --episode runs/done',
    'of episode 0; the next is yours.',
    0,
  ],
  'turns without an episode': ['toolenv play $B --turns 2', '--turns is for --episode'],
  'a full disk': [
    "printf '<answer>x</answer>\\n' | toolenv play $B --out /dev/full",
    '/dev/full cannot be written (ENOSPC',
    1,
  ],
  // Building and connecting.
  'a rule that is none': [
    'toolenv check $B --actions 5 --skip ENV-999',
    '--skip ENV-999: give the id of a rule',
  ],
  'a CSV as module': ['toolenv check data.csv', 'data.csv is no module'],
  'a kind in the singular': ['toolenv list --kind env', '--kind env: give one of envs, tools'],
  'no server of MCP': ["toolenv tools --mcp 'echo hello'", 'it exited with code 0: check the server', 1],
  'a header without a colon': [
    "toolenv tools --mcp http://127.0.0.1:9/mcp --header 'Authorization=Bearer x'",
    'write it as Name: value.',
  ],
  'an address without http': ['toolenv mcp login localhost:3000/mcp', 'give an http or https URL'],
  'a short token': [
    'TOOLENV_TOKEN=secret toolenv serve $B --http 0 --host 0.0.0.0',
    'The token is not usable: give at least 16',
  ],
  'a key instead of its variable': [
    'toolenv capture --upstream http://127.0.0.1:9/v1 --out c.jsonl --port 0 --api-key sk-abcdef0123456789',
    '--api-key takes the name of an environment variable, such as OPENAI_API_KEY',
  ],
  'a split in percent': [
    'toolenv tasks captured.jsonl --out t --test 20',
    '--test 20: give a number from 0 to',
  ],
  'no passages': ['toolenv index empty.jsonl --out index', 'empty.jsonl has no passages.'],
  'a policy to upload': ['toolenv push $P me/my-model', 'is not a run folder'],
  'a worker too many': [
    'toolenv rollout $B --policy $P --out ro --worker 9/8',
    'write the third of eight workers',
  ],
};

test('there are sixty', () => expect(Object.keys(mistakes)).toHaveLength(60));

const all = Object.entries(mistakes);

async function expectNamed(
  run: typeof bash,
  [script, says, code = 2]: (typeof mistakes)[string],
): Promise<void> {
  const ended = await run(script);
  expect(ended).toMatchObject({ code, said: expect.stringContaining(says) });
  expect(ended.said).not.toMatch(/^ {4}at |sk-abcdef/m);
}

// One after another, because they share this process.
describe('each is named', () => {
  const those = all.filter(([, [script]]) => plain.test(script));
  test.each(those)('%s', (_, mistake) => expectNamed(inProcess, mistake));
});

describe.concurrent('each is named where a shell or a process matters', () => {
  const those = all.filter(([, [script]]) => !plain.test(script));
  test.each(those)('%s', (_, mistake) => expectNamed(bash, mistake));
});

test('nothing is made for a mistake in the command line', async () => {
  const made = await readdir(folder);
  expect(made).not.toContain('~');
  expect(made).not.toContain('ro');
});
