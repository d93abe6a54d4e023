import { describe, expect, it } from 'vitest';
import { terminalChart } from '../../src/display/terminal-chart.ts';

const ramp = { name: 'reward', points: [1, 2, 3, 4, 5].map((step) => [step, step / 5] as const) };

describe('terminalChart', () => {
  it('draws a curve over labelled axes', () => {
    expect(`\n${terminalChart([ramp], { width: 40, height: 5 })}\n`).toBe(`
        reward
  1.00 ┤                          ╭────
  0.75 ┤                ╭─────────╯
  0.50 ┤      ╭─────────╯
  0.25 ┤──────╯
  0.00 ┤
       └────────────────────────────────
        1              3          step 5
`);
  });

  it('writes as many decimals as the values need', () => {
    const to = (highest: number) =>
      terminalChart(
        [{ name: 'kl', points: [1, 2, 3].map((step) => [step, (step * highest) / 3] as const) }],
        { width: 30, height: 3 },
      );
    expect(to(0.002)).toContain('0.0020 ┤');
    expect(to(0.2)).toContain('  0.20 ┤');
    expect(to(2000)).toContain('  2000 ┤');
  });

  it('fits its width, whatever the number of steps, and has a panel for each curve', () => {
    for (const length of [1, 2, 30, 500]) {
      const points = Array.from({ length }, (_, index) => [index + 1, Math.sin(index)] as const);
      const lines = terminalChart([
        { ...ramp, points },
        { name: 'EM', points },
      ]).split('\n');
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
      expect(lines.filter((line) => /^ +(reward|EM)$/.test(line))).toHaveLength(2);
    }
  });

  it('draws nothing without points, and a flat line for zeros', () => {
    expect(terminalChart([{ name: 'EM', points: [] }])).toBe('');
    const zeros = terminalChart(
      [
        {
          name: 'EM',
          points: [
            [1, 0],
            [2, 0],
            [3, 0],
          ],
        },
      ],
      { width: 30, height: 4 },
    );
    expect(zeros).toContain('  0.00 ┤──────');
    expect(zeros).toContain('  1.00 ┤\n');
  });
});

it('an axis has room for the largest numbers', () => {
  const points = [-1.7e308, 0, 1.7e308].map((value, step) => [step + 1, value] as const);
  const lines = terminalChart([{ name: 'reward', points }], { width: 40 }).split('\n');
  expect(lines.slice(0, 2).map((line) => line.slice(0, 8))).toEqual(['        ', '9e+307 ┤']);
  expect(lines.every((line) => line.length <= 40)).toBe(true);
});
