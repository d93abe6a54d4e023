/** What a typed line means. */
import type { ToolDescription } from '@toolenv/core';
import { describe, expect, it } from 'vitest';
import { readTurn } from '../../src/play/terminal-player.ts';

const tools: ToolDescription[] = [
  {
    name: 'search',
    description: '',
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string' }, limit: { type: 'integer' } },
      required: ['query'],
    },
  },
  {
    name: 'try_code',
    description: '',
    inputSchema: { type: 'object', properties: { code: { type: 'integer' } }, required: ['code'] },
  },
  {
    name: 'transfer',
    description: '',
    inputSchema: {
      type: 'object',
      properties: { from: { type: 'string' }, amount: { type: 'number' } },
      required: ['from', 'amount'],
    },
  },
  { name: 'wait', description: '', inputSchema: { type: 'object' } },
];

describe('a call', () => {
  it.each([
    ['search Ada of Melford', 'search', { query: 'Ada of Melford' }],
    ['  search   42 ', 'search', { query: '42' }],
    ['search {"query":"Ada","limit":2}', 'search', { query: 'Ada', limit: 2 }],
    ['try_code 512', 'try_code', { code: 512 }],
    // The environment says what is wrong with the argument, as it does to a policy.
    ['try_code five', 'try_code', { code: 'five' }],
    ['try_code 2512292042121000001', 'try_code', { code: '2512292042121000001' }],
    ['transfer {"from":"a","amount":5}', 'transfer', { from: 'a', amount: 5 }],
    ['wait', 'wait', {}],
    ['search{"query":"Ada"}', 'search', { query: 'Ada' }],
  ])('%s', (line, name, args) => {
    expect(readTurn(line, tools)).toEqual({ text: '', calls: [{ name, arguments: args }] });
  });
});

describe('an answer', () => {
  it.each([
    ['Ada', 'Ada'],
    [': search Ada', 'search Ada'],
    [':search', 'search'],
    ['searching is hard', 'searching is hard'],
    [': serch Ada', 'serch Ada'],
    ['{"a": 1}', '{"a": 1}'],
  ])('%s', (line, text) => {
    expect(readTurn(line, tools)).toEqual({ text, calls: [] });
  });
});

it.each([
  ['search', 'Write the arguments of search(query, limit?) as JSON: search {"query": …}.'],
  [
    'transfer a 5',
    'Write the arguments of transfer(from, amount) as JSON: transfer {"from": …, "amount": …}.',
  ],
  ['search {query}', 'The arguments of search are not JSON: '],
  [
    'transfer {"from":"a","amount":9007199254740993}',
    'The integer 9007199254740993 is beyond ±9007199254740991',
  ],
  ['serch Ada', 'There is no tool serch. Did you mean "search"? '],
  ['Search Ada', 'There is no tool Search. Did you mean "search"? '],
  ['serach', 'There is no tool serach. Did you mean "search"? '],
  ['serch{"query":"Ada"}', 'There is no tool serch. Did you mean "search"? '],
  [
    'look_up {"query":"Ada"}',
    'There is no tool look_up. Tools: search, try_code, transfer, wait. A colon before the line makes it your answer.',
  ],
  ['search(Ada)', 'Write the arguments of search(query, limit?) as JSON: search {"query": …}.'],
])('refuses %s', (line, message) => {
  expect(() => readTurn(line, tools)).toThrow(
    expect.objectContaining({ code: 'usage.turn', message: expect.stringContaining(message) }),
  );
});

it('takes every line as an answer where there are no tools', () => {
  expect(readTurn('serch {"query":"Ada"}', []).text).toBe('serch {"query":"Ada"}');
});
