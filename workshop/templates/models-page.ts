/** `npm run models`: tries the chat templates of real models, and writes docs/models.md, which says what works. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '@toolenv/core';
import type { Ability } from '@toolenv/core/plugins';
import { Chat } from '../../packages/policy/src/chat/chat.ts';
import { chatAbilities } from '../../packages/policy/src/chat/chat-abilities.ts';
import { pythonWithTransformers } from '../interop/python-environment.ts';
import { buildTokenizer, tinyDesign } from '../tiny-policy/tokenizer.ts';
import { type Comparison, compareTemplates } from './compare.ts';

interface Row extends Comparison {
  chat?: Chat;
  abilities: Record<string, Ability>;
}

const page = join(import.meta.dirname, '../../docs/models.md');
let failures = 0;
const comparisons = await compareTemplates(pythonWithTransformers(), (passed, title, otherwise) => {
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
  const without = all.filter((row) => !isNative(row));
  return `# Which models work

A model plays and learns here if its architecture is [supported](../packages/policy/README.md) and its chat template can be used. This page is about chat templates: a script tried
${all.length} templates of real models, which llama.cpp and TRL publish. For any other model, run \`npx toolenv check hf:<owner>/<name>\`: it tries the template and the tokenizer.

- **${same} of ${all.length} render as in transformers**, in ${Math.max(...tried)} conversations each, with calls, parallel calls, thoughts and forged special tokens. Where transformers refuses a conversation, so
  does toolenv.
- **${native.length} show tools to the model, and toolenv reads their calls**: a call that the template writes is read back equal. For ${parallel} of them, so are several calls of a turn.
- **${prompted.length} show no tools**, so the model would never know of them. The tool prompt describes tools in the system message, with calls as JSON in \`<tool_call>\`, and a run warns once. With
  ${read.length} of these templates, such calls are read back equal.
- The others show tools, but leave calls out, refuse calls, or write calls in an unknown format. An environment with tools refuses such a model and names the reason. The option
  \`toolPrompt: true\`, or \`--tool-prompt\`, describes tools in the system message instead.

| column | meaning |
| --- | --- |
| renders | conversations that have the same text as in transformers, and conversations that both refuse |
| tools | \`template\`: the template shows tools; \`prompt\`: the tool prompt describes tools |
| calls | the format that reads the template's calls back |
| parallel | whether several calls of a turn are read back |
| thoughts | the marks of thoughts, which are separated before calls are read |
| prefix | whether the next prompt begins with the last one and its turn. Where it does not, a rollout keeps the sampled tokens all the same |

| template | renders | tools | calls | parallel | thoughts | prefix |
| --- | --- | --- | --- | --- | --- | --- |
${all.map(line).join('\n')}

## Templates whose own calls are not used

| template | why | what happens |
| --- | --- | --- |
${without.map(reasonOf).join('\n')}

\`npm run models\` writes this page. It needs Python and PyPI.
`;
}

function line(row: Row): string {
  const { name, equal, refused, differ, chat, abilities } = row;
  const texts = [
    `${equal} equal`,
    ...(refused ? [`${refused} refused`] : []),
    ...(differ ? [`**${differ} differ**`] : []),
  ];
  const form = chat?.form;
  const yes = (ability: string) => (abilities[ability]?.does ? 'yes' : 'no');
  const calls = isNative(row) ? form!.format!.name : 'no';
  return `| ${[
    name,
    texts.join(', '),
    form === undefined ? 'no' : form.toolsName === undefined ? 'prompt' : 'template',
    calls,
    isNative(row) ? yes('parallel calls') : 'no',
    form === undefined ? '' : code(`${form.thoughts.open} ${form.thoughts.close}`),
    yes('prefix'),
  ].join(' | ')} |`;
}

function reasonOf({ name, chat, abilities }: Row): string {
  const why =
    chat === undefined
      ? abilities.renders!.how
      : chat.form.toolsName === undefined && !abilities.renders?.does
        ? abilities.renders!.how
        : chat.form.toolsName === undefined
          ? 'shows no tools'
          : (chat.form.problem ?? abilities.calls!.how);
  const then =
    chat?.form.toolsName === undefined && chat !== undefined
      ? abilities.calls?.does
        ? 'the tool prompt describes tools, and calls are read back'
        : `the tool prompt cannot be used either: ${abilities.calls?.how}`
      : 'refused by name with tools; the tool prompt by option';
  return `| ${name} | ${code(why)} | ${then.replaceAll('|', '\\|').replaceAll('<', '&lt;')} |`;
}

function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|').replaceAll('`', "'").replaceAll('\n', ' ')}\``;
}
