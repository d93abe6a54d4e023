/** Whatever a model writes is parsed in linear time, into calls within the bounds. */
import { isParseFailure } from '@toolenv/core';
import { boundCall, callFormats } from '@toolenv/core/tools';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callTexts, repetitiveTexts } from '../test/fuzz/call-texts.ts';

describe.each(callFormats.map((format) => [format.name, format] as const))('%s', (_, format) => {
  /** Milliseconds of parsing a text, after checking its calls. */
  function parse(text: string): number {
    const start = performance.now();
    const { toolCalls } = format.parse(text);
    const milliseconds = performance.now() - start;
    expect(toolCalls.length).toBeLessThanOrEqual(257);
    for (const call of toolCalls) if (!isParseFailure(call)) expect(boundCall(call)).toEqual(call);
    expect(() => JSON.stringify(toolCalls)).not.toThrow();
    return milliseconds;
  }

  test('any text gives calls within the bounds, in at most 5 ms per kilobyte and the pauses of a busy machine', {
    timeout: 120_000,
  }, () => {
    fc.assert(
      fc.property(callTexts(format.markers), (text) => {
        expect(parse(text)).toBeLessThan(2000 + text.length / 200);
      }),
      { numRuns: 300 },
    );
  });

  // A parser that takes quadratic time needs minutes for some of them.
  test('any repetition of 200,000 characters is parsed within seconds', { timeout: 300_000 }, () => {
    for (const text of repetitiveTexts(format.markers, 200_000))
      expect(parse(text), text.slice(0, 40)).toBeLessThan(10_000);
  });
});
