/** An episode as people see it, with and without tokens, and the pager that shows one after another. */
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { pageEpisodes } from '../../src/display/episode-pager.ts';
import { episodeView } from '../../src/display/episode-view.ts';
import { safeLine, safeText, wrapText } from '../../src/display/terminal-text.ts';
import { abortedEpisode, failedCall, goodCall, refusedCall, someEpisode } from '../show/some-episode.ts';

const width = 80;

describe('episodeView', () => {
  it('shows the conversation, what was rewarded and when, and how it ended', () => {
    expect(`\n${episodeView(someEpisode({}, [goodCall, refusedCall]), { width })}\n`).toBe(`
── step 3 · episode 4 · task 2 · sample 1 · 7-0-1 ──
user
  Who founded Selarel?
turn 1, prompt of 2 tokens, 2 written
assistant
  I look.
  → search {"query":"Selarel"}
  → search {"query":"Selarel"}
tool search  12 ms
  Founded by Ada.
tool search  ✘ invalid_arguments  0.0 ms
  Error (invalid_arguments): /query
rewarded  found 0.500 × 0.1

turn 2, prompt of 5 tokens, 1 written
assistant
  Ada
rewarded  em 1.000 × 1 · f1 0.250
end       terminated:answered
reward    1.050 from em 1.000 × 1 · found 0.500 × 0.1 · f1 0.250
          2 turns, 2 calls, 3 tokens written, tools took 12 ms
`);
  });

  it('says what each turn asked of a server, and the whole episode', () => {
    const episode = someEpisode();
    const counts = { requests: 1, inputTokens: 1200, cachedTokens: 1000, outputTokens: 30 };
    episode.steps[0]!.action.usage = { ...counts, cost: 0.0125, milliseconds: 2340 };
    const nothing = { requests: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, cost: 0 };
    episode.steps[1]!.action.usage = { ...nothing, cachedReplies: 1, milliseconds: 60 };
    const text = episodeView(episode, { width });
    expect(text).toContain(
      'turn 1, prompt of 2 tokens, 2 written, 1,200 tokens in (1,000 cached) and 30 out, $0.0125, 2.3 s\n',
    );
    expect(text).toContain('1 written, replies from disk, which cost nothing\n');
    expect(text).toMatch(/, 1,200 tokens in \(1,000 cached\) and 30 out, \$0\.0125, 2\.4 s\n?$/);
  });

  it('says what a fault of the infrastructure means, and marks a tool that failed', () => {
    const text = episodeView({ ...abortedEpisode, steps: someEpisode({}, [failedCall]).steps }, { width });
    expect(text).toContain('tool fetch  ✘ tool_error  2.5 s\n  Error: offline\n');
    expect(text).toMatch(
      /\nend {7}aborted:infrastructure\.tool_failed\n {10}the server is gone\n {10}not scored, and nothing is learned from it\nreward {4}–\n/,
    );
  });

  it('says that the environment rewrote the conversation', () => {
    const episode = someEpisode();
    episode.steps[1]!.observation.messages = [{ role: 'user', content: 'Go on.' }];
    expect(episodeView(episode, { width })).toContain(
      'the environment rewrote the conversation: 2 messages and results became 1\nuser\n  Go on.\nturn 2',
    );
  });

  it('shows a message that the environment sent between the turns', () => {
    const episode = someEpisode();
    episode.steps[1]!.observation.messages.push({ role: 'user', content: 'Hurry.' });
    expect(episodeView(episode, { width })).toContain('\n\nuser\n  Hurry.\nturn 2');
  });

  it('shows the tokens of each turn once: those that were sampled apart, with their probabilities', () => {
    const words = ['', '<user>', ' who?', 'I', ' look', '<tool>', 'Ada'];
    const tokens = { texts: (ids: Int32Array) => Array.from(ids, (id) => words[id]!) };
    const text = episodeView(someEpisode(), { width, tokens });
    expect(text).toContain(
      'turn 1, prompt of 2 tokens, 2 written\n<user> who?«I look[0.20]»\ntool search  12 ms\nrewarded',
    );
    expect(text).toContain('turn 2, prompt of 5 tokens, 1 written\n<tool>«Ada[0.50]»\nrewarded');
    const rewritten = someEpisode();
    rewritten.steps[1]!.action.tokens!.prompt = Int32Array.of(1, 5);
    expect(episodeView(rewritten, { width, tokens })).toContain(
      'the prompt does not begin with the tokens before: a new row for training\n<user><tool>«Ada[0.50]»',
    );
    const ids = episodeView(someEpisode(), { width, tokens: {} });
    expect(ids).toContain('  → search {"query":"Selarel"}\n  « 3  4 [0.20]»\n');
  });
});

describe('texts of others in the terminal', () => {
  it('cannot move the cursor, clear the screen or change colours', () => {
    expect(safeText('a\u001b[2Jb\u0007\r\nc\td\u009b1m')).toBe('a\\u001b[2Jb\\u0007\nc\td\\u009b1m');
  });

  it('stay on their line where they are names', () => {
    expect(safeLine(' a\n  b\r\u2028c  d\u202e ')).toBe('a   b c  d\\u202e');
  });

  it('are broken at spaces', () => {
    expect(wrapText('one two three\nfour', { width: 11, indent: '  ' })).toBe('  one two\n  three\n  four');
    expect(wrapText('unbreakable', { width: 4 })).toBe('unbreakable');
  });
});

describe('pageEpisodes', () => {
  /** A keyboard, and what the terminal shows of the pages a, b and c, one letter for each view. */
  function page(keys: string[], signal = new AbortController().signal) {
    const modes: boolean[] = [];
    const input = Object.assign(new PassThrough(), { setRawMode: (mode: boolean) => modes.push(mode) });
    const output = new PassThrough();
    let asked = 0;
    const views = async function* () {
      for (const view of ['a', 'b', 'c']) {
        asked += 1;
        yield view;
      }
    };
    const done = pageEpisodes(views(), signal, { input: input as never, output });
    const press = async () => {
      for (const key of keys) {
        for (let turn = 0; turn < 5; turn += 1) await setImmediate();
        input.write(key);
      }
    };
    const shown = () =>
      String(output.read() ?? '')
        .split('\n')
        .filter((line) => /(^|K)[abc]$/.test(line))
        .map((line) => line.at(-1))
        .join('');
    return { done, press, shown, modes, input, asked: () => asked };
  }

  it.each([
    ['q', 'a', 1],
    [' q', 'ab', 2],
    ['  pq', 'abcb', 3],
    ['pq', 'aa', 1],
    [' p q', 'abab', 2],
    ['\r\rn', 'abc', 3],
  ])('with the keys %j shows %s', async (keys, expected, asked) => {
    const pager = page([...keys]);
    await pager.press();
    await pager.done;
    expect(pager.shown()).toBe(expected);
    expect(pager.asked()).toBe(asked);
    expect(pager.modes).toEqual([true, false]);
  });

  it('ends when the terminal is closed', async () => {
    const pager = page([' ']);
    await pager.press();
    pager.input.emit('error', Object.assign(new Error('EIO'), { code: 'EIO' }));
    pager.input.end();
    await pager.done;
    expect(pager.shown()).toBe('ab');
    expect(pager.modes).toEqual([true, false]);
  });

  it('ends with the reason of its signal', async () => {
    const controller = new AbortController();
    const pager = page([' '], controller.signal);
    await pager.press();
    controller.abort(new Error('interrupted'));
    await expect(pager.done).rejects.toThrow('interrupted');
    expect(pager.modes).toEqual([true, false]);
  });
});
