/** Shows the commands of npm in a page for pnpm and bun too. The Markdown keeps npm's, which GitHub shows and tests run. */
import type { MarkdownRenderer } from 'vitepress';

type Manager = 'pnpm' | 'bun';

/** A command of npm at the beginning of a line, and what other programs call it. */
const commands: readonly [npm: RegExp, others: Record<Manager, string>][] = [
  [/^npm init -y$/, { pnpm: 'pnpm init', bun: 'bun init -y' }],
  [/^npm install$/, { pnpm: 'pnpm install', bun: 'bun install' }],
  [/^npm install (?:-D|--save-dev) /, { pnpm: 'pnpm add -D ', bun: 'bun add -d ' }],
  [/^npm install (?=[@a-z])/, { pnpm: 'pnpm add ', bun: 'bun add ' }],
  [/^npm create (\S+) (.*?) -- /, { pnpm: 'pnpm create $1 $2 ', bun: 'bun create $1 $2 ' }],
  [/^npm create (?!.* -- )/, { pnpm: 'pnpm create ', bun: 'bun create ' }],
  [/^npm test$/, { pnpm: 'pnpm test', bun: 'bun run test' }],
  [/^npx (?=[@a-z])/, { pnpm: 'pnpm exec ', bun: 'bunx ' }],
];

/** A plugin of markdown-it: blocks whose commands all have counterparts become groups of tabs. */
export function packageManagers(markdown: MarkdownRenderer): void {
  markdown.core.ruler.after('normalize', 'package-managers', (state) => {
    state.src = withGroups(state.src);
  });
}

/** The Markdown with a group for each block of commands of npm that users of the packages type. */
export function withGroups(text: string): string {
  return text.replaceAll(/^```sh\n([\s\S]*?)^```$/gm, (block, code: string) => {
    const pnpm = translated(code, 'pnpm');
    const bun = translated(code, 'bun');
    if (pnpm === undefined || bun === undefined) return block;
    const tabs = [
      ['npm', code],
      ['pnpm', pnpm],
      ['bun', bun],
    ].map(([name, lines]) => `\`\`\`sh [${name}]\n${lines}\`\`\`\n`);
    return `::: code-group\n\n${tabs.join('\n')}\n:::`;
  });
}

/** `undefined` if the block has no command of npm, or a command that only npm has here: clones of the repository use its workspaces. */
function translated(code: string, manager: Manager): string | undefined {
  const lines = code.split('\n').map((line) => {
    if (!/^(npm|npx) /.test(line)) return line;
    const [pattern, others] = commands.find(([pattern]) => pattern.test(line)) ?? [];
    return pattern && line.replace(pattern, others![manager]);
  });
  if (lines.includes(undefined) || lines.join('\n') === code) return undefined;
  return lines.join('\n');
}
