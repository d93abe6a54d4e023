/**
 * An author may move every part of a template's definition out of it, as a constant or a function, and TypeScript still accepts the types. Each part is moved
 * alone, and then all at once.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { repository } from '../../site/pages.ts';
import { typeErrors } from '../test/type-errors.ts';

interface Template {
  file: string;
  /** Imports and types that the parts need. */
  given: string;
  /** Types that a part must name outside of the definition: the text that is replaced, and the same text with its type. */
  typed?: Readonly<Record<string, readonly (readonly [string, string])[]>>;
}

const safe = 'interface Safe { code: number }';
const drawn = [
  '({ options, seed })',
  '({ options, seed }: { options: { tasks: number }; seed: number })',
] as const;
const ofTask = ['({ code })', '({ code }: Safe)'] as const;

const templates: Template[] = [
  {
    file: 'templates/env/src/safe-v1.ts',
    given: `import type { Episode, EpisodeContext } from '@toolenv/core'; ${safe}`,
    typed: {
      tasks: [drawn],
      rewards: [['({ answer, task })', '({ answer, task }: EpisodeContext<Safe>)']],
      episode: [['({ task: { code } })', "({ task: { code } }: EpisodeContext<Safe>): Episode<'narrowed'>"]],
      oracle: [ofTask],
      label: [ofTask],
    },
  },
  {
    file: 'templates/agent/src/safe-agent-v1.ts',
    given: `import type { AgentContext, AgentEpisodeContext } from '@toolenv/gateway'; ${safe} interface Range { low: number; high: number }`,
    typed: {
      tasks: [drawn],
      agent: [['baseURL, apiKey, signal })', 'baseURL, apiKey, signal }: AgentContext<Safe, Range>)']],
      rewards: [
        [
          '({ result, task })',
          '({ result, task }: AgentEpisodeContext<Safe, Range, unknown, unknown, string>)',
        ],
      ],
      oracle: [ofTask],
      label: [ofTask],
    },
  },
  { file: 'templates/mcp-env/src/warehouse-v1.ts', given: '' },
  {
    file: 'templates/tool/src/search-v1.ts',
    given: '',
    typed: { create: [['({ documents, topK })', '({ documents, topK }: SearchMaterial)']] },
  },
  {
    file: 'templates/trainer/src/reinforce-v1.ts',
    given: "import type { Algorithm, AlgorithmContext } from '@toolenv/training';",
    typed: {
      create: [['optimize })', 'optimize }: AlgorithmContext<ReinforceOptions>): Algorithm']],
    },
  },
];

/** The definition in a template: what is before it, its parts by name, and what is after. */
function definitionIn(source: string): { before: string; parts: Map<string, string>; after: string } {
  const [, before, body, after] = /^([\s\S]*? define\w+(?:<\w+>)?\(\{\n)([\s\S]*?)(^\}\);[\s\S]*)$/m.exec(
    source,
  )!;
  const parts = new Map<string, string>();
  // Without comments between parts. A part begins at two spaces, and its further lines at more.
  const lines = body!.split('\n').filter((line) => !/^ {2}(\/\/|\/\*)/.test(line));
  let name = '';
  for (const line of lines) {
    name = /^ {2}(?:async )?(\w+)/.exec(line)?.[1] ?? name;
    parts.set(name, `${parts.get(name) ?? ''}${line}\n`);
  }
  return { before: before!, parts, after: after! };
}

/** A part as a declaration of its own. */
function declared(name: string, part: string, typed: readonly (readonly [string, string])[] = []): string {
  let text = part.trim().replace(/,$/, '');
  for (const [bare, annotated] of typed) {
    expect(text, `${name} of the template`).toContain(bare);
    text = text.replace(bare, annotated);
  }
  if (text.startsWith('async ')) return `async function ${text.slice('async '.length)}`;
  if (text.startsWith(`${name}(`)) return `function ${text}`;
  const value = text.slice(`${name}: `.length);
  return `const ${name} = ${value}${/^[{[]/.test(value) ? ' as const' : ''};`;
}

test('parts of the templates’ definitions may stand outside of them', async () => {
  const folder = await mkdtemp(join(repository, 'workshop/process-test/factored-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const counts: Record<string, number> = {};
  for (const { file, given, typed = {} } of templates) {
    const { before, parts, after } = definitionIn(await readFile(join(repository, file), 'utf8'));
    counts[file] = parts.size;
    const others = [...parts.keys()];
    for (const outside of [...others.map((name) => [name]), others]) {
      const functions = outside.map((name) => declared(name, parts.get(name)!, typed[name]));
      const body = others.map((name) => (outside.includes(name) ? `  ${name},\n` : parts.get(name)!));
      // A part may use what the template declares before its definition.
      const start = before.search(/^(?:export default|const \w+(?:: .*)? =) ?(?:\S+ = )?define\w+[^\n]*\n$/m);
      const program = [given, before.slice(0, start), ...functions, before.slice(start), ...body, after].join(
        '\n',
      );
      const name = outside.length > 1 ? 'all' : outside[0]!;
      const at = join(folder, file.split('/')[1]!);
      await mkdir(at, { recursive: true });
      await writeFile(
        join(at, `${name}.ts`),
        program.replaceAll("'./safe-agent.ts'", "'../../../../templates/agent/src/safe-agent.ts'"),
      );
    }
  }
  // All parts were found.
  expect(counts).toEqual({
    'templates/env/src/safe-v1.ts': 9,
    'templates/agent/src/safe-agent-v1.ts': 11,
    'templates/mcp-env/src/warehouse-v1.ts': 5,
    'templates/tool/src/search-v1.ts': 4,
    'templates/trainer/src/reinforce-v1.ts': 5,
  });
  expect(await typeErrors(folder, { noUnusedLocals: false })).toBe('');
});
