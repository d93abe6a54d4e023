/** Tasks of code-v1: a function of two or three steps, with examples and hidden tests. */
import { deriveSeed, type Rng, type Split } from '@toolenv/core';
import { type Step, steps } from './steps.ts';
import { toPython, type Value, type ValueType } from './values.ts';

export interface FunctionTest {
  input: Value;
  output: Value;
}

export interface CodeTask {
  question: string;
  /** The model sees them. */
  examples: FunctionTest[];
  /** The model never sees them. Their inputs differ from those of the examples. */
  tests: FunctionTest[];
  /** A program that solves the task. */
  reference: string;
}

const examples = 3;
const hidden = 12;
/** Different outputs of the hidden tests, at least: a constant is no solution. */
const distinct = 5;

const letters = 'aabcdeeefghiilmnoprstuu';
const makes: Readonly<Partial<Record<ValueType, { says: string; draw: (rng: Rng) => Value }>>> = {
  number: { says: 'a whole number', draw: (rng) => rng.int(2000) - 400 },
  text: {
    says: 'a string of lower-case words',
    draw: (rng) => Array.from({ length: rng.int(6) }, () => word(rng)).join(' '),
  },
  numbers: {
    says: 'a list of whole numbers',
    draw: (rng) => Array.from({ length: rng.int(11) }, () => rng.int(61) - 20),
  },
  words: { says: 'a list of words', draw: (rng) => Array.from({ length: rng.int(8) }, () => word(rng)) },
};

function word(rng: Rng): string {
  return Array.from({ length: 1 + rng.int(6) }, () => rng.pick([...letters])).join('');
}

/** Draws a task. The steps of a task, in their order, belong to one split. */
export function drawTask(rng: Rng, split: Split, maxSteps: number): CodeTask {
  for (;;) {
    const names = drawSteps(rng, 2 + rng.int(maxSteps - 1));
    if (splitOf(names) !== split) continue;
    const chosen = names.map((name) => ({ step: steps[name]!, n: steps[name]!.draw?.(rng) ?? 0 }));
    const make = makes[chosen[0]!.step.from]!;
    const tests = drawTests(rng, make.draw, (input) =>
      chosen.reduce((x, { step, n }) => step.apply(x as never, n), input),
    );
    if (!tests) continue;
    const said = chosen.map(({ step, n }, at) => `${at + 1}. ${step.says(n)}`);
    return {
      question: `Write a function solve(x) in Python. x is ${make.says}. The function does this and returns the result:\n${said.join('\n')}`,
      examples: tests.slice(0, examples),
      tests: tests.slice(examples),
      reference: ['def solve(x):', ...chosen.flatMap(({ step, n }) => lines(step, n)), '    return x'].join(
        '\n',
      ),
    };
  }
}

function drawSteps(rng: Rng, count: number): string[] {
  for (;;) {
    let type = rng.pick(Object.keys(makes) as ValueType[]);
    const names: string[] = [];
    while (names.length < count) {
      const next = Object.keys(steps).filter((name) => steps[name]!.from === type && !names.includes(name));
      if (next.length === 0) break;
      const name = rng.pick(next);
      names.push(name);
      type = steps[name]!.to;
    }
    if (names.length === count) return names;
  }
}

/** Seven in ten combinations of steps are for training. */
function splitOf(names: readonly string[]): Split {
  const share = deriveSeed(0, 'code', ...names) % 10;
  if (share < 7) return 'train';
  return share === 7 ? 'validation' : 'test';
}

function lines(step: Step, n: number): string[] {
  const python = step.python(n);
  return typeof python === 'string' ? [`    x = ${python}`] : python.map((line) => `    ${line}`);
}

/** `undefined` if the function gives too few different outputs. */
function drawTests(
  rng: Rng,
  draw: (rng: Rng) => Value,
  solve: (input: Value) => Value,
): FunctionTest[] | undefined {
  const tests = new Map<string, FunctionTest>();
  for (let tries = 0; tries < 200 && tests.size < examples + hidden; tries++) {
    const input = draw(rng);
    const key = toPython(input);
    if (!tests.has(key)) tests.set(key, { input, output: solve(input) });
  }
  const all = [...tests.values()];
  const outputs = new Set(all.slice(examples).map(({ output }) => toPython(output)));
  return all.length === examples + hidden && outputs.size >= distinct ? all : undefined;
}
