/** The line that says what a command is doing, and what the running tool of `toolenv play` says in it. */
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { LateStatus } from '../../src/display/progress.ts';
import { TerminalPlayer } from '../../src/play/terminal-player.ts';

let written: string[];
let now: number;
const { isTTY } = process.stderr;

beforeEach(() => {
  written = [];
  now = 0;
  process.stderr.isTTY = true;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
});
afterEach(() => {
  process.stderr.isTTY = isTTY;
});

it('appears late, and not again after its work has ended', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const status = new LateStatus();
  status.show('first');
  status.clear();
  now = 3000;
  vi.advanceTimersByTime(3000);
  expect(written.join('')).toBe('');
  status.show('second');
  expect(written.join('')).toContain('second');
  status.stop();
});

it('shows the progress of a tool until the tool has answered', () => {
  const player = new TerminalPlayer({}, 80);
  now = 3000;
  player.progressed('read: 1 of 3, page \u001b[2J1');
  expect(written.join('')).toContain('read: 1 of 3, page \\u001b[2J1');
  written = [];
  player.answered({
    observation: { messages: [], tools: [] },
    action: { text: '', toolCalls: [], stopReason: 'stop' },
    calls: [],
    info: {},
  });
  expect(written.join('')).not.toContain('page');
  player.close();
});
