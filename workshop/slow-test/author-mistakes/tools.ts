/** Mistakes in tools, tool plugins, files of tasks, MCP environments and agents. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of modules
import type { Mistake } from './mistake.ts';

const price = `
import { defineTool, defineToolEnv, text } from '@toolenv/core';

const cents: Record<string, number> = { apple: 30, pear: 45 };
const price = defineTool({
  name: 'price',
  description: 'The price of a fruit, in cents.',
  inputSchema: { type: 'object', properties: { fruit: { type: 'string' } }, required: ['fruit'] },
  async execute({ fruit }) {
    const each = cents[fruit];
    if (each === undefined) return { ...text('There is no such fruit.'), isError: true };
    return text(String(each));
  },
});

export default defineToolEnv({
  name: 'price-v1',
  description: 'Ask for a price.',
  limits: { maxTurns: 4 },
  tasks: { train: [{ fruit: 'apple' }, { fruit: 'pear' }] },
  rewards: { right: { kind: 'outcome', score: ({ answer, task }) => Number(answer === String(cents[task.fruit])) } },
  episode: ({ task }) => ({ messages: \`What does this cost: \${task.fruit}?\`, tools: [price] }),
  oracle: ({ fruit }) => [[{ name: 'price', arguments: { fruit } }], String(cents[fruit])],
});
`;

const search = `
import { defineTool, defineToolPlugin, text } from '@toolenv/core';

export interface SearchMaterial {
  documents: readonly { title: string; text: string }[];
  topK: number;
}

export default defineToolPlugin<SearchMaterial>({
  name: 'search-v1',
  description: 'Search for a word',
  example: {
    material: { documents: [{ title: 'Ada', text: 'Ada wrote the first program.' }], topK: 1 },
    calls: [{ query: 'program' }],
  },
  async create({ documents, topK }) {
    return defineTool({
      name: 'search',
      description: 'Find documents.',
      inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
      async execute({ query }) {
        const found = documents.filter((document) => document.text.includes(query)).slice(0, topK);
        return text(found.map(({ title }) => title).join(', ') || 'No document found.');
      },
    });
  },
});
`;

const quiz = `
import { defineToolEnv } from '@toolenv/core';
import { dataset } from '@toolenv/dataset';

const map = (row: { country: string; capital: string }) => ({ country: row.country, capital: row.capital });

export default defineToolEnv({
  name: 'quiz-v1',
  description: 'Name a capital.',
  tasks: { train: dataset(new URL('rows.csv', import.meta.url), { map }) },
  rewards: { right: { kind: 'outcome', score: ({ answer, task }) => Number(answer === task.capital) } },
  episode: ({ task }) => ({ messages: \`What is the capital of \${task.country}?\` }),
  oracle: ({ capital }) => [capital],
});
`;
export const rows = { 'rows.csv': 'country,capital\nPeru,Lima\nKenya,Nairobi\n' };

const sums = `
import { fileURLToPath } from 'node:url';
import { defineMcpEnv } from '@toolenv/mcp';

const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));

export default defineMcpEnv({
  name: 'sums-v1',
  description: 'Sums, with a tool.',
  server: { command: process.execPath, args: [program] },
  only: ['get-sum'],
  tasks: [
    { prompt: 'What is 17 + 25?', answer: '42', split: 'train' },
    { prompt: 'What is 30 + 4?', answer: ['34', '34.'] },
  ],
});
`;

const agent = `
import { defineAgentEnv } from '@toolenv/gateway';

async function capitalOf(country: string, baseURL: string, apiKey: string): Promise<string> {
  const response = await fetch(\`\${baseURL}/chat/completions\`, {
    method: 'POST',
    headers: { authorization: \`Bearer \${apiKey}\`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'policy', messages: [{ role: 'user', content: \`The capital of \${country}?\` }] }),
  });
  if (!response.ok) throw new Error(await response.text());
  const { choices } = (await response.json()) as { choices: [{ message: { content: string } }] };
  return choices[0].message.content;
}

export default defineAgentEnv({
  name: 'capitals-v1',
  description: 'Names the capital of a country.',
  capabilities: { seedable: true },
  limits: { maxTurns: 4 },
  tasks: { train: [{ country: 'Peru', capital: 'Lima' }, { country: 'Kenya', capital: 'Nairobi' }] },
  agent: ({ task, baseURL, apiKey }) => capitalOf(task.country, baseURL, apiKey),
  rewards: { right: { kind: 'outcome', score: ({ result, task }) => Number(result === task.capital) } },
  oracle: ({ capital }) => [capital],
});
`;
export const right: Readonly<Record<string, string>> = { price, search, quiz, sums, agent };

const body =
  "const each = cents[fruit];\n    if (each === undefined) return { ...text('There is no such fruit.'), isError: true };\n    return text(String(each));";

export const toolMistakes: readonly Mistake[] = [
  {
    did: 'a tool without a return',
    in: price,
    edits: [['return text(String(each));', 'text(String(each));']],
    says: /it returned nothing: return a text, or a result such as text\('…'\)/,
  },
  {
    did: 'a tool that returns a number',
    in: price,
    edits: [[body, 'return (cents[fruit] ?? 0) as unknown as ReturnType<typeof text>;']],
    says: /has no "content" array of blocks: return a text/,
  },
  {
    did: 'content as a text',
    in: price,
    edits: [['return text(String(each));', 'return { content: String(each) };']],
    says: /has no "content" array of blocks: return a text/,
  },
  {
    did: 'a tool that throws at a mistake of the model',
    in: price,
    edits: [
      [
        "return { ...text('There is no such fruit.'), isError: true }",
        "throw new Error('There is no such fruit.')",
      ],
    ],
    says: /WARN-6[\s\S]*There is no such fruit[\s\S]*Return failure\('/,
  },
  {
    did: 'a tool that hangs',
    in: price,
    edits: [[body, 'await new Promise(() => {});\n    return text(String(cents[fruit]));']],
    says: /ENV-28[\s\S]*nothing within 10000 ms/,
  },
  {
    did: 'parameters for inputSchema',
    in: price,
    edits: [['inputSchema:', 'parameters:']],
    says: /Tool "price" has no "inputSchema": rename "parameters"/,
  },
  {
    did: 'run for execute',
    in: price,
    edits: [['async execute(', 'async run(']],
    says: /Tool "price" has no "execute": rename "run"/,
  },
  {
    did: 'a type that JSON Schema lacks',
    in: price,
    edits: [["{ fruit: { type: 'string' } }", "{ fruit: { type: 'str' } }"]],
    says: /inputSchema of tool "price"\s+received .*properties\/fruit\/type must be equal to one of [\s\S]*Write a JSON Schema/,
  },
  {
    did: 'a property as a text',
    in: price,
    edits: [["{ fruit: { type: 'string' } }", "{ fruit: 'string' }"]],
    says: /inputSchema of tool "price"\s+received .*properties\/fruit must be object/,
  },
  {
    did: 'a required property that is not there',
    in: price,
    edits: [["required: ['fruit']", "required: ['fruits']"]],
    says: /"required" of tool "price" to name properties\s+received "fruits"/,
  },
  {
    did: 'a pattern that is none',
    in: price,
    edits: [["{ type: 'string' }", "{ type: 'string', pattern: '[a-z' }"]],
    says: /inputSchema of tool "price"\s+received .*Invalid regular expression: \/\[a-z/,
  },
  {
    did: 'a $ref to nowhere',
    in: price,
    edits: [["{ type: 'string' }", "{ $ref: '#/$defs/fruit' }"]],
    says: /inputSchema of tool "price"\s+received .*can't resolve reference #\/\$defs\/fruit/,
  },
  {
    did: 'a tool name with a space',
    in: price,
    edits: [["  name: 'price',\n", "  name: 'get price',\n"]],
    says: /received "get price"[\s\S]*"get_price"/,
  },
  {
    did: 'no description of a tool',
    in: price,
    edits: [["  description: 'The price of a fruit, in cents.',\n", '']],
    says: /\/tools\/0\/description must have required property/,
  },
  {
    did: 'the timeout of a tool in seconds',
    in: price,
    edits: [
      ["  name: 'price',\n  description: 'The", "  name: 'price',\n  timeout: 5,\n  description: 'The"],
      ['const each', 'await new Promise((resolve) => setTimeout(resolve, 30));\n    const each'],
    ],
    says: /within 0\.005 s: raise the tool's timeout/,
  },
  {
    did: 'chance in a tool',
    in: price,
    edits: [['return text(String(each));', 'return text(String(each + Math.random()));']],
    says: /Math\.random\(\) in .*env-v1\.ts:12/,
  },
  {
    did: 'a BigInt in structured content',
    in: price,
    edits: [
      [
        'return text(String(each));',
        'return { ...text(String(each)), structuredContent: { each: BigInt(each) } };',
      ],
    ],
    says: /its result is not JSON: it holds a bigint/,
  },
  {
    did: 'a picture that is no picture',
    in: price,
    edits: [
      [
        'return text(String(each));',
        "return { content: [{ type: 'image', data: 'https://example.com/pear.png', mimeType: 'image/png' }] };",
      ],
    ],
    says: /its image has an address as data: give the bytes in Base64/,
  },
  {
    did: 'tools that episodes share, with state',
    in: price,
    edits: [
      ['const price =', 'let asked = 0;\nconst price ='],
      ['text(String(each))', 'text(`${each}, question ${++asked}`)'],
    ],
    says: /The tool "price" answers otherwise each time/,
  },

  {
    did: 'a plugin without an example',
    in: search,
    edits: [
      [
        "  example: {\n    material: { documents: [{ title: 'Ada', text: 'Ada wrote the first program.' }], topK: 1 },\n    calls: [{ query: 'program' }],\n  },\n",
        '',
      ],
    ],
    says: /TOOL-14[\s\S]*In example: \{ material, calls \}/,
  },
  {
    did: 'a plugin without a return',
    in: search,
    edits: [['return defineTool({', 'defineTool({']],
    says: /create returned nothing: return the tool/,
  },
  {
    did: 'an example that breaks the schema',
    in: search,
    edits: [["calls: [{ query: 'program' }]", "calls: [{ text: 'program' }]"]],
    says: /query must have required property 'query'[\s\S]*calls that follow inputSchema/,
  },
  {
    did: 'material that is not there',
    in: search,
    edits: [['documents: [{ title', 'docs: [{ title']],
    says: /TOOL-6[\s\S]*reading 'filter'\), at .*env-v1\.ts:22/,
  },

  {
    did: 'a file that is not there',
    in: quiz,
    edits: [["'rows.csv'", "'row.csv'"]],
    files: rows,
    says: /Cannot read .*row\.csv .*give the path of a file that exists/,
  },
  {
    did: 'a column that is not there',
    in: quiz,
    edits: [
      ['row.capital }', 'row.capitol }'],
      ['capital: string }', 'capitol: string }'],
    ],
    files: rows,
    says: /rows\.csv, line 2: map failed \(it gave no value for "capital"\. The columns are country, capital/,
  },
  {
    did: 'a column of a CSV taken for a number',
    in: quiz,
    edits: [
      ['row: { country: string; capital: string }', 'row: { country: string; capital: number }'],
      ['Number(answer === task.capital)', 'Number(Number(answer) === task.capital)'],
      ['[capital]', '[String(capital)]'],
    ],
    files: { 'rows.csv': 'country,capital\n1+1,2\n2+2,4\n' },
    says: /"right" 1 for the oracle on \{"country":"1\+1","capital":"2"\}/,
  },
  {
    did: 'a file with only its head',
    in: quiz,
    edits: [],
    files: { 'rows.csv': 'country,capital\n' },
    says: /rows\.csv has no rows: give a file that has at least one/,
  },
  {
    did: 'a line with a field too many',
    in: quiz,
    edits: [],
    files: { 'rows.csv': 'country,capital\nPeru,Lima\nBonaire, Saint Eustatius and Saba,Kralendijk\n' },
    says: /rows\.csv, line 3 is not CSV \(.*columns length is 2, got 3/,
  },
  {
    did: 'a broken line of JSON',
    in: quiz,
    edits: [["'rows.csv'", "'rows.jsonl'"]],
    files: { 'rows.jsonl': '{"country":"Peru","capital":"Lima"}\n{"country":"Kenya","capital":"Nairobi"\n' },
    says: /rows\.jsonl, line 2 is not JSON/,
  },
  {
    did: 'a split whose value is not in the file',
    in: quiz,
    edits: [['{ map }', "{ map, only: { country: 'peru' } }"]],
    files: rows,
    says: /rows\.csv has no rows with \{"country":"peru"\}/,
  },
  {
    did: 'a file of an unknown kind',
    in: quiz,
    edits: [["'rows.csv'", "'rows.xlsx'"]],
    files: { 'rows.xlsx': 'PK' },
    says: /rows\.xlsx is of no known format: give a file that ends with/,
  },
  {
    did: 'a map without a return',
    in: quiz,
    edits: [
      [
        '=> ({ country: row.country, capital: row.capital });',
        '=> { ({ country: row.country, capital: row.capital }); };',
      ],
      ['answer === task.capital', 'answer === (task as any).capital'],
      ['${task.country}', '${(task as any).country}'],
      ['({ capital }) => [capital]', '(task) => [(task as any).capital]'],
    ],
    files: rows,
    says: /rows\.csv, line 2: map returned undefined\. Return a task/,
  },

  {
    did: 'a server that is not installed',
    in: sums,
    edits: [['command: process.execPath', "command: 'mcp-server-sums'"]],
    says: /`mcp-server-sums .* cannot be run: .*check the command/,
  },
  {
    did: 'a program of a server that is not there',
    in: sums,
    edits: [
      ['args: [program]', "args: ['no-such-server.js']"],
      ['const program = ', 'void '],
    ],
    says: /its stderr says: Error: Cannot find module .*no-such-server\.js/,
  },
  {
    did: 'a command as one text',
    in: sums,
    edits: [['{ command: process.execPath, args: [program] }', '`node ${program}`']],
    says: /a text for a server, .*give \{ command: 'node'/,
  },
  {
    did: 'only a tool that the server lacks',
    in: sums,
    edits: [["['get-sum']", "['get_sums']"]],
    says: /"only" names "get_sums".* Did you mean "get-sum"\?/,
  },
  {
    did: 'question for prompt',
    in: sums,
    edits: [["{ prompt: 'What is 17", "{ question: 'What is 17"]],
    says: /Task 1: \/prompt: expected must have required property 'prompt'/,
  },
  {
    did: 'a misspelt answer',
    in: sums,
    edits: [["answer: '42'", "anwser: '42'"]],
    says: /Task 1: \/anwser: expected must NOT have additional properties/,
  },
  {
    did: 'a split dev',
    in: sums,
    edits: [["split: 'train'", "split: 'dev'"]],
    says: /Task 1: \/split: .*\["train","validation","test"\]; received "dev"/,
  },
  {
    did: 'a variable that is not set',
    in: sums,
    edits: [['args: [program] }', "args: [program], env: { API_KEY: '${NO_SUCH_API_KEY}' } }"]],
    says: /needs the variable NO_SUCH_API_KEY, which is not set: set it/,
  },

  {
    did: 'an agent without a request',
    in: agent,
    edits: [
      [
        'capitalOf(task.country, baseURL, apiKey)',
        '`${task.capital}${baseURL}${apiKey}`.slice(0, 0) + task.capital',
      ],
    ],
    says: /ended without a request: give its client the baseURL/,
  },
  {
    did: 'an agent at a wrong address',
    in: agent,
    edits: [['${baseURL}/chat/completions', '${baseURL}/completions']],
    says: /POST \/v1\/completions is not served, but POST \/v1\/chat\/completions/,
  },
  {
    did: 'an agent without its key',
    in: agent,
    edits: [['authorization: `Bearer ${apiKey}`, ', '']],
    says: /No episode has this key/,
  },
  {
    did: 'an agent without a return',
    in: agent,
    edits: [
      [
        '=> capitalOf(task.country, baseURL, apiKey)',
        '=> { void capitalOf(task.country, baseURL, apiKey); }',
      ],
      ['result === task.capital', '(result as unknown) === task.capital'],
    ],
    says: /ended without a request/,
  },
  {
    did: 'tools of a ToolEnv in an agent',
    in: agent,
    edits: [['agent: (', 'tools: [],\n  agent: (']],
    says: /unknown part "tools"\. Parts: /,
  },
  {
    did: 'answer for result',
    in: agent,
    edits: [['({ result, task }) => Number(result', '({ results, task }) => Number(results']],
    says: /"right" 1 for the oracle on [\s\S]*received \{"right":0\}/,
  },
];
