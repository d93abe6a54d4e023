/** Fails a test file that leaves the process changed for the files after it, whatever their order. */
import { afterAll, expect, vi } from 'vitest';

// Each package listens once for the end of the process. Together they pass the number at which Node warns of a leak.
process.setMaxListeners(30);

const before = { folder: process.cwd(), exitCode: process.exitCode, variables: { ...process.env } };

afterAll(() => {
  // The configuration restores these before each test, which is too late for the next file.
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  expect(process.cwd()).toBe(before.folder);
  expect(process.exitCode).toBe(before.exitCode);
  // Names only: values may be secrets.
  // LanceDB reads its own variables once, before its threads start, so that restoring them would change nothing.
  const all = Object.keys({ ...before.variables, ...process.env });
  const names = all.filter((name) => !name.startsWith('LANCE_'));
  expect(names.filter((name) => process.env[name] !== before.variables[name])).toEqual([]);
});
