/** The badges in the README of a package. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CertificateReport } from '@toolenv/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeCertificates } from '../../src/run/certificate-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'certificates-'));
});
afterEach(() => rm(folder, { recursive: true }));

function reportOn(name: string, ok = true): CertificateReport {
  const panel = { oracle: 1, telling: 32, players: [] };
  return {
    ...{ subject: name, ok, findings: [], warnings: [], passed: ['CERT-1'], skipped: [] },
    certificate: {
      ...{ env: `mine/${name}`, version: '1.2.3', options: {}, seed: 1 },
      ...{ tasks: 32, panel, twins: 0, duplicates: { found: 0, of: 100 } },
    },
  };
}

const badge = (name: string) =>
  `[![${name}: certified by toolenv](certificates/${name}.svg)](certificates/${name}.json)`;

async function readmeAfter(text: string, reports: CertificateReport[]): Promise<string> {
  await writeFile(join(folder, 'package.json'), '{}');
  await writeFile(join(folder, 'README.md'), text);
  const files = await writeCertificates(join(folder, 'certificates'), reports, folder);
  const readme = await readFile(join(folder, 'README.md'), 'utf8');
  if (reports.some(({ ok }) => ok)) expect(files.at(-1)).toBe(join(folder, 'README.md'));
  return readme;
}

test('badges stand below the first heading, and are replaced the next time', async () => {
  const text = '# mine\n\nAn environment.\n';
  const first = await readmeAfter(text, [reportOn('a-v1'), reportOn('b-v1')]);
  expect(first).toBe(
    `# mine\n\n<!-- certificates -->\n${badge('a-v1')}\n${badge('b-v1')}\n<!-- /certificates -->\n\nAn environment.\n`,
  );
  expect(await readmeAfter(first, [reportOn('a-v1'), reportOn('b-v1')])).toBe(first);
  const fewer = await readmeAfter(first, [reportOn('b-v1')]);
  expect(fewer).toBe(first.replace(`${badge('a-v1')}\n`, ''));
});

test('a README without a heading begins with the badges', async () => {
  expect(await readmeAfter('Mine.\n', [reportOn('a-v1')])).toBe(
    `\n<!-- certificates -->\n${badge('a-v1')}\n<!-- /certificates -->\n\nMine.\n`,
  );
});

test('an environment that is refused has no badge', async () => {
  expect(await readmeAfter('# mine\n', [reportOn('a-v1', false)])).toBe('# mine\n');
});

test('a name cannot write into the badge', async () => {
  await mkdir(join(folder, 'x'));
  await writeCertificates(join(folder, 'x'), [reportOn('"><script>')], folder);
  expect(await readFile(join(folder, 'x', '"><script>.svg'), 'utf8')).not.toContain('<script');
});
