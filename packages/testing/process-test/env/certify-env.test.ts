/** The library's own environments and the templates are certified. */
import { expect, test } from 'vitest';
import * as safe from '../../../../templates/env/src/safe-v1.ts';
import * as warehouse from '../../../../templates/mcp-env/src/warehouse-v1.ts';
import { certifyEnv, reportText } from '../../src/index.ts';

test.each([
  ...['arithmetic', 'bank', 'household', 'sql', 'toolbox', 'wordle'].map(
    (name) => `@toolenv/envs-classic/${name}-v1`,
  ),
  ...['bridge', 'claims', 'comparison', 'compose', 'lookup'].map((name) => `@toolenv/envs-qa/${name}-v1`),
  '@toolenv/envs-mcp/files-v1',
])('%s', async (ref) => {
  const report = await certifyEnv(ref);
  expect(report.findings, reportText(report)).toEqual([]);
  expect(report.certificate!.tasks).toBeGreaterThan(30);
  expect(report.certificate!.panel.telling).toBe(report.certificate!.tasks);
});

test.each(['math', 'terminal'])('@toolenv/envs-code/%s-v1', async (name) => {
  const report = await certifyEnv(`@toolenv/envs-code/${name}-v1`, { tasks: 4 });
  expect(report.findings, reportText(report)).toEqual([]);
});

test('the template of an environment', async () => {
  const report = await certifyEnv(safe.default, { tasks: 16 });
  expect(report.findings, reportText(report)).toEqual([]);
});

test('the template of an MCP environment', async () => {
  const report = await certifyEnv(warehouse.default, { tasks: 16 });
  expect(report.findings, reportText(report)).toEqual([]);
});
