/** The spec, the checks and the broken examples have the same rules, and the spec's schema files match the code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate, wireSchemas } from '@toolenv/core/schemas';
import { describe, expect, test } from 'vitest';
import { type RuleId, rules } from '../src/index.ts';
import { brokenPlugins } from './broken-plugins.ts';
import { brokenPolicies } from './broken-policies.ts';
import { brokenSandboxes } from './broken-sandboxes.ts';
import { brokenScorers } from './broken-scorers.ts';
import { brokenTools } from './broken-tools.ts';
import { brokenTrajectories } from './broken-trajectories.ts';
import { unlearnableEnvs, wrongEnvs } from './certify/wrong-envs.ts';
import { brokenEnvs } from './env/broken-envs.ts';
import { brokenLearners } from './learner/broken-learners.ts';
import { brokenTrainers } from './trainer/broken-trainers.ts';

const root = join(import.meta.dirname, '../../..');
const spec = readFileSync(join(root, 'packages/core/spec/v1.md'), 'utf8');
const known = Object.keys(rules) as RuleId[];
const id = /'((?:TOOL|ENV|WARN|CERT|POL|LRN|TRN|SBX|SCR|TRAJ|PLUG)-\d+)'/g;

/** Rule ids that the checks cite, by file. */
const kit = join(root, 'packages/testing/src');
const cited = readdirSync(kit, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && file !== 'rules.ts')
  .flatMap((file) =>
    [...readFileSync(join(kit, file), 'utf8').matchAll(id)].map((match) => ({ file, rule: match[1]! })),
  );

test('every rule of the spec has a check and the same title', () => {
  const written = [...spec.matchAll(/^- \*\*([A-Z]+-\d+) ([^*]+?)\.\*\*/gm)].map(([, rule, title]) => [
    rule,
    title,
  ]);
  expect(Object.fromEntries(written)).toEqual(
    Object.fromEntries(known.map((rule) => [rule, rules[rule].title])),
  );
  expect(written.length).toBe(known.length);
  const unchecked = known.filter((rule) => !cited.some((citation) => citation.rule === rule));
  expect(unchecked).toEqual([]);
});

test('no check cites a rule that the spec lacks', () => {
  expect(cited.length).toBeGreaterThan(known.length);
  expect(cited.filter(({ rule }) => !Object.hasOwn(rules, rule))).toEqual([]);
});

test('each rule has a broken example', () => {
  const broken = [
    brokenTools,
    brokenEnvs,
    brokenPolicies,
    brokenLearners,
    brokenTrainers,
    brokenSandboxes,
    brokenScorers,
    brokenTrajectories,
    brokenPlugins,
    Object.entries({ ...wrongEnvs, ...unlearnableEnvs }).map(([name, [rule]]) => [name, rule] as const),
  ];
  const shown = new Set(broken.flatMap((examples) => examples.map(([, rule]) => rule)));
  expect(known.filter((rule) => !shown.has(rule))).toEqual([]);
});

describe('schema files', () => {
  test.each(Object.entries(wireSchemas))('%s', async (name, schema) => {
    const { $schema: _, ...rest } = schema;
    const file = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: `toolenv v1: ${name}`,
      ...rest,
    };
    await expect(`${JSON.stringify(file, null, 2)}\n`).toMatchFileSnapshot(
      join(root, `packages/core/spec/${name}.schema.json`),
    );
    expect(() => validate(schema, {})).not.toThrow();
    expect(spec).toContain(`(${name}.schema.json)`);
  });

  test('there are no other schema files', () => {
    const files = readdirSync(join(root, 'packages/core/spec')).filter((file) => file.endsWith('.json'));
    expect(files).toEqual(
      Object.keys(wireSchemas)
        .map((name) => `${name}.schema.json`)
        .sort(),
    );
  });
});
