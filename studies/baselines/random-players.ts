/** Players of the library's environments that know the rules and choose at random. */
import type { Rng, Script } from '@toolenv/core';
import { words } from '../../packages/envs-classic/src/wordle/words.ts';

/** Makes the player of one episode, by the environment's reference. */
export const randomPlayers: Readonly<Record<string, (rng: Rng) => Script>> = {
  /** Answers with the sum, difference, product or quotient of two numbers of the problem. */
  '@toolenv/envs-classic/arithmetic-v1':
    (rng) =>
    ({ messages }, turn) => {
      if (turn > 0) return `#### ${messages.at(-1)!.content}`;
      const numbers = messages[1]!.content.match(/\d+/g)!;
      const [left, right] = [rng.pick(numbers), rng.pick(numbers)];
      return [{ name: 'calculate', arguments: { expression: `${left} ${rng.pick([...'+-*/'])} ${right}` } }];
    },
  /** Looks up the customer, then makes one random call with what it has read, and closes the case or refuses it. */
  '@toolenv/envs-classic/bank-v1':
    (rng) =>
    ({ messages }, turn) => {
      const read = messages.map(({ content }) => content).join('\n');
      const any = (pattern: RegExp) => rng.pick(read.match(pattern) ?? ['']);
      if (turn === 0) {
        const name = /I am (\w+ \w+)\./.exec(messages[1]!.content)![1]!;
        return [{ name: 'find_customer', arguments: { name } }];
      }
      const customer = /"id":"(C\d+)"/.exec(read)![1]!;
      if (turn === 1)
        return ['list_accounts', 'list_cards'].map((name) => ({ name, arguments: { customer } }));
      if (turn === 3) return [{ name: 'close_case', arguments: {} }];
      const [account, card, amount] = [/\bA\d{4}\b/g, /\bK\d{4}\b/g, /\d+(?= euros)/g];
      const fee = rng.pick([0, 2]);
      const calls = [
        {
          name: 'transfer',
          arguments: { from: any(account), to: any(account), amount: Number(any(amount)), fee },
        },
        { name: 'set_frozen', arguments: { card: any(card), frozen: rng.pick([true, false]) } },
        { name: 'set_limit', arguments: { card: any(card), limit: Number(any(amount)) } },
        { name: 'refuse_case', arguments: { rule: 1 + rng.int(7) } },
      ];
      return [rng.pick(calls)];
    },
  /** Gives commands about the receptacles and objects that it has read of. */
  '@toolenv/envs-classic/household-v1':
    (rng) =>
    ({ messages }) => {
      const read = messages.slice(1).map(({ content }) => content);
      const names = [...new Set(read.join('\n').match(/\b[a-z]+ \d+\b/g))];
      const here =
        read
          .join('\n')
          .match(/(?<=You are at )\w+ \d+/g)
          ?.at(-1) ?? names[0];
      const [object, other] = [rng.pick(names), rng.pick(names)];
      return rng.pick([
        `go to ${other}`,
        `open ${here}`,
        `take ${object} from ${here}`,
        `put ${object} in/on ${here}`,
        `${rng.pick(['clean', 'heat', 'cool'])} ${object} with ${here}`,
      ]);
    },
  /** Reads a table and answers with one of its values. */
  '@toolenv/envs-classic/sql-v1':
    (rng) =>
    ({ messages }, turn) => {
      const table = rng.pick(['customer', 'product', 'purchase', 'item']);
      if (turn === 0) return [{ name: 'query', arguments: { sql: `SELECT * FROM ${table}` } }];
      const rows = messages.at(-1)!.content.split('\n').slice(1);
      return `<answer>${rng.pick(rng.pick(rows).split(' | '))}</answer>`;
    },
  /** Searches with the words of each line, and calls one of the tools that it finds. */
  '@toolenv/envs-classic/toolbox-v1':
    (rng) =>
    ({ messages }, turn) => {
      const lines = messages[1]!.content.split('\n');
      const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
      if (turn === 0) return lines.map((query) => ({ name: 'find_tools', arguments: { query } }));
      if (turn > 1) return results.slice(lines.length).join(', ');
      return lines.map((line, index) => ({
        name: rng.pick(results[index]!.split('\n')).split(':')[0]!,
        arguments: { id: Number(/\d{4}/.exec(line)![0]) },
      }));
    },
  /** Guesses words of the list, also of other splits. */
  '@toolenv/envs-classic/wordle-v1': (rng) => () => rng.pick(Object.values(words).flat()),
  /** Answers with a function that returns its value, or something simple that is made of it. */
  '@toolenv/envs-code/code-v1': (rng) => () => {
    const value = rng.pick(['x', 'len(str(x))', '0', '[]', 'x[::-1]', 'sorted(x)', 'sum(x)', 'str(x)']);
    return `\`\`\`python\ndef solve(x):\n    return ${value}\n\`\`\``;
  },
  /** Answers with the sum, difference, product or quotient of two numbers of the problem. */
  '@toolenv/envs-code/math-v1':
    (rng) =>
    ({ messages }) => {
      const numbers = messages[1]!.content.match(/\d+/g)!.map(Number);
      const [left, right] = [rng.pick(numbers), rng.pick(numbers)];
      return `\\boxed{${rng.pick([left + right, left - right, left * right, `${left}/${right}`])}}`;
    },
  /** Does something to a file that it has seen. */
  '@toolenv/envs-code/terminal-v1':
    (rng) =>
    ({ messages }, turn) => {
      if (turn > 3) return 'Done.';
      if (turn === 0) return [{ name: 'bash', arguments: { command: 'find . -type f' } }];
      const path = rng.pick(messages.find(({ role }) => role === 'tool')!.content.split('\n'));
      const word = rng.pick(messages[1]!.content.match(/[\w./]+/g)!);
      const commands = [`mkdir -p ${word}; mv ${path} ${word}/`, `rm ${path}`, `cat ${path} > ${word}`];
      return [{ name: 'bash', arguments: { command: rng.pick(commands) } }];
    },
  /** Moves a file, or writes what it has read of one file into another. */
  '@toolenv/envs-mcp/files-v1':
    (rng) =>
    ({ messages }, turn) => {
      if (turn === 0) return [{ name: 'search_files', arguments: { path: '.', pattern: '**/*.*' } }];
      const paths = messages.find(({ role }) => role === 'tool')!.content.split('\n');
      const path = rng.pick(paths);
      if (turn === 1) return [{ name: 'read_text_file', arguments: { path } }];
      if (turn > 3) return 'Done.';
      const content = messages.filter(({ role }) => role === 'tool')[1]!.content;
      return [
        rng.pick([
          { name: 'move_file', arguments: { source: path, destination: `archive-${path}` } },
          { name: 'write_file', arguments: { path: rng.pick(['total.txt', 'index.txt', path]), content } },
        ]),
      ];
    },
};
