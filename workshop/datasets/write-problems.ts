/** writeProblems: problems of arithmetic-v1 in the format of GSM8K. */
import { writeFile } from 'node:fs/promises';
import { createRng, type Split } from '@toolenv/core';
import { drawProblem } from '../../packages/envs-classic/src/arithmetic/problem.ts';

export async function writeProblems(file: string, split: Split, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, index) => {
    const { question, expression, answer } = drawProblem(createRng(1, index), split, 2 + (index % 4));
    const solution = `The answer is ${expression} = <<${expression}=${answer}>>${answer}.`;
    return JSON.stringify({ question, answer: `${solution}\n#### ${answer}` });
  });
  await writeFile(file, lines.join('\n'));
}
