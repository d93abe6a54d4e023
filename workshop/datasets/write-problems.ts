/** writeProblems: problems of arithmetic-v1 in the format of GSM8K. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRng, type Split } from '@toolenv/core';
import { drawProblem } from '../../packages/envs-classic/src/arithmetic/problem.ts';

/** @returns The options of gsm8k-v1 with the files, which are in the folder. */
export async function writeProblems(folder: string): Promise<{ path: string; testPath: string }> {
  return { path: await write(folder, 'train', 600), testPath: await write(folder, 'test', 60) };
}

async function write(folder: string, split: Split, count: number): Promise<string> {
  const lines = Array.from({ length: count }, (_, index) => {
    const { question, expression, answer } = drawProblem(createRng(1, index), split, 2 + (index % 4));
    const solution = `The answer is ${expression} = <<${expression}=${answer}>>${answer}.`;
    return JSON.stringify({ question, answer: `${solution}\n#### ${answer}` });
  });
  const file = join(folder, `${split}.jsonl`);
  await writeFile(file, lines.join('\n'));
  return file;
}
