/** What a shell sees of the command: exit codes, one-line errors, JSON on stdout. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { fixture } from './fixture.ts';
import { runCli } from './run-cli.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-cli-'));
});

/** A checkpoint folder whose weights end in the middle of the header. */
async function truncatedCheckpoint(): Promise<string> {
  const checkpoint = join(folder, 'truncated');
  await mkdir(checkpoint);
  const tiny = {
    vocab_size: 8,
    hidden_size: 8,
    intermediate_size: 8,
    max_position_embeddings: 8,
    rms_norm_eps: 1e-6,
  };
  const layers = { num_hidden_layers: 1, num_attention_heads: 1, num_key_value_heads: 1 };
  const config = { model_type: 'qwen2', eos_token_id: 0, ...tiny, ...layers };
  const tokenizer = { model: { type: 'BPE', vocab: {}, merges: [] } };
  for (const [name, json] of Object.entries({ config, tokenizer, tokenizer_config: {} })) {
    await writeFile(join(checkpoint, `${name}.json`), JSON.stringify(json));
  }
  const header = Buffer.alloc(8);
  header.writeBigUInt64LE(1000n);
  await writeFile(join(checkpoint, 'model.safetensors'), Buffer.concat([header, Buffer.from('{"a":')]));
  return checkpoint;
}

describe('a mistake of the user is one line, with exit code 2', () => {
  const wrong: [what: string, args: () => string[] | Promise<string[]>, message: RegExp][] = [
    [
      'an unknown environment',
      () => ['eval', 'fixture-plugin/lamb-v1', '--policy', fixture.policy],
      /^toolenv: Unknown environment "fixture-plugin\/lamb-v1"\. Did you mean "fixture-plugin\/lamp-v1"\?\n$/,
    ],
    [
      'a trainer of episodes without an environment',
      () => ['train', '--policy', fixture.policy, '--out', join(folder, 'no-env')],
      /^toolenv: train: @toolenv\/trainer-grpo\/grpo-v1 plays episodes: name an environment, .*\n$/,
    ],
    [
      'constrained calls in a training',
      () => [
        'train',
        fixture.env,
        '--policy',
        fixture.policy,
        '--out',
        join(folder, 'constrained'),
        '--constrain-calls',
      ],
      /^toolenv: train: constrained calls are drawn .*: leave constrainCalls out, .*\n$/,
    ],
    [
      'a checkpoint that is not there',
      () => ['eval', fixture.env, '--policy', join(folder, 'nowhere')],
      /^toolenv: No checkpoint at .*nowhere .*name a Hugging Face folder, or a model of the Hugging Face Hub.*\n$/,
    ],
    [
      'truncated weights',
      async () => [
        'eval',
        fixture.env,
        '--policy',
        await truncatedCheckpoint(),
        '--out',
        join(folder, 'unmade'),
      ],
      /^toolenv: .*model\.safetensors is damaged \(its header is cut short\): copy it again.*\n$/,
    ],
    [
      'no steps',
      () => trainArgs(join(folder, 'unmade'), '--steps', '0'),
      /^toolenv: --steps 0: give a whole number from 1 up\.\n$/,
    ],
    [
      'an unknown flag',
      () => trainArgs(join(folder, 'unmade'), '--stepz', '3'),
      /^toolenv: Unknown option '--stepz' \(Did you mean --steps\?\) See --help\.\n$/,
    ],
    [
      'an abbreviated flag',
      () => [
        'train',
        fixture.env,
        '--policy',
        fixture.policy,
        '--out',
        join(folder, 'unmade'),
        '--eval-every',
        '3',
      ],
      /^toolenv: Unknown option '--eval-every' \(Did you mean --evaluate-every\?\) See --help\.\n$/,
    ],
    [
      'an environment file that is missing',
      () => ['eval', './missing.ts', '--policy', fixture.policy],
      /^toolenv: There is no file \.\/missing\.ts: correct the path, or write <package>.*\n$/,
    ],
    [
      'a trainer file that is missing',
      () => [
        'train',
        fixture.env,
        '--policy',
        fixture.policy,
        '--out',
        join(folder, 'unmade'),
        '--trainer',
        'mine.ts',
      ],
      /^toolenv: There is no file mine\.ts: .*\n$/,
    ],
    [
      'a policy file that is missing',
      () => ['eval', fixture.env, '--policy', '../mine.mjs'],
      /^toolenv: There is no file \.\.\/mine\.mjs: .*\n$/,
    ],
    [
      'a loss file that is missing',
      () => [
        'train',
        fixture.env,
        '--policy',
        fixture.policy,
        '--out',
        join(folder, 'unmade'),
        '--loss',
        './loss.ts',
      ],
      /^toolenv: There is no file \.\/loss\.ts: .*\n$/,
    ],
    [
      'nearly the name of an environment',
      () => ['eval', 'lampp-v1', '--policy', fixture.policy],
      /^toolenv: "lampp-v1" is not a reference\. Did you mean "fixture-plugin\/lamp-v1"\?\n$/,
    ],
    [
      'a dataset without its file',
      () => ['eval', '@toolenv/envs-qa/hotpotqa-v1', '--policy', fixture.policy],
      /^toolenv: @toolenv\/envs-qa\/hotpotqa-v1 needs --path <text> .* Download it with toolenv data @toolenv\/envs-qa\/hotpotqa-v1 --dir data, and give --path data\/hotpot_train_v1\.1\.json\.\n$/,
    ],
    [
      'imitation without examples',
      () => [
        'train',
        '--trainer',
        '@toolenv/trainer-sft/sft-v1',
        '--policy',
        fixture.policy,
        '--out',
        join(folder, 'unmade'),
      ],
      /^toolenv: @toolenv\/trainer-sft\/sft-v1 needs --data <text> \(JSONL file to learn from\)\.\n$/,
    ],
    [
      'a baseline without tools of a player that needs them',
      () => ['baseline', '@toolenv/envs-qa/bridge-v1', '--kind', 'direct', '--policy', 'oracle'],
      /^toolenv: --policy oracle plays what the environment says, with its tools, and direct plays without them: .*\n$/,
    ],
    [
      'a missing flag',
      () => ['eval', fixture.env],
      /^toolenv: Give --policy <folder>, or --players <name=policy,\.\.\.> for policies that play each other\.\n$/,
    ],
    [
      'an unknown trainer',
      () => [
        'train',
        fixture.env,
        '--policy',
        fixture.policy,
        '--out',
        folder,
        '--trainer',
        'fixture-plugin/nugde-v1',
      ],
      /^toolenv: Unknown trainer .* Did you mean "fixture-plugin\/nudge-v1"\?\n$/,
    ],
    [
      'an unknown option of the environment',
      () => ['eval', fixture.env, '--policy', fixture.policy, '--env-option', 'sise=9'],
      /^toolenv: fixture-plugin\/lamp-v1 has no option "sise"\. Did you mean "size"\?\n$/,
    ],
    [
      'a folder that is not empty',
      () => trainArgs(fixture.folder),
      /^toolenv: The folder .*fixture-plugin is not empty: choose another folder, or resume its run with --resume \(in code, resume: true\)\.\n$/,
    ],
  ];
  it.each(wrong)('%s', async (_what, args, message) => {
    const { code, stdout, stderr } = await runCli(...(await args()));
    expect(stderr).toMatch(message);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(existsSync(join(folder, 'unmade'))).toBe(false);
  });
});

describe('a run that ends well', () => {
  it('evaluates to one JSON object, and the same to summary.json', async () => {
    const out = join(folder, 'evaluation');
    const args = ['--count', '9', '--env-option', 'size=20', '--weight', '1', '--json', '--out', out];
    const { code, stdout } = await runCli('eval', fixture.env, '--policy', fixture.policy, ...args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      env: fixture.env,
      envVersion: '1.2.3',
      split: 'test',
      episodes: 9,
      // Tasks ask for 0, 1, 2, 0, … presses, and a weight of 1 does as asked.
      means: { em: 1, tidy: 1 },
      reward: 1.5,
      toolCalls: 1,
    });
    expect(await readdir(out)).toEqual(['evaluation.json', 'summary.json', 'trajectories.jsonl']);
  });

  it('cuts episodes at their deadline', async () => {
    const checkpoint = join(import.meta.dirname, '../../../packages/checkpoints/tiny');
    const args = [
      '--policy',
      checkpoint,
      '--count',
      '2',
      '--deadline',
      '1',
      '--on-deadline',
      'truncate',
      '--json',
    ];
    const { stdout } = await runCli('eval', '@toolenv/envs-qa/lookup-v1', ...args);
    expect(JSON.parse(stdout)).toMatchObject({ deadline: 1, outcomes: { 'truncated:deadline': 2 } });
  });

  it("shows the trainer's options in the help of train", async () => {
    const { code, stdout } = await runCli('train', '--trainer', fixture.trainer, '--help', '--all');
    expect(code).toBe(0);
    expect(stdout).toMatch(/Options of fixture-plugin\/nudge-v1:\n\s+--pause <n>/);
    expect(stdout).toMatch(/--clip <x,x>\s+two ends \(default: 0\.2,0\.3\)/);
  });
});

function trainArgs(out: string, ...more: string[]): string[] {
  return [
    'train',
    fixture.env,
    '--policy',
    fixture.policy,
    '--trainer',
    fixture.trainer,
    '--out',
    out,
    ...more,
  ];
}
