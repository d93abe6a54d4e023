/**
 * `npm run interop -- gsm8k <folder>`: the files train.jsonl, test.jsonl and example_model_solutions.jsonl of
 * github.com/openai/grade-school-math. The oracle solves each problem, and each solution of a model gets the authors' verdict.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openEnv, playTask } from '@toolenv/core';
import { dataset } from '@toolenv/dataset';
import gsm8k from '@toolenv/envs-classic/gsm8k-v1';
import { check } from './check.ts';

/** The authors' verdict on a solution. */
interface Judged {
  is_correct: boolean;
  solution: string;
}

const models = ['6b_finetuning', '6b_verification', '175b_finetuning', '175b_verification'] as const;

export async function checkGsm8k(folder: string): Promise<void> {
  const options = { path: join(folder, 'train.jsonl'), testPath: join(folder, 'test.jsonl') };
  await using env = await openEnv(gsm8k, options);
  for (const split of ['train', 'validation', 'test'] as const) {
    const tasks = env.tasks[split];
    const count = await tasks.length;
    let [solved, mistakes] = [0, 0];
    for (let index = 0; index < count; index++) {
      const task = await tasks.get(index);
      const { reward, steps } = await playTask(env, task, gsm8k.oracle!(task)!);
      solved += reward ?? 0;
      mistakes += steps.flatMap(({ calls }) => calls).filter(({ mistake }) => mistake).length;
    }
    check(
      solved === count && mistakes === 0,
      `the oracle solves ${count} problems for ${split}`,
      `${solved} solved, ${mistakes} mistaken calls`,
    );
  }
  const file = join(folder, 'example_model_solutions.jsonl');
  if (!existsSync(file)) return;
  const judged = dataset(file, {
    map: (row: { question: string } & Record<(typeof models)[number], Judged>) => row,
  });
  const count = await judged.length;
  const problems = env.tasks.test;
  for (const model of models) {
    let equal = 0;
    for (let index = 0; index < count; index++) {
      const { is_correct, solution } = (await judged.get(index))[model];
      // There, `A:` stands for `####`.
      const { reward } = await playTask(env, await problems.get(index), [
        solution.replaceAll('A: ', '#### '),
      ]);
      if (Boolean(reward) === is_correct) equal += 1;
    }
    check(equal === count, `the verdicts on ${count} solutions of ${model}`, `${count - equal} differ`);
  }
}
