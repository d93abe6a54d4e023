/** The line of the progress bar, as wide as the terminal. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Progress, progressLine } from '../../src/display/progress.ts';

const work = {
  label: 'episodes',
  value: 150,
  total: 200,
  status: 'reward 0.41  EM 0.39  2.1 calls/episode  1,234 tokens/s',
  left: '1:02:09 left',
};

it.each([
  [
    200,
    'episodes ████████████░░░░ 150/200  reward 0.41  EM 0.39  2.1 calls/episode  1,234 tokens/s  1:02:09 left',
  ],
  [79, 'episodes █████░ 150/200  reward 0.41  EM 0.39  2.1 calls/episode  1:02:09 left'],
  [60, 'episodes █████░ 150/200  reward 0.41  EM 0.39  1:02:09 left'],
  [40, 'episodes █████░ 150/200  1:02:09 left'],
  [35, 'episodes 150/200  1:02:09 left'],
])('in %i columns', (room, expected) => {
  const line = progressLine(work, room);
  expect(line).toBe(expected);
  expect(line.length).toBeLessThanOrEqual(room);
});

it('has no bar while the total is unknown', () => {
  expect(progressLine({ label: 'step', value: 3, total: 0, status: '', left: '' }, 79)).toBe('step 3');
});

let written: string[];
let now: number;
const { isTTY } = process.stderr;
beforeEach(() => {
  written = [];
  now = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
});
afterEach(() => {
  process.stderr.isTTY = isTTY;
  vi.useRealTimers();
});

it('says that the time left is unknown before the first work is done, then counts it down', () => {
  process.stderr.isTTY = true;
  const bar = new Progress('step', 10);
  expect(written.join('')).toContain('0/10  –:–– left');
  now = 60_000;
  bar.update(2, 'reward 0.10');
  now = 90_000;
  written = [];
  vi.advanceTimersByTime(1000);
  expect(written.join('')).toContain('2/10  reward 0.10  3:30 left');
  bar.stop();
});

it('leaves the time before the first work out of the time left', () => {
  process.stderr.isTTY = true;
  const bar = new Progress('step', 10);
  now = 600_000;
  bar.update(1, '');
  now = 620_000;
  written = [];
  bar.update(3, '');
  vi.advanceTimersByTime(1000);
  expect(written.join('')).toContain('3/10  1:10 left');
  bar.stop();
});

it('holds no process, and is no leak of the work', () => {
  vi.useRealTimers();
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const bar = new Progress('step', 10);
  bar.update(1, '');
  expect(timers()).toBe(before);
  bar.stop();
});

it.each([true, false])('that is late shows nothing of quick work, in a terminal: %s', (inTerminal) => {
  process.stderr.isTTY = inTerminal;
  const quick = new Progress('rules', 10, { isLate: true });
  quick.update(5, '');
  quick.stop();
  expect(written.join('')).toBe('');
  const long = new Progress('rules', 10, { isLate: true, isUneven: true });
  now = inTerminal ? 3000 : 11_000;
  long.update(6, 'ENV-6');
  expect(written.join('')).toContain('rules █████████');
  expect(written.join('')).toContain('6/10  ENV-6');
  expect(written.join('')).not.toContain('left');
  // A pipe gets no escape sequence.
  if (!inTerminal) expect(written.join('')).not.toContain('\u001b');
  long.stop();
});
