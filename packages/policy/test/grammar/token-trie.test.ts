/** The tokens that a grammar allows are those that it reads byte by byte, in the vocabularies of real models. */
import { createRng } from '@toolenv/core';
import { expect, test } from 'vitest';
import { Automaton } from '../../src/grammar/automaton.ts';
import { tokenBytes } from '../../src/grammar/token-bytes.ts';
import { TokenTrie } from '../../src/grammar/token-trie.ts';
import { turnFormat, turnGrammar } from '../../src/grammar/turn-grammar.ts';
import { readTokenizer } from './draw-turn.ts';
import { randomObject } from './random-schema.ts';

test.each([
  ['qwen', 'hermes', '<tool_call>'],
  ['llama3', 'llama', '{"name": '],
  ['mistral', 'mistral', '[TOOL_CALLS]'],
])('%s: in each state of random turns', (name, formatName, opening) => {
  const format = turnFormat(formatName);
  const tokenizer = readTokenizer(name);
  const bytes = tokenBytes({ folder: name, tokenizer, tokenizerConfig: {} }, format.markers);
  const markers = new Set(format.markers.map((marker) => marker.charCodeAt(0)));
  const trie = new TokenTrie(bytes, (byte) => markers.has(byte));
  const rng = createRng(1, name);
  let states = 0;
  for (let turn = 0; turn < 3; turn++) {
    const tools = [{ name: 'search', inputSchema: { ...randomObject(rng, 2), additionalProperties: {} } }];
    const automaton = new Automaton(turnGrammar(format, tools));
    const read = (from: typeof automaton.start, text: string) =>
      [...text].reduce<typeof from | undefined>(
        (state, byte) => state && automaton.step(state, byte.charCodeAt(0)),
        from,
      );
    let state = turn === 0 ? automaton.start : read(automaton.start, opening)!;
    for (let count = 0; count < 60; count++, states++) {
      const found: number[] = [];
      trie.collect(state, automaton, (token) => found.push(token));
      const expected = [...bytes.keys()].filter((token) => bytes[token] && read(state, bytes[token]!));
      expect(found.sort((a, b) => a - b)).toEqual(expected);
      state = read(state, bytes[rng.pick(found)]!)!;
    }
  }
  expect(states).toBe(180);
});
