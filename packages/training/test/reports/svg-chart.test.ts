import { describe, expect, it } from 'vitest';
import { chartColors, svgChart, svgCharts } from '../../src/reports/svg-chart.ts';

const ramp = { name: 'reward', points: [1, 2, 3, 4, 5].map((step) => [step, step / 5] as const) };

describe('svgChart', () => {
  const svg = svgChart({
    title: 'GRPO <bridge>',
    valueLabel: 'mean of a step',
    curves: [
      ramp,
      {
        name: 'EM',
        points: [
          [1, 0],
          [5, 0.5],
        ],
      },
    ],
    markers: [
      { name: 'held-out EM before', step: 0, value: 0.1 },
      { name: 'held-out EM after', step: 5, value: 0.8 },
    ],
  });

  it('is a standalone document with title, axes and legend', () => {
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 720 400"/);
    expect(svg).toContain('<title>GRPO &#60;bridge&#62;</title>');
    for (const label of [
      'training step',
      'mean of a step',
      'reward',
      'EM',
      'held-out EM before: 0.100',
      'held-out EM after: 0.800',
    ]) {
      expect(svg).toContain(`>${label}</text>`);
    }
    const tags = [...svg.matchAll(/<(\/?)(\w+)[^>]*?(\/?)>/g)];
    const open: string[] = [];
    for (const [, closes, name, empty] of tags) {
      if (closes) expect(open.pop()).toBe(name);
      else if (!empty) open.push(name!);
    }
    expect(open).toEqual([]);
  });

  it('shows a curve of one point as a dot', () => {
    const dot = svgChart({
      title: 'one',
      valueLabel: 'mean',
      curves: [ramp, { name: 'EM', points: [[5, 1]] }],
    });
    expect(dot).toContain(`<circle cx="700" cy="78" r="3" fill="${chartColors.series[1]}"/>`);
  });

  it('stands beside others in one document', () => {
    const chart = { title: 'reward', valueLabel: 'mean', curves: [ramp] };
    const together = svgCharts('GRPO <bridge>', [chart, chart, chart]);
    expect(together.match(/<svg x="(\d+)" y="(\d+)"/g)).toEqual([
      '<svg x="0" y="40"',
      '<svg x="720" y="40"',
      '<svg x="0" y="440"',
    ]);
    expect(together).toMatch(/^<svg xmlns="[^"]+" viewBox="0 0 1440 840"/);
    expect(together).toContain('<title>GRPO &#60;bridge&#62;</title>');
  });

  it('puts values where the axes say', () => {
    // Steps 0 to 5 span x = 64 to 700; values 0 to 1 span y = 344 to 78.
    expect(svg).toContain('points="191.2,290.8 318.4,237.6 445.6,184.4 572.8,131.2 700,78"');
    expect(svg).toContain('<circle cx="64" cy="317.4"');
    expect(svg).toContain('<circle cx="700" cy="131.2"');
  });

  it('has colours that are legible on light and dark grounds', () => {
    for (const color of [chartColors.ink, ...chartColors.series]) {
      expect(contrast(color, '#ffffff')).toBeGreaterThanOrEqual(3);
      expect(contrast(color, '#0d1117')).toBeGreaterThanOrEqual(3);
    }
  });
});

/** WCAG 2.2 contrast ratio of two #rrggbb colours. */
function contrast(a: string, b: string): number {
  const luminance = (color: string) => {
    const [r, g, bl] = [1, 3, 5].map((at) => {
      const channel = Number.parseInt(color.slice(at, at + 2), 16) / 255;
      return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * bl!;
  };
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light! + 0.05) / (dark! + 0.05);
}

describe('a chart of scores by cost', () => {
  const markers = Array.from({ length: 8 }, (_, run) => ({
    name: `a-run-with-a-long-name-${run}`,
    step: run / 4,
    value: run / 10,
    interval: [run / 20, 0.9] as const,
  }));
  const colors = markers.map((_, run) => `#00000${run}`);
  const svg = svgChart({
    title: 'em by dollars',
    valueLabel: 'em',
    stepLabel: 'dollars',
    curves: [],
    markers,
    colors,
  });

  it('has a colour for each run, and a line for its interval', () => {
    for (const color of colors) {
      expect(svg).toContain(`r="5" fill="${color}"`);
      expect(svg).toMatch(
        new RegExp(`<line x1="[\\d.]+" x2="[\\d.]+" y1="[\\d.]+" y2="[\\d.]+" stroke="${color}"`),
      );
    }
  });

  it('has a legend of several rows, within the picture and above the plot', () => {
    const names = [...svg.matchAll(/<text x="([\d.]+)" y="([\d.]+)">(a-run[^<]*)</g)].map(
      ([, x, y, name]) => [Number(x) + 7 * name!.length, Number(y)] as const,
    );
    expect(names).toHaveLength(8);
    for (const [end] of names) expect(end).toBeLessThan(720);
    const rows = new Set(names.map(([, y]) => y));
    expect(rows.size).toBe(4);
    const [, height, below] = /viewBox="0 0 720 (\d+)".*translate\(0 (\d+)\)/s.exec(svg)!.map(Number);
    expect([height, below]).toEqual([400 + 3 * 20, 3 * 20]);
    expect(Math.max(...rows)).toBeLessThan(below! + 78);
  });

  it('marks parts of a dollar, and steps only whole', () => {
    expect(svg).toContain('>0.5</text>');
    const steps = svgChart({
      title: 't',
      valueLabel: 'v',
      curves: [
        {
          name: 'c',
          points: [
            [1, 0],
            [2, 1],
          ],
        },
      ],
    });
    expect(steps).toContain('>2</text>');
    expect(steps).not.toContain('>1.5</text>');
  });

  it('beside other charts, keeps within its tile', () => {
    const chart = { title: 'em by dollars', valueLabel: 'em', curves: [], markers };
    const charts = svgCharts('t', [chart, chart]);
    expect(charts.match(/height="400"/g)).toHaveLength(2);
    expect(charts.match(/viewBox="0 0 720 460"/g)).toHaveLength(2);
  });
});
