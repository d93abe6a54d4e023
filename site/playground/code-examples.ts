/** What the editors of the page begin with. */

export const rewardExample = `/** The reward of an episode, from its scores. GRPO learns what you write. */
export default ({ em, searches }: Record<string, number>): number => em - 0.1 * searches;
`;

export const environmentExample = `import { defineToolEnv } from '@toolenv/core';
import { bridgeQuestions, createQuestions, createWorld, exactMatch, goldTitles, readAnswer, textOf } from '@toolenv/envs-qa';

export default defineToolEnv({
  name: 'mine-v1',
  description: 'Questions that need two searches.',
  limits: { maxTurns: 4, maxCallsPerTurn: 1 },
  roles: { search: '@toolenv/tools-search/search-v1' },
  async setup({ tools }) {
    // The tiny policy knows the words of this world.
    const world = createWorld(1);
    const documents = world.documents.map((each) => ({ title: each.title, text: textOf(each) }));
    return { world, search: await tools.search!({ documents, topK: 2 }) };
  },
  tasks({ shared: { world } }) {
    return {
      train: createQuestions(bridgeQuestions, world, 'train', 200),
      validation: createQuestions(bridgeQuestions, world, 'validation', 20),
      test: createQuestions(bridgeQuestions, world, 'test', 20),
    };
  },
  rewards: { right: { kind: 'outcome' } },
  episode: ({ task, shared: { search } }) => ({
    messages: [
      { role: 'system', content: 'Answer the question. Use search to find documents. Put the answer in <answer></answer>.' },
      { role: 'user', content: task.question },
    ],
    tools: [search],
    onAnswer(text: string) {
      const { answer } = readAnswer(text);
      return { rewards: { right: answer === undefined ? 0 : exactMatch(answer, [task.answer]) }, end: 'answered' };
    },
  }),
  label: ({ answer }) => answer,
  oracle: (task) => [
    ...goldTitles(task).map((query) => [{ name: 'search', arguments: { query } }]),
    \`<answer>\${task.answer}</answer>\`,
  ],
});
`;
