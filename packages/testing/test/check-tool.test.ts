/** checkTool reports each defect under its rule, and reports nothing for a valid tool. */
import { defineToolPlugin, type Tool } from '@toolenv/core';
import { afterEach, expect, test } from 'vitest';
import { assertConforms, checkTool, reportText } from '../src/index.ts';
import { brokenTools, die, toolLeaks } from './broken-tools.ts';
import { expectFinding } from './expect-finding.ts';

const examples = [{ sides: 13 }, { sides: 2 }, { sides: 11 }];

afterEach(() => {
  for (const timer of toolLeaks.splice(0)) clearInterval(timer);
});

test('a valid tool passes every rule', async () => {
  const report = await checkTool(() => die as Tool, { examples });
  expect(reportText(report)).toBe('tool "roll": 14 rules hold, 0 broken, 0 not checked.');
});

test('a tool that does not declare that it only reads need not repeat its results', async () => {
  let count = 0;
  const { annotations: _, ...counter } = {
    ...die,
    execute: async () => ({ content: [], structuredContent: { roll: ++count } }),
  };
  const report = await checkTool(() => counter as Tool);
  expect(report).toMatchObject({ ok: true, skipped: [{ rule: 'TOOL-9' }, { rule: 'TOOL-10' }] });
});

test('a plugin is made from the material of its example', async () => {
  const plugin = defineToolPlugin({
    name: 'roll-v1',
    description: 'Rolls a die.',
    example: { material: { sides: 6 }, calls: examples },
    create: async ({ sides }) => ({ ...die, description: `Roll a die of ${sides} sides.` }) as Tool,
  });
  await assertConforms(checkTool(plugin));
  const create = async () => {
    throw new Error('no die');
  };
  const finding = expectFinding(await checkTool({ ...plugin, create }), 'TOOL-14');
  expect(finding.received).toMatch(/^Error: no die, at .*check-tool\.test\.ts:38:11$/);
  const close = async () => {
    throw new Error('The cup is glued on.');
  };
  const glued = await checkTool({ ...plugin, create: async () => ({ ...(die as Tool), close }) });
  expect(expectFinding(glued, 'TOOL-14').received).toMatch(
    /^Error: The cup is glued on\., at .*check-tool\.test\.ts:43:11$/,
  );
});

test.each(brokenTools)('%s: %s', async (_, rule, change) => {
  const tool = { ...die, ...change } as Tool;
  expectFinding(
    await checkTool(() => tool, { examples, timeout: rule === 'WARN-7' ? 1000 : 100, calls: 50 }),
    rule,
  );
});
