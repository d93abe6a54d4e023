/** A run whose prompts name the day goes on with the same prompts on another day. */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readTrajectories } from '@toolenv/core/recording';
import { openChat } from '@toolenv/policy/chat';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runCliIn } from '../../packages/cli/test/run-cli.ts';
import { newFolder } from '../test/new-folder.ts';

const root = join(import.meta.dirname, '../..');

test('the day of the first step is the day of every step', async () => {
  const folder = await newFolder();
  onTestFinished(() => void vi.useRealTimers());
  const [policy, out] = [join(folder, 'policy'), join(folder, 'run')];
  await cp(join(root, 'packages/checkpoints/tiny'), policy, { recursive: true });
  const config = JSON.parse(await readFile(join(policy, 'tokenizer_config.json'), 'utf8'));
  const chat_template = `{{ strftime_now('%Y %d') }} ${config.chat_template}`;
  await writeFile(join(policy, 'tokenizer_config.json'), JSON.stringify({ ...config, chat_template }));
  const train = (...flags: string[]) => {
    const size = [
      '--tasks-per-step',
      '1',
      '--group-size',
      '2',
      '--max-tokens',
      '16',
      '--checkpoint-every',
      '1',
    ];
    const what = ['@toolenv/envs-qa/bridge-v1', '--policy', policy, '--env-option', 'topK=2', '--out', out];
    return runCliIn(root, 'train', ...what, ...size, ...flags);
  };

  vi.useFakeTimers({ toFake: ['Date'], now: new Date(2026, 6, 1, 12) });
  expect(await train('--steps', '1')).toMatchObject({ code: 0 });
  vi.setSystemTime(new Date(2027, 7, 15, 12));
  expect(await train('--steps', '2', '--resume')).toMatchObject({ code: 0 });
  const written = JSON.parse(await readFile(join(out, 'config.json'), 'utf8'));
  expect(written.policyOptions.date).toBe('2026-07-01');

  const { chat } = await openChat(policy);
  const starts: string[] = [];
  for await (const { steps } of readTrajectories(join(out, 'trajectories.jsonl')))
    starts.push(chat.decode(Int32Array.from(steps[0]!.action.tokens!.prompt).subarray(0, 12)));
  expect(starts).toHaveLength(4);
  for (const start of starts) expect(start.replaceAll(' ', '')).toMatch(/^202601/);

  const other = await train('--steps', '3', '--resume', '--date', '2027-08-15');
  expect(other.stderr).toContain('differs: policyOptions.date "2026-07-01" → "2027-08-15"');
});
