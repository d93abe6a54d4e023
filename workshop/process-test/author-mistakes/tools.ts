/** Mistakes in tools, and in plugins of tools. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of modules
import type { Mistake } from './mistake.ts';

const fruit = `
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

const body =
  "const each = cents[fruit];\n    if (each === undefined) return { ...text('There is no such fruit.'), isError: true };\n    return text(String(each));";

export const right: Readonly<Record<string, string>> = { fruit, search };

export const mistakes: readonly Mistake[] = [
  {
    did: 'a tool without a return',
    in: fruit,
    edits: [['return text(String(each));', 'text(String(each));']],
    says: /it returned nothing: return a text, or a result such as text\('…'\)/,
  },
  {
    did: 'a tool that returns a number',
    in: fruit,
    edits: [[body, 'return (cents[fruit] ?? 0) as unknown as ReturnType<typeof text>;']],
    says: /has no "content" array of blocks: return a text/,
  },
  {
    did: 'content as a text',
    in: fruit,
    edits: [['return text(String(each));', 'return { content: String(each) };']],
    says: /has no "content" array of blocks: return a text/,
  },
  {
    did: 'a tool that throws at a mistake of the model',
    in: fruit,
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
    in: fruit,
    edits: [[body, 'await new Promise(() => {});\n    return text(String(cents[fruit]));']],
    says: /ENV-28[\s\S]*nothing within 10000 ms/,
  },
  {
    did: 'a tool that takes 150 ms and ignores its signal',
    in: fruit,
    edits: [['const each', 'await new Promise((resolve) => setTimeout(resolve, 150));\n    const each']],
    says: /WARN-7[\s\S]*"price" to stop soon after its signal aborts\s+received \d+ ms, as long as[\s\S]*Pass context\.signal/,
  },
  {
    did: 'a plugin of a tool that takes 150 ms and ignores its signal',
    in: search,
    edits: [
      ['const found', 'await new Promise((resolve) => setTimeout(resolve, 150));\n        const found'],
    ],
    says: /WARN-7[\s\S]*a call to stop soon after its signal aborts\s+received \d+ ms, as long as/,
  },
  {
    did: 'parameters for inputSchema',
    in: fruit,
    edits: [['inputSchema:', 'parameters:']],
    says: /Tool "price" has no "inputSchema": rename "parameters"/,
  },
  {
    did: 'run for execute',
    in: fruit,
    edits: [['async execute(', 'async run(']],
    says: /Tool "price" has no "execute": rename "run"/,
  },
  {
    did: 'a type that JSON Schema lacks',
    in: fruit,
    edits: [["{ fruit: { type: 'string' } }", "{ fruit: { type: 'str' } }"]],
    says: /inputSchema of tool "price"\s+received .*properties\/fruit\/type must be equal to one of [\s\S]*Write a JSON Schema/,
  },
  {
    did: 'a property as a text',
    in: fruit,
    edits: [["{ fruit: { type: 'string' } }", "{ fruit: 'string' }"]],
    says: /inputSchema of tool "price"\s+received .*properties\/fruit must be object/,
  },
  {
    did: 'a required property that is not there',
    in: fruit,
    edits: [["required: ['fruit']", "required: ['fruits']"]],
    says: /"required" of tool "price" to name properties\s+received "fruits"/,
  },
  {
    did: 'a pattern that is none',
    in: fruit,
    edits: [["{ type: 'string' }", "{ type: 'string', pattern: '[a-z' }"]],
    says: /inputSchema of tool "price"\s+received .*Invalid regular expression: \/\[a-z/,
  },
  {
    did: 'a $ref to nowhere',
    in: fruit,
    edits: [["{ type: 'string' }", "{ $ref: '#/$defs/fruit' }"]],
    says: /inputSchema of tool "price"\s+received .*can't resolve reference #\/\$defs\/fruit/,
  },
  {
    did: 'a tool name with a space',
    in: fruit,
    edits: [["  name: 'price',\n", "  name: 'get price',\n"]],
    says: /received "get price"[\s\S]*"get_price"/,
  },
  {
    did: 'no description of a tool',
    in: fruit,
    edits: [["  description: 'The price of a fruit, in cents.',\n", '']],
    says: /\/tools\/0\/description must have required property/,
  },
  {
    did: 'the timeout of a tool in seconds',
    in: fruit,
    edits: [
      ["  name: 'price',\n  description: 'The", "  name: 'price',\n  timeout: 5,\n  description: 'The"],
      ['const each', 'await new Promise((resolve) => setTimeout(resolve, 30));\n    const each'],
    ],
    says: /within 0\.005 s: raise the tool's timeout/,
  },
  {
    did: 'chance in a tool',
    in: fruit,
    edits: [['return text(String(each));', 'return text(String(each + Math.random()));']],
    says: /Math\.random\(\) in .*env-v1\.ts:12/,
  },
  {
    did: 'a BigInt in structured content',
    in: fruit,
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
    in: fruit,
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
    in: fruit,
    edits: [
      ['const price =', 'let asked = 0;\nconst price ='],
      ['text(String(each))', 'text(`${each}, question ${++asked}`)'],
    ],
    says: /The tool "price" answers differently each time/,
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
];
