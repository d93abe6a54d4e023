/** What a model sees of the tools of a connection, and a check of it. */
import { isDeepStrictEqual } from 'node:util';
import { dispatch } from '@toolenv/core/tools';
import type { McpConnection } from '@toolenv/mcp';
import { check } from '../check.ts';

/** Checks that a value is the expected value, or that a text matches the expected pattern. */
export function expect(title: string, seen: unknown, expected: unknown): void {
  const isPattern = expected instanceof RegExp;
  const isRight = isPattern ? expected.test(String(seen)) : isDeepStrictEqual(seen, expected);
  check(
    isRight,
    title,
    `${JSON.stringify(seen)} in place of ${isPattern ? expected : JSON.stringify(expected)}`,
  );
}

/** The names of the tools, in alphabetical order. */
export function namesOf({ tools }: McpConnection): string[] {
  return tools.map(({ name }) => name).toSorted();
}

/** What a model reads of a call. */
export async function read({ tools }: McpConnection, name: string, args: object): Promise<string> {
  const limits = { maxTurns: 1, maxCallsPerTurn: 1, toolTimeout: 60_000, maxToolCharacters: 10_000 };
  const context = { limits, episodeId: 'interop', seed: 1, firstCallIndex: 0 };
  const [record] = await dispatch([{ id: '1', name, arguments: { ...args } }], [...tools], context);
  return record!.text;
}
