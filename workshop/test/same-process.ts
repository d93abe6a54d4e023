/** Fails a test file that leaves the process changed for the files after it, whatever their order. */
import { afterAll, expect, vi } from 'vitest';

const before = { folder: process.cwd(), exitCode: process.exitCode, variables: { ...process.env } };

afterAll(() => {
  // The configuration restores these before each test, which is too late for the next file.
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  expect(process.cwd()).toBe(before.folder);
  expect(process.exitCode).toBe(before.exitCode);
  // Names only: values may be secrets.
  const names = Object.keys({ ...before.variables, ...process.env });
  expect(names.filter((name) => process.env[name] !== before.variables[name])).toEqual([]);
});
