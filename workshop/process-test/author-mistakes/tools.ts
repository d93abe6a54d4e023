/** Mistakes in tools, and in plugins of tools. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of modules
import { type Mistake, mistakesIn } from './mistake.ts';

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
  ...mistakesIn(fruit, {
    'a tool without a return': [
      ['return text(String(each));', 'text(String(each));'],
      /it returned nothing: return a text, or a result such as text\('…'\)/,
    ],
    'a tool that returns a number': [
      [body, 'return (cents[fruit] ?? 0) as unknown as ReturnType<typeof text>;'],
      /has no "content" array of blocks: return a text/,
    ],
    'content as a text': [
      ['return text(String(each));', 'return { content: String(each) };'],
      /has no "content" array of blocks: return a text/,
    ],
    'a tool that throws at a mistake of the model': [
      [
        "return { ...text('There is no such fruit.'), isError: true }",
        "throw new Error('There is no such fruit.')",
      ],
      /WARN-6[\s\S]*There is no such fruit[\s\S]*Return failure\('/,
    ],
    'a tool that hangs': [
      [body, 'await new Promise(() => {});\n    return text(String(cents[fruit]));'],
      /ENV-28[\s\S]*nothing within 10000 ms/,
    ],
    'a tool that takes 150 ms and ignores its signal': [
      ['const each', 'await new Promise((resolve) => setTimeout(resolve, 150));\n    const each'],
      /WARN-7[\s\S]*"price" to stop soon after its signal aborts\s+received \d+ ms, as long as[\s\S]*Pass context\.signal/,
    ],
    'parameters for inputSchema': [
      ['inputSchema:', 'parameters:'],
      /Tool "price" has no "inputSchema": rename "parameters"/,
    ],
    'run for execute': [['async execute(', 'async run('], /Tool "price" has no "execute": rename "run"/],
    'a type that JSON Schema lacks': [
      ["{ fruit: { type: 'string' } }", "{ fruit: { type: 'str' } }"],
      /inputSchema of tool "price"\s+received .*properties\/fruit\/type must be equal to one of [\s\S]*Write a JSON Schema/,
    ],
    'a property as a text': [
      ["{ fruit: { type: 'string' } }", "{ fruit: 'string' }"],
      /inputSchema of tool "price"\s+received .*properties\/fruit must be object/,
    ],
    'a required property that is not there': [
      ["required: ['fruit']", "required: ['fruits']"],
      /"required" of tool "price" to name properties\s+received "fruits"/,
    ],
    'a pattern that is none': [
      ["{ type: 'string' }", "{ type: 'string', pattern: '[a-z' }"],
      /inputSchema of tool "price"\s+received .*Invalid regular expression: \/\[a-z/,
    ],
    'a $ref to nowhere': [
      ["{ type: 'string' }", "{ $ref: '#/$defs/fruit' }"],
      /inputSchema of tool "price"\s+received .*can't resolve reference #\/\$defs\/fruit/,
    ],
    'a tool name with a space': [
      ["  name: 'price',\n", "  name: 'get price',\n"],
      /received "get price"[\s\S]*"get_price"/,
    ],
    'no description of a tool': [
      ["  description: 'The price of a fruit, in cents.',\n", ''],
      /\/tools\/0\/description must have required property/,
    ],
    'the timeout of a tool in seconds': [
      ["  name: 'price',\n  description: 'The", "  name: 'price',\n  timeout: 5,\n  description: 'The"],
      ['const each', 'await new Promise((resolve) => setTimeout(resolve, 30));\n    const each'],
      /within 0\.005 s: raise the tool's timeout/,
    ],
    'chance in a tool': [
      ['return text(String(each));', 'return text(String(each + Math.random()));'],
      /Math\.random\(\) in .*env-v1\.ts:12/,
    ],
    'a BigInt in structured content': [
      [
        'return text(String(each));',
        'return { ...text(String(each)), structuredContent: { each: BigInt(each) } };',
      ],
      /its result is not JSON: it holds a bigint/,
    ],
    'a picture that is no picture': [
      [
        'return text(String(each));',
        "return { content: [{ type: 'image', data: 'https://example.com/pear.png', mimeType: 'image/png' }] };",
      ],
      /its image has an address as data: give the bytes in Base64/,
    ],
    'tools that episodes share, with state': [
      ['const price =', 'let asked = 0;\nconst price ='],
      ['text(String(each))', 'text(`${each}, question ${++asked}`)'],
      /The tool "price" answers differently each time/,
    ],
  }),
  ...mistakesIn(search, {
    'a plugin of a tool that takes 150 ms and ignores its signal': [
      ['const found', 'await new Promise((resolve) => setTimeout(resolve, 150));\n        const found'],
      /WARN-7[\s\S]*a call to stop soon after its signal aborts\s+received \d+ ms, as long as/,
    ],
    'a plugin without an example': [
      [
        "  example: {\n    material: { documents: [{ title: 'Ada', text: 'Ada wrote the first program.' }], topK: 1 },\n    calls: [{ query: 'program' }],\n  },\n",
        '',
      ],
      /TOOL-14[\s\S]*In example: \{ material, calls \}/,
    ],
    'a plugin without a return': [
      ['return defineTool({', 'defineTool({'],
      /create returned nothing: return the tool/,
    ],
    'an example that breaks the schema': [
      ["calls: [{ query: 'program' }]", "calls: [{ text: 'program' }]"],
      /query must have required property 'query'[\s\S]*calls that follow inputSchema/,
    ],
    'material that is not there': [
      ['documents: [{ title', 'docs: [{ title'],
      /TOOL-6[\s\S]*reading 'filter'\), at .*env-v1\.ts:22/,
    ],
  }),
];
