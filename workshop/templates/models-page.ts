/** `npm run models`: tries the chat templates of real models, and writes docs/models.md, which says what works. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '@toolenv/core';
import type { Ability } from '@toolenv/core/plugins';
import { Chat } from '../../packages/policy/src/chat/chat.ts';
import { chatAbilities } from '../../packages/policy/src/chat/chat-abilities.ts';
import { pythonWith } from '../interop/python-environment.ts';
import { buildTokenizer, tinyDesign } from '../tiny-policy/tokenizer.ts';
import { type Comparison, compareTemplates } from './compare.ts';

interface Row extends Comparison {
  chat?: Chat;
  abilities: Record<string, Ability>;
}

const page = join(import.meta.dirname, '../../docs/models.md');
let failures = 0;
const comparisons = await compareTemplates(pythonWith('transformers'), (passed, title, otherwise) => {
  if (passed) return;
  failures += 1;
  console.error(`failed: ${title}: ${otherwise}`);
});
const rows = comparisons.map(tryTemplate);
await writeFile(page, pageOf(rows));
console.log(`${page} has ${rows.length} templates`);
process.exitCode = failures === 0 ? 0 : 1;

/** A chat with the template and a stand-in for its tokenizer: templates work on texts. */
function tryTemplate(comparison: Comparison): Row {
  const open = (end: string) => {
    const { tokenizer } = buildTokenizer({ ...tinyDesign([]), joinsLines: false });
    const added = tokenizer.added_tokens as { id: number; content: string }[];
    const known = added.find(({ content }) => content === end);
    const id = known?.id ?? 1 + Math.max(...added.map((token) => token.id));
    if (!known) added.push({ ...added[0]!, id, content: end });
    const tokenizerConfig = { chat_template: comparison.source, bos_token: '<s>', eos_token: '</s>' };
    return new Chat({ folder: comparison.name, tokenizer, tokenizerConfig, endTokens: [id] });
  };
  try {
    const { ending } = open('<|im_end|>').form;
    const chat = open(ending.split('\n')[0] || '<|im_end|>');
    const abilities = Object.fromEntries(chatAbilities(chat).map((ability) => [ability.name, ability]));
    return { ...comparison, chat, abilities };
  } catch (error) {
    const how = messageOf(error);
    return { ...comparison, abilities: { renders: { name: 'renders', does: false, how } } };
  }
}

/** Whether the template tells the model of tools itself, and its own calls come back. */
function isNative({ chat, abilities }: Row): boolean {
  return chat?.form.toolsName !== undefined && abilities.calls?.does === true;
}

function pageOf(all: readonly Row[]): string {
  const tried = all.map(({ equal, refused, differ }) => equal + refused + differ);
  const same = all.filter(({ differ }) => differ === 0).length;
  const native = all.filter(isNative);
  const prompted = all.filter(({ chat }) => chat && chat.form.toolsName === undefined);
  const read = prompted.filter(({ abilities }) => abilities.calls?.does);
  const parallel = native.filter(({ abilities }) => abilities['parallel calls']?.does).length;
  const without = all.filter((row) => !isNative(row) && !read.includes(row));
  return `# Which models work

A model plays and learns here if its architecture is [supported](../packages/policy/README.md) and its chat template can be used. Of ${all.length} templates of real models, which llama.cpp and TRL publish,
${native.length + read.length} can be used with tools. For any other model, run \`npx toolenv check hf:<owner>/<name>\`: it tries the template and the tokenizer.

- **${same} of ${all.length} render as in transformers**, in ${Math.max(...tried)} conversations each. Where transformers refuses a conversation, so does toolenv.
- **${native.length} show tools, and toolenv reads their calls back**; for ${parallel} of them, also several calls of a turn.
- **${prompted.length} show no tools.** The tool prompt describes tools in the system message, with calls as JSON in \`<tool_call>\`, and a run warns once. With ${read.length} of these, such calls are read back.
- An environment with tools refuses the others by name. The option \`toolPrompt: true\`, or \`--tool-prompt\`, describes tools in the system message instead.

| column | meaning |
| --- | --- |
| renders | conversations that have the same text as in transformers, and conversations that both refuse |
| tools | \`template\`: the template shows tools; \`prompt\`: the tool prompt describes tools |
| calls | the format that reads the template's calls back; \`parallel\`: also several calls of a turn |
| thoughts | the marks of thoughts, which are separated before calls are read |
| prefix | whether the next prompt begins with the last one and its turn. Where it does not, a rollout keeps the sampled tokens all the same |

| templates | renders | tools | calls | thoughts | prefix |
| --- | --- | --- | --- | --- | --- |
${grouped(all, cells).join('\n')}

## Templates that cannot be used with tools as they are

| templates | why | what happens |
| --- | --- | --- |
${grouped(without, reasonCells).join('\n')}

\`npm run models\` writes this page. It needs Python and PyPI.
`;
}

/** A line of a table for each group of templates whose other cells are equal. */
function grouped(rows: readonly Row[], cellsOf: (row: Row) => string[]): string[] {
  const groups = new Map<string, string[]>();
  for (const row of rows) {
    const cells = cellsOf(row).join(' | ');
    groups.set(cells, [...(groups.get(cells) ?? []), row.name]);
  }
  return [...groups].map(([cells, names]) => `| ${shortened(names).join(', ')} | ${cells} |`);
}

/** Names without those of templates that TRL changed for training and that are equal otherwise. */
function shortened(names: readonly string[]): string[] {
  const isVariant = (name: string) =>
    name.endsWith('_training') && names.includes(name.slice(0, -'_training'.length));
  return names.filter((name) => !isVariant(name));
}

function cells(row: Row): string[] {
  const { equal, refused, differ, chat, abilities } = row;
  const texts = [
    `${equal} equal`,
    ...(refused ? [`${refused} refused`] : []),
    ...(differ ? [`**${differ} differ**`] : []),
  ];
  const form = chat?.form;
  const yes = (ability: string) => (abilities[ability]?.does ? 'yes' : 'no');
  const calls = isNative(row) ? form!.format!.name : 'no';
  return [
    texts.join(', '),
    form === undefined ? 'no' : form.toolsName === undefined ? 'prompt' : 'template',
    isNative(row) && abilities['parallel calls']?.does ? `${calls}, parallel` : calls,
    form === undefined ? '' : code(`${form.thoughts.open} ${form.thoughts.close}`),
    yes('prefix'),
  ];
}

function reasonCells({ chat, abilities }: Row): string[] {
  const showsNone = chat !== undefined && chat.form.toolsName === undefined;
  const problem = chat === undefined || showsNone ? abilities.renders!.how : chat.form.problem;
  const then = showsNone
    ? `the tool prompt cannot be used either: ${abilities.calls?.how}`
    : 'refused by name with tools; the tool prompt by option';
  return [code(problem ?? abilities.calls!.how), then.replaceAll('|', '\\|').replaceAll('<', '&lt;')];
}

function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|').replaceAll('`', "'").replaceAll('\n', ' ')}\``;
}
