/** The text of the gallery: a section for each environment, by package. */
import type { Environment } from './environments.ts';

export interface Entry extends Environment {
  description: string;
  hasCurve: boolean;
  /** What the study of the library says. */
  scores?: string | undefined;
}

const head = `# Environments

Every environment that a package of toolenv declares, with an episode of its oracle, which knows the answer. \`eval\` scores a policy, \`train\` takes the same arguments, and
\`play\` lets you play. [The reference](https://toolenv.github.io/toolenv/reference/) has the options. [Write an environment](../guides/environment.md) adds yours. \`npm run gallery\` makes this page.
`;

export function galleryPage(entries: readonly Entry[]): string {
  const folders = [...new Set(entries.map(({ folder }) => folder))];
  const sections = folders.map((folder) =>
    [
      `## @toolenv/${folder}\n`,
      `[Its README](../../packages/${folder}/README.md) says how they are scored.\n`,
      ...entries.filter((entry) => entry.folder === folder).map(sectionOf),
    ].join('\n'),
  );
  return [head, ...sections].join('\n');
}

function sectionOf({ ref, name, description, flags, task, isRemote, hasCurve, run, scores }: Entry): string {
  const drawn = task === undefined ? `An episode of ${name}` : `A task of ${name} and its solution`;
  const policy = run ? 'node_modules/@toolenv/checkpoints/tiny --max-tokens 64' : 'my-checkpoint';
  const command = ['npx toolenv eval', ref, flags, '--policy', policy].filter((part) => part !== undefined);
  const curve = hasCurve ? `\n![A training in ${name}](${name}-curve.svg)` : '';
  const measured = scores ? `${scores}\n\n` : '';
  const picture = isRemote ? '' : `![${drawn}](${name}.svg)${curve}\n\n`;
  return `### ${name}\n\n${description}\n\n${picture}${measured}\`\`\`sh\n${command.join(' ')}\n\`\`\`\n`;
}
