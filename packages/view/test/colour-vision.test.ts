/** The colours that mean good and bad look different to colour-blind people too. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

/** On linear RGB: Machado, Oliveira and Fernandes (2009), table 1, severity 1. */
const visions = {
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
};

/** From sRGB as CSS has it. */
function linear(hex: string): number[] {
  return [1, 3, 5].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
}

function times(matrix: readonly number[][], vector: readonly number[]): number[] {
  return matrix.map((row) => row.reduce((sum, value, i) => sum + value * vector[i]!, 0));
}

/** CIELAB with the white of D65. */
function lab(rgb: readonly number[]): number[] {
  const xyz = times(
    [
      [0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505],
      [0.2126, 0.7152, 0.0722],
      [0.0193 / 1.089, 0.1192 / 1.089, 0.9505 / 1.089],
    ],
    rgb.map((value) => Math.min(1, Math.max(0, value))),
  );
  const [x, y, z] = xyz.map((t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116)) as [
    number,
    number,
    number,
  ];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const css = await readFile(new URL('../page/style.css', import.meta.url), 'utf8');
const themes = { light: css, dark: css.slice(css.indexOf('[data-theme="dark"]')) };

test.each(
  Object.keys(themes).flatMap((theme) =>
    Object.keys(visions).flatMap((vision) => [
      [theme, vision, 'shade-1', 'shade-5'],
      [theme, vision, 'good', 'bad'],
    ]),
  ) as [keyof typeof themes, keyof typeof visions, string, string][],
)('%s, %s: --%s is not --%s', (theme, vision, one, other) => {
  const [a, b] = [one, other].map((name) => {
    const hex = new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(themes[theme])![1]!;
    return lab(times(visions[vision], linear(hex)));
  });
  expect(Math.hypot(...a!.map((value, i) => value - b![i]!))).toBeGreaterThan(40);
});
