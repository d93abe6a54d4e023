/** The examples in the hands of a stranger: a copy of each compiles against the installed packages and passes its check. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt } from './attempt.ts';
import type { Sandbox } from './sandbox.ts';
import { seed } from './seed.ts';

const examples = join(import.meta.dirname, '../../examples');

/** The examples that are plugins; their default export is checked. */
const plugins = [
  'bank',
  'best-of-n',
  'critic-advantage',
  'memory-graph',
  'own-advantage',
  'own-loss',
  'wordle',
];
const packages = [
  'toolenv',
  '@toolenv/core',
  '@toolenv/mcp',
  '@toolenv/testing',
  '@toolenv/trainer-grpo',
  '@toolenv/trainer-ppo',
  '@toolenv/training',
  '@modelcontextprotocol/server-memory@2026.8.31',
  'typescript@7.0.2',
  '@types/node@20.19.43',
];

/** A program that trains with the loss and the estimators of the examples. */
const ownParts = `import { BanditModel, openBandit } from '@toolenv/testing';
import { grpo } from '@toolenv/trainer-grpo';
import { ppo } from '@toolenv/trainer-ppo';
import { train } from '@toolenv/training';
import criticAdvantage from './critic-advantage.js';
import ownAdvantage from './own-advantage.js';
import ownLoss from './own-loss.js';

const env = await openBandit({ best: 1 });
const loss = ownLoss({ width: 0.3 });
const trainers = {
  grpo: grpo({ loss, advantage: ownAdvantage }),
  ppo: ppo({ loss, advantage: criticAdvantage, criticWarmup: 0, tasksPerStep: 8 }),
};
for (const [name, trainer] of Object.entries(trainers)) {
  const policy = new BanditModel();
  for await (const _ of train({ env, policy, trainer, steps: 1, maxTokens: 8, out: \`runs/\${name}\` }));
  if (policy.logits.every((logit) => logit === 0)) throw new Error(\`The step of \${name} changed no weight.\`);
}
`;

export async function checkExamples(sandbox: Sandbox): Promise<void> {
  const { run } = sandbox;
  const folder = join(sandbox.folder, 'examples');
  await mkdir(folder);
  await seed(folder, sandbox);
  const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, types: ['node'] };
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
  await writeFile(join(folder, '.npmrc'), 'ignore-scripts=true\n');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  for (const name of plugins) await copyFile(join(examples, `${name}.ts`), join(folder, `${name}.ts`));
  await writeFile(join(folder, 'own-parts.ts'), ownParts);
  const installed = await attempt('examples: npm install', () =>
    run('npm', ['install', ...packages], folder),
  );
  if (!installed || !(await attempt('examples: tsc', () => run('npx', ['tsc'], folder)))) return;
  for (const name of plugins) {
    // Each episode of memory-graph starts a server.
    const fewer = name === 'memory-graph' ? ['--actions', '20'] : [];
    await attempt(`examples: toolenv check ${name}.js`, () =>
      run('npx', ['toolenv', 'check', `${name}.js`, ...fewer], folder),
    );
  }
  // tsx is not installed here.
  await attempt('examples: TypeScript is read, or the error names what reads it', async () => {
    await writeFile(join(folder, 'typed.ts'), 'const none: number = 0;\nexport default none;\n');
    const expected =
      'typescript' in process.features && process.features.typescript
        ? 'no plugin as its default export'
        : 'npm install --save-dev tsx';
    const failed: Error = await run('npx', ['toolenv', 'check', 'typed.ts'], folder).then(
      () => new Error('no error'),
      (error) => error,
    );
    if (!failed.message.includes(expected)) throw failed;
  });
  await attempt('examples: a step with a loss and an estimator of the user', () =>
    run('node', ['own-parts.js'], folder),
  );
}
