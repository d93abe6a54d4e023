import { appendFile, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { RunLog, readMetrics } from '../../src/run-folder/run-log.ts';

const update = (step: number, loss: number) => ({ type: 'update' as const, step, metrics: { loss } });

it('writes a line for each event with metrics', async () => {
  const out = await mkdtemp(join(tmpdir(), 'toolenv-log-'));
  const log = new RunLog(out);
  await log.write(update(1, 0.5));
  await log.write({ type: 'checkpoint', step: 1, folder: 'step-1' });
  await log.write({ type: 'rollout', step: 2, metrics: { reward: 1 }, trajectories: [] });
  expect(await readFile(join(out, 'metrics.jsonl'), 'utf8')).toBe(
    '{"type":"update","step":1,"metrics":{"loss":0.5}}\n{"type":"rollout","step":2,"metrics":{"reward":1}}\n',
  );
});

it('drops what a resumed run does again, and a half-written line', async () => {
  const out = await mkdtemp(join(tmpdir(), 'toolenv-log-'));
  const first = new RunLog(out);
  for (const step of [1, 2, 3]) await first.write(update(step, step));
  await appendFile(join(out, 'metrics.jsonl'), '{"type":"update","st');
  // U+2028 is a line break to some readers, and not to JSONL.
  await writeFile(join(out, 'trajectories.jsonl'), '{"step":2,"text":"a\u2028b"}\n{"step":3}\n');

  const resumed = new RunLog(out, { resume: true });
  await writeFile(join(out, 'tokens.jsonl'), '{"step":2,"episodeId":"a","turns":[]}\n{"step":3}\n');
  await resumed.write({ type: 'checkpoint', step: 2, folder: 'step-2' });
  await resumed.write(update(3, 30));
  await resumed.write(update(4, 4));
  expect((await readMetrics(out)).map(({ metrics }) => metrics.loss)).toEqual([1, 2, 30, 4]);
  expect(await readFile(join(out, 'trajectories.jsonl'), 'utf8')).toBe('{"step":2,"text":"a\u2028b"}\n');
  await resumed.writeTokens([{ episodeId: 'b', turns: [{ advantages: [0.5] }] }], 3);
  expect(await readFile(join(out, 'tokens.jsonl'), 'utf8')).toBe(
    '{"step":2,"episodeId":"a","turns":[]}\n{"step":3,"episodeId":"b","turns":[{"advantages":[0.5]}]}\n',
  );
  expect(await readdir(out)).toEqual(['metrics.jsonl', 'tokens.jsonl', 'trajectories.jsonl']);
});

it('keeps damaged lines of a resumed run aside, names them, and drops only the unfinished last one', async () => {
  const out = await mkdtemp(join(tmpdir(), 'toolenv-log-'));
  const [metrics, trajectories] = [join(out, 'metrics.jsonl'), join(out, 'trajectories.jsonl')];
  const line = (step: number) => `${JSON.stringify(update(step, step))}\n`;
  const damaged = ['{"type":"update","st', 'null', '{"metrics":{"loss":7}}', '\0\0'];
  await writeFile(metrics, `${line(1)}${damaged.map((each) => `${each}\n`).join('')}${line(2)}{"type":"upd`);
  await writeFile(trajectories, '{"step":1}\n{"step":1,"te\n{"step":2}\n');
  const warnings: Error[] = [];
  const listen = (warning: Error) => void warnings.push(warning);
  process.on('warning', listen);
  onTestFinished(() => void process.off('warning', listen));
  await new RunLog(out, { resume: true }).write(update(3, 3));
  expect((await readMetrics(out)).map(({ step }) => step)).toEqual([1, 2, 3]);
  expect(await readFile(`${metrics}.damaged`, 'utf8')).toBe(damaged.map((each) => `${each}\n`).join(''));
  expect(await readFile(trajectories, 'utf8')).toBe('{"step":1}\n{"step":2}\n');
  expect(await readFile(`${trajectories}.damaged`, 'utf8')).toBe('{"step":1,"te\n');
  await vi.waitFor(() => expect(warnings).toHaveLength(2));
  expect(warnings.map(({ message }) => message)).toEqual([
    `${metrics}:2, ${metrics}:3, ${metrics}:4 and 1 more are damaged: they are kept in ${metrics}.damaged.`,
    `${trajectories}:2 is damaged: it is kept in ${trajectories}.damaged.`,
  ]);
});

it('keeps the lines of a step whose evaluation is made again', async () => {
  const out = await mkdtemp(join(tmpdir(), 'toolenv-log-'));
  const evaluation = (reward: number) => ({ type: 'evaluation' as const, step: 2, metrics: { reward } });
  const first = new RunLog(out);
  for (const event of [update(1, 1), update(2, 2), evaluation(0.5), update(3, 3)]) await first.write(event);
  await writeFile(join(out, 'trajectories.jsonl'), '{"step":2}\n{"step":3}\n');
  await new RunLog(out, { resume: true }).write(evaluation(0.7));
  expect((await readMetrics(out)).map(({ type, metrics }) => [type, Object.values(metrics)[0]])).toEqual([
    ['update', 1],
    ['update', 2],
    ['evaluation', 0.7],
  ]);
  expect(await readFile(join(out, 'trajectories.jsonl'), 'utf8')).toBe('{"step":2}\n');
});

it('reads past a half-written last line, and names any other damaged line', async () => {
  const out = await mkdtemp(join(tmpdir(), 'toolenv-log-'));
  const file = join(out, 'metrics.jsonl');
  const whole = JSON.stringify(update(1, 1));
  await writeFile(file, `${whole}\n${whole.slice(0, 20)}`);
  expect(await readMetrics(out)).toEqual([update(1, 1)]);
  for (const damaged of [whole.slice(0, 20), 'null', '{"step":1}']) {
    await writeFile(file, `${whole}\n${damaged}\n${whole}\n`);
    await expect(readMetrics(out)).rejects.toMatchObject({
      code: 'usage.broken_record',
      message: expect.stringMatching(/metrics\.jsonl:2 is damaged \(.+\): remove the line\.$/),
    });
  }
});
