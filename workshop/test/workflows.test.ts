/** What GitHub runs: pinned, bounded, and also for the pull request that raises versions. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { repositoryAddress } from '../../site/addresses.ts';
import { repository } from '../../site/pages.ts';

// The package has no types.
const { load } = createRequire(import.meta.url)('js-yaml') as { load(text: string): unknown };

interface Step {
  id?: string;
  if?: string;
  run?: string;
  uses?: string;
}
interface Workflow {
  name: string;
  on: Record<string, unknown>;
  concurrency?: string | { group: string };
  permissions?: Record<string, string>;
  jobs: Record<string, { 'timeout-minutes'?: number; permissions?: Record<string, string>; steps: Step[] }>;
}

const folder = join(repository, '.github');
const read = (file: string) => load(readFileSync(join(folder, file), 'utf8'));
const files = readdirSync(join(folder, 'workflows'));
const workflows = new Map(files.map((file) => [file, read(`workflows/${file}`) as Workflow]));
const stepsOf = (file: string) => Object.values(workflows.get(file)!.jobs).flatMap(({ steps }) => steps);

describe.each(files)('%s', (file) => {
  const workflow = workflows.get(file)!;

  test('runs once at a time, with named permissions and a limit of time', () => {
    expect(workflow.concurrency).toBeDefined();
    expect(workflow.permissions).toBeDefined();
    for (const job of Object.values(workflow.jobs)) expect(job['timeout-minutes']).toBeGreaterThan(0);
  });

  test('pins the actions of others by commit, with their version', () => {
    const text = readFileSync(join(folder, 'workflows', file), 'utf8');
    const uses = [...text.matchAll(/^\s*-?\s*uses:\s*(.+)$/gm)].map((match) => match[1]!);
    expect(uses.filter((action) => !action.startsWith('./'))).toEqual(
      uses.filter((action) => /^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action)),
    );
  });
});

test('CI runs on the pull request that raises versions', () => {
  expect(workflows.get('ci.yml')!.on).toHaveProperty('workflow_dispatch');
  const steps = stepsOf('release.yml');
  const changesets = steps.findIndex(({ uses }) => uses?.startsWith('changesets/action@'));
  const start = steps.findIndex(({ run }) => run === 'gh workflow run ci.yml --ref changeset-release/main');
  expect(start).toBeGreaterThan(changesets);
  expect(steps[start]!.if).toBe(`steps.${steps[changesets]!.id}.outputs.pullRequestNumber`);
  expect(workflows.get('release.yml')!.permissions).toMatchObject({ actions: 'write', 'id-token': 'write' });
});

test('the site is built for the address in package.json, and published', () => {
  const steps = stepsOf('site.yml');
  expect(steps.find(({ run }) => run?.endsWith('npm run docs'))!.run).toContain('npm pkg get homepage');
  expect(workflows.get('site.yml')!.jobs.deploy!.permissions).toEqual({
    pages: 'write',
    'id-token': 'write',
  });
});

test('dependencies of every kind are raised', () => {
  const { updates } = read('dependabot.yml') as { updates: { 'package-ecosystem': string }[] };
  expect(updates.map((each) => each['package-ecosystem']).sort()).toEqual(['github-actions', 'npm', 'pip']);
});

test('an issue and a pull request begin with a form', () => {
  for (const file of ['ISSUE_TEMPLATE/bug.yml', 'ISSUE_TEMPLATE/proposal.yml'])
    expect(read(file), file).toMatchObject({ name: expect.any(String), body: expect.any(Array) });
  expect(readFileSync(join(folder, 'pull_request_template.md'), 'utf8')).toContain('npm run check');
});

test('a vulnerability is not reported as an issue', () => {
  const { contact_links: links } = read('ISSUE_TEMPLATE/config.yml') as { contact_links: { url: string }[] };
  expect(links.map(({ url }) => url)).toEqual([`${repositoryAddress}/security/advisories/new`]);
});
