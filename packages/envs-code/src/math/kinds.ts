/** The kinds of problems of math-v1: equations, fractions, and word problems. Each has three levels. */
import type { Rng } from '@toolenv/core';
import { add, divide, type Rational, rational } from './rational.ts';

/** What a kind drafts. */
export interface Draft {
  question: string;
  answer: Rational;
  /** Python that computes the answer, where `F` is `Fraction`. */
  python: string;
  /** What may stand beside the number, in lower case. Default: nothing. */
  units?: readonly string[];
  /** Whether the question asks for a percentage, so that 25 and 25 % are the same. */
  percent?: boolean;
}

/** A draft of a level. */
type Kind = (rng: Rng, level: number) => Draft;

const people = ['Ada', 'Ben', 'Clara', 'Emil', 'Farid', 'Greta', 'Ines', 'Kofi', 'Lena', 'Noor', 'Samir'];
const dollars = ['dollars', 'dollar', '$', 'usd'];
const hours = ['hours', 'hour', 'hrs', 'h'];

/** A whole number from `low` to `high`. */
function between(rng: Rng, low: number, high: number): number {
  return low + rng.int(high - low + 1);
}

/** A whole number from `-high` to `high`, but not 0. */
function nonZero(rng: Rng, high: number): number {
  return rng.pick([1, -1]) * between(rng, 1, high);
}

/** `+ 3` or `- 3`. */
function term(number: number, variable = ''): string {
  return `${number < 0 ? '-' : '+'} ${Math.abs(number)}${variable}`;
}

/** The next draft that has what is asked of it. */
function until(draft: () => Draft | undefined): Draft {
  for (;;) {
    const drafted = draft();
    if (drafted) return drafted;
  }
}

export const kinds: Readonly<Record<string, Kind>> = {
  /** One unknown: on one side, on both sides, in parentheses. */
  equation: (rng, level) =>
    until(() => {
      const [a, b, d] = [between(rng, 2, 12), nonZero(rng, 40), nonZero(rng, 60)];
      const c = level === 1 ? 0 : nonZero(rng, 12);
      if (a === c) return undefined;
      const [left, constant] = level === 3 ? [`${a}(x ${term(b)})`, a * b] : [`${a}x ${term(b)}`, b];
      const right = level === 1 ? `${d}` : `${c}x ${term(d)}`;
      return {
        question: `Solve for x: ${left} = ${right}.`,
        answer: rational(d - constant, a - c),
        python: `F(${d} - (${constant}), ${a} - (${c}))`,
      };
    }),

  /** Two unknowns, of which one is asked. */
  system: (rng, level) =>
    until(() => {
      const high = 4 * level;
      const [a, b, d, e] = [1, 2, 3, 4].map(() => nonZero(rng, high)) as [number, number, number, number];
      const [c, f] = [nonZero(rng, 30), nonZero(rng, 30)];
      const determinant = a * e - b * d;
      if (determinant === 0) return undefined;
      const [asked, top] = rng.pick([
        ['x', `${c} * (${e}) - (${b}) * (${f})`],
        ['y', `${a} * (${f}) - (${c}) * (${d})`],
      ] as const);
      return {
        question: `${a}x ${term(b, 'y')} = ${c} and ${d}x ${term(e, 'y')} = ${f}. What is ${asked}?`,
        answer: rational(asked === 'x' ? c * e - b * f : a * f - c * d, determinant),
        python: `F(${top}, ${determinant})`,
      };
    }),

  /** A sum of fractions. */
  fractions: (rng, level) => {
    const terms = Array.from({ length: 1 + level }, () => {
      const below = between(rng, 3, 4 + 5 * level);
      return { above: between(rng, 1, below - 1), below, sign: rng.pick([1, -1]) };
    });
    const written = terms.map(({ above, below, sign }, at) => {
      const operator = at === 0 ? (sign < 0 ? '-' : '') : sign < 0 ? ' - ' : ' + ';
      return `${operator}${above}/${below}`;
    });
    return {
      question: `Calculate ${written.join('')}.`,
      answer: terms.map(({ above, below, sign }) => rational(sign * above, below)).reduce(add),
      python: terms.map(({ above, below, sign }) => `F(${sign * above}, ${below})`).join(' + '),
    };
  },

  /** A price that changes once, twice or thrice. */
  price: (rng, level) => {
    const [name, price] = [rng.pick(people), 20 * between(rng, 2, 60)];
    const changes = Array.from({ length: level }, () => rng.pick([1, -1]) * 5 * between(rng, 1, 12));
    const said = changes.map((change, at) => {
      const how = change < 0 ? 'reduced' : 'raised';
      return `${at === 0 ? 'It is' : 'Then it is'} ${how} by ${Math.abs(change)} percent.`;
    });
    return {
      question: `In the shop of ${name}, a coat costs ${price} dollars. The price changes. ${said.join(' ')} How many dollars does the coat cost now?`,
      answer: rational(
        changes.reduce((amount, change) => amount * BigInt(100 + change), BigInt(price)),
        100n ** BigInt(level),
      ),
      python: ['F(', price, ')', ...changes.map((change) => ` * F(${100 + change}, 100)`)].join(''),
      units: dollars,
    };
  },

  /** A part of a whole, in percent. */
  percentage: (rng, level) => {
    const whole = between(rng, 8, 100 * level);
    const part = between(rng, 1, whole - 1);
    const name = rng.pick(people);
    return {
      question: `${name} asks ${whole} people, and ${part} of them say no. What percentage of the people say yes, exactly?`,
      answer: rational(100 * (whole - part), whole),
      python: `F(100 * (${whole} - ${part}), ${whole})`,
      percent: true,
    };
  },

  /** One traveller, two who meet, or one who follows. */
  travel: (rng, level) =>
    until(() => {
      const [slow, gap, name] = [between(rng, 20, 70), between(rng, 5, 40), rng.pick(people)];
      const fast = slow + gap;
      const distance = between(rng, 30, 600);
      if (level === 1)
        return {
          question: `${name} rides ${distance} km at ${slow} km per hour. How many hours does the ride take?`,
          answer: rational(distance, slow),
          python: `F(${distance}, ${slow})`,
          units: hours,
        };
      if (level === 2)
        return {
          question: `Two trains are ${distance} km apart and drive toward each other, one at ${slow} and one at ${fast} km per hour. After how many hours do they meet?`,
          answer: rational(distance, slow + fast),
          python: `F(${distance}, ${slow} + ${fast})`,
          units: hours,
        };
      const lead = between(rng, 10, 90);
      return {
        question: `${name} leaves at ${slow} km per hour. ${lead} minutes later, a friend follows at ${fast} km per hour. How many hours does the friend need to reach ${name}?`,
        answer: rational(slow * lead, 60 * gap),
        python: `F(${slow} * ${lead}, 60) / (${fast} - ${slow})`,
        units: hours,
      };
    }),

  /** Pipes that fill a tank together, or against a leak. */
  work: (rng, level) =>
    until(() => {
      const fills = Array.from({ length: Math.min(1 + level, 3) }, () => between(rng, 2, 20));
      const leak = level === 3 ? fills.pop() : undefined;
      const rates = [...fills.map((each) => rational(1, each)), ...(leak ? [rational(-1, leak)] : [])];
      const rate = rates.reduce(add);
      if (rate.numerator <= 0n) return undefined;
      const leaks = leak ? ` A leak empties the full tank in ${leak} hours.` : '';
      return {
        question: `A tank is empty. Pipes can fill it alone in ${fills.join(', ')} hours.${leaks} Everything is open at once. In how many hours is the tank full?`,
        answer: divide(rational(1), rate)!,
        python: `1 / (${[...fills.map((each) => `F(1, ${each})`), ...(leak ? [`F(-1, ${leak})`] : [])].join(' + ')})`,
        units: hours,
      };
    }),

  /** The mean of numbers, or the number that gives them a mean. */
  mean: (rng, level) => {
    const numbers = Array.from({ length: 2 + 2 * level }, () => between(rng, 1, 40 * level));
    const sum = numbers.reduce((total, each) => total + each);
    if (level < 3)
      return {
        question: `What is the mean of ${numbers.join(', ')}?`,
        answer: rational(sum, numbers.length),
        python: `F(sum([${numbers}]), ${numbers.length})`,
      };
    const mean = between(rng, 20, 120);
    return {
      question: `The mean of ${numbers.join(', ')} and one more number is ${mean}. What is that number?`,
      answer: rational(mean * (numbers.length + 1) - sum),
      python: `F(${mean} * ${numbers.length + 1} - sum([${numbers}]))`,
    };
  },

  /** A sum of money in shares. */
  shares: (rng, level) => {
    const names = rng.shuffle(people).slice(0, 1 + level);
    const parts = names.map(() => between(rng, 1, 9));
    const money = 10 * between(rng, 3, 100);
    const total = parts.reduce((sum, each) => sum + each);
    return {
      question: `${names.join(', ')} share ${money} dollars in the ratio ${parts.join(' : ')}. How many dollars does ${names.at(-1)} get?`,
      answer: rational(money * parts.at(-1)!, total),
      python: `F(${money} * ${parts.at(-1)}, sum([${parts}]))`,
      units: dollars,
    };
  },

  /** Whole numbers that are counted or summed: too many for the head at level 3. */
  divisible: (rng, level) =>
    until(() => {
      const high = between(rng, 30, [60, 500, 20_000][level - 1]!);
      const [a, b] = [between(rng, 2, 9), between(rng, 3, 13)];
      if (a === b) return undefined;
      const either = level > 1;
      const fits = (n: number) => n % a === 0 || (either && n % b === 0);
      const found = Array.from({ length: high }, (_, at) => at + 1).filter(fits);
      const [what, value, call] =
        level === 2
          ? ['How many whole numbers', found.length, 'sum(1 for n in']
          : ['What is the sum of the whole numbers', found.reduce((sum, n) => sum + n, 0), 'sum(n for n in'];
      const condition = either ? `n % ${a} == 0 or n % ${b} == 0` : `n % ${a} == 0`;
      const verb = level === 2 ? ' are divisible' : ' that are divisible';
      return {
        question: `${what} from 1 to ${high}${verb} by ${a}${either ? ` or by ${b}` : ''}?`,
        answer: rational(value),
        python: `${call} range(1, ${high} + 1) if ${condition})`,
      };
    }),

  /** The remainder of a power. */
  remainder: (rng, level) => {
    const [base, divisor] = [between(rng, 2, 9 * level), between(rng, 11, 97 * level)];
    const exponent = between(rng, 3, [5, 30, 999][level - 1]!);
    let value = 1n;
    for (let count = 0; count < exponent; count++) value = (value * BigInt(base)) % BigInt(divisor);
    return {
      question: `What is the remainder of ${base}^${exponent} divided by ${divisor}?`,
      answer: rational(value),
      python: `pow(${base}, ${exponent}, ${divisor})`,
    };
  },

  /** Balls that are drawn and not put back. */
  draws: (rng, level) => {
    const [red, blue, name] = [between(rng, 4, 20), between(rng, 3, 20), rng.pick(people)];
    const all = red + blue;
    const above = Array.from({ length: level }, (_, at) => red - at);
    const below = Array.from({ length: level }, (_, at) => all - at);
    const product = (numbers: readonly number[]) => numbers.reduce((value, each) => value * each, 1);
    const drawn =
      level === 1
        ? 'one ball. What is the probability that it is'
        : `${level} balls, one after another, and puts none back. What is the probability that all are`;
    return {
      question: `A bag holds ${red} red and ${blue} blue balls. ${name} draws ${drawn} red?`,
      answer: rational(product(above), product(below)),
      python: `F(${above.join(' * ')}, ${below.join(' * ')})`,
    };
  },
};
