/** Attacks by checkpoints that someone else made. */
import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Checkpoint, writeCheckpoint } from '@toolenv/policy';
import { wordCheckpoint } from '../../../packages/policy/test/word-checkpoint.ts';
import { checkpoints as subject } from '../files/checkpoints.ts';
import { hostileTemplates } from '../files/hostile-templates.ts';
import { wrongError } from '../files/wrong-error.ts';
import { type Attack, holds, thrown, within } from './attack.ts';

/** Milliseconds in which a checkpoint must be refused. */
const patience = 20_000;

export const checkpoints: Attack[] = [
  ...Object.entries(hostileTemplates).map(
    ([name, template]): Attack => ({
      name: `template: ${name}`,
      attack: `the chat template has ${name}`,
      expected: 'it is refused in one line within seconds, or renders as it stands',
      async run(folder) {
        await writeCheckpoint(folder, wordCheckpoint());
        await writeFile(join(folder, 'chat_template.jinja'), template);
        const refused = await within(
          patience,
          subject.use(folder).then(
            () => undefined,
            (error: unknown) => error,
          ),
        );
        const wrong = refused === undefined ? undefined : wrongError(refused);
        holds(!wrong, String(wrong));
      },
    }),
  ),
  config('a billion layers', { num_hidden_layers: 1e9 }),
  config('a hidden size of a billion', { hidden_size: 1e9 }),
  config('rope_theta 0', { rope_theta: 0 }),
  config('rope_theta "x"', { rope_theta: 'x' }),
  refusedFile('tokenizer that is null', 'tokenizer.json', 'null'),
  refusedFile('tokenizer without a model', 'tokenizer.json', '{"version": "1.0", "model": null}'),
  refusedFile(
    'tokenizer whose merges are a number',
    'tokenizer.json',
    '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": 7}}',
  ),
  tokenizer('normalizer', 'normalizers', { type: 'Replace', pattern: { String: 'e' }, content: 'ee' }),
  tokenizer('decoder', 'decoders', { type: 'BPEDecoder', suffix: '' }),
  ...Object.entries({ 'a pipe': ['mkfifo'], '/dev/zero': ['ln', '-s', '/dev/zero'] }).map(
    ([name, [command, ...args]]): Attack => ({
      name: `config.json is ${name}`,
      attack: `config.json is ${name}`,
      expected: 'it is refused in one line, before memory is taken',
      run: (folder) =>
        refused(folder, wordCheckpoint(), async () => {
          const file = join(folder, 'config.json');
          await rm(file);
          execFileSync(command!, [...args, file]);
        }),
    }),
  ),
  {
    name: 'weights that are NaN',
    attack: 'a weight is NaN',
    expected: 'it is refused in one line',
    async run(folder) {
      const checkpoint = wordCheckpoint();
      const [first] = Object.values(checkpoint.weights);
      (first!.data as Float32Array)[0] = Number.NaN;
      await refused(folder, checkpoint);
    },
  },
];

function config(name: string, fields: Record<string, unknown>): Attack {
  return {
    name: `config: ${name}`,
    attack: `config.json has ${name}`,
    expected: 'it is refused in one line, before memory is taken',
    async run(folder) {
      const checkpoint = wordCheckpoint();
      const own = JSON.parse(checkpoint.files['config.json']!);
      checkpoint.files['config.json'] = JSON.stringify({ ...own, ...fields });
      await refused(folder, checkpoint);
    },
  };
}

function refusedFile(name: string, file: string, content: string): Attack {
  return {
    name,
    attack: `${file} is ${content}`,
    expected: 'it is refused in one line',
    async run(folder) {
      const checkpoint = wordCheckpoint();
      await refused(folder, { ...checkpoint, files: { ...checkpoint.files, [file]: content } });
    },
  };
}

/** 60 steps of a part. */
function tokenizer(part: string, list: string, step: object): Attack {
  return {
    name: `tokenizer with 60 steps of its ${part}`,
    attack: `each of 60 steps of the ${part} doubles the text`,
    expected: 'it is refused in one line, before memory is taken',
    async run(folder) {
      const checkpoint = wordCheckpoint();
      const own = JSON.parse(checkpoint.files['tokenizer.json']!);
      own[part] = { type: 'Sequence', [list]: Array.from({ length: 60 }, () => step) };
      checkpoint.files['tokenizer.json'] = JSON.stringify(own);
      await refused(folder, checkpoint);
    },
  };
}

async function refused(
  folder: string,
  checkpoint: Checkpoint,
  change: () => Promise<void> = async () => {},
): Promise<void> {
  await writeCheckpoint(folder, checkpoint);
  await change();
  const error = await within(
    patience,
    thrown(() => subject.use(folder)),
  );
  const wrong = wrongError(error);
  holds(!wrong, String(wrong));
  const megabytes = process.resourceUsage().maxRSS / 1024;
  holds(megabytes < 1_500, `took ${megabytes.toFixed(0)} MB`);
}
