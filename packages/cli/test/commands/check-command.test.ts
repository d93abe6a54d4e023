/** `toolenv check`: subjects that pass, subjects that break a rule, and mistakes of the user. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Report } from '@toolenv/testing';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { reportView } from '../../src/display/report-view.ts';
import { fixture } from '../fixture.ts';
import { runCli } from '../run-cli.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-check-'));
});

describe('toolenv check', () => {
  it('passes a good environment, and says what it could not check', async () => {
    const { code, stdout, stderr } = await runCli(
      'check',
      fixture.env,
      '--actions',
      '50',
      '--option',
      'size=9',
      '--skip',
      'WARN-5',
      'WARN-9',
    );
    // On a slow machine, the bars of the check.
    const said = stderr.replaceAll(/^.*, (?:rules|actions) .*\n/gm, '');
    expect({ code, said }).toEqual({ code: 0, said: '' });
    expect(stdout).toMatch(/^✔ fixture-plugin\/lamp-v1 {2}\d\d rules hold\n/);
    expect(stdout).toContain('– ENV-32 The oracle wins: not checked, the definition has no oracle\n');
  });

  it('fails what is broken, and says how to fix it', async () => {
    const { code, stdout, stderr } = await runCli('check', fixture.policy, '--skip', 'POL-7');
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toContain(
      [
        '  ✘ POL-8 Cancellation',
        "      expected act() to reject with the signal's reason",
        '      received "{\\"text\\":',
      ].join('\n'),
    );
    expect(stdout).toContain('      hint     Reject with the reason of options.signal once it aborts.\n');
    expect(stdout).toContain('– POL-7 Overflow: not checked, it was left out by request\n');
  });

  it('checks a file of trajectories', async () => {
    const file = join(folder, 'trajectories.jsonl');
    await writeFile(file, '{"version":1}\n');
    const { code, stdout } = await runCli('check', file);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /✘ TRAJ-1 Form\n {6}expected .*must have required property 'env'\n {6}received .*trajectories\.jsonl:1\)/,
    );
  });

  it('checks a module that is not a plugin yet', async () => {
    const { code, stdout } = await runCli('check', join(fixture.folder, 'env.ts'), '--actions', '50');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^! lamp {2}\d\d rules hold, 2 warnings\n {2}! WARN-5 No oracle\n/);
    expect(stdout).toContain('\n  ! WARN-9 Tests that are learned\n');
    expect(stdout).toContain('received 30 of 30 tasks of validation, such as {"presses":0}\n');
    expect(stdout).toContain('Add to the definition: oracle: (task) => [task.answer],');
  });

  it('certifies an environment, and writes its certificate and its badge', async () => {
    const ref = '@toolenv/envs-classic/wordle-v1';
    const certificates = join(folder, 'certificates');
    const args = ['--actions', '20', '--panel', '8', '--certificate', certificates];
    const { code, stdout } = await runCli('check', ref, ...args);
    expect(code, stdout).toBe(0);
    expect(stdout).toContain(
      `✔ ${ref}, its certificate  7 rules hold\n  – CERT-8 Learnable: not checked, no policy`,
    );
    expect(stdout).toContain('\n  share   reward  of 9 tasks, the best of 16 players without the work\n');
    expect(stdout).toMatch(/\n {3}100 % {4}1\.10 {2}oracle\n/);
    const [json, badge] = ['json', 'svg'].map((kind) => join(certificates, `wordle-v1.${kind}`));
    expect(stdout.endsWith(`${json}\n${badge}\n`)).toBe(true);
    const certificate = JSON.parse(await readFile(json!, 'utf8'));
    expect(certificate).toMatchObject({
      env: ref,
      version: '0.0.0',
      tasks: 9,
      twins: 0,
      node: process.version,
    });
    expect(certificate.rules).toHaveLength(7);
    expect(certificate.panel.players).toHaveLength(16);
    expect(certificate.packages['@toolenv/core']).toBe('0.0.0');
    expect(await readFile(badge!, 'utf8')).toContain('aria-label="toolenv certified: wordle-v1 0.0.0"');
  });

  it('gives no certificate without an oracle, and fails', async () => {
    const certificates = join(folder, 'none');
    const args = ['--actions', '20', '--option', 'size=9', '--skip', 'WARN-5', 'WARN-9'];
    const { code, stdout } = await runCli('check', fixture.env, ...args, '--certificate', certificates);
    expect(code).toBe(1);
    expect(stdout).toContain('✘ fixture-plugin/lamp-v1, its certificate');
    expect(stdout).toContain('✘ CERT-1 A steady oracle');
    expect(existsSync(certificates)).toBe(false);
  });

  const wrong: [what: string, args: string[], message: RegExp][] = [
    [
      'an unknown reference',
      ['fixture-plugin/lamb-v1'],
      /^toolenv: Unknown environment .* Did you mean "fixture-plugin\/lamp-v1"\?\n$/,
    ],
    [
      'an unknown rule',
      [fixture.env, '--skip', 'ENV-99'],
      /^toolenv: --skip ENV-99: give the id of a rule, such as ENV-11\.\n$/,
    ],
    [
      'an unknown option',
      [fixture.env, '--option', 'sise=9'],
      /^toolenv: .* has no option "sise"\. Did you mean "size"\?\n$/,
    ],
    [
      'a folder that is no package',
      [tmpdir()],
      /^toolenv: .*package\.json cannot be read .*: name the folder of an npm package\.\n$/,
    ],
    [
      'a module without a plugin',
      [join(import.meta.dirname, '../run-cli.ts')],
      /^toolenv: .*run-cli\.ts has no plugin as its default export: use defineToolEnv, .* or definePolicy, as in .*\n$/,
    ],
    ['material that is no JSON', [fixture.env, '--material', '{'], /^toolenv: --material \{: give JSON\.\n$/],
  ];
  it.each(wrong)('refuses %s in one line, with exit code 2', async (_, args, message) => {
    const { code, stdout, stderr } = await runCli('check', ...args);
    expect(stderr).toMatch(message);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});

it('is coloured where the terminal shows it', () => {
  const report: Report = { subject: 'lamp', ok: false, findings: [], warnings: [], passed: [], skipped: [] };
  vi.stubEnv('FORCE_COLOR', '1');
  expect(reportView(report)).toContain('\u001b[31m✘\u001b[39m');
  vi.unstubAllEnvs();
  vi.stubEnv('NO_COLOR', '1');
  expect(reportView(report)).not.toContain('\u001b');
});
