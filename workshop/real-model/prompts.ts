/** What both sides read: questions in English, and texts that are difficult for tokenizers. */

export const questions: readonly string[] = [
  'What is the capital of France?',
  'Name three colours of the rainbow.',
  'Why is the sky blue?',
  'How many days has a week?',
  'Write a sentence about a cat.',
  'What is 12 plus 30?',
  'Who wrote Hamlet?',
  'Give me a recipe for pancakes.',
  'What is the opposite of hot?',
  'Explain photosynthesis in one sentence.',
  'Which planet is nearest to the sun?',
  'Translate "good morning" into Spanish.',
  'What do bees make?',
  'How does a bicycle stay upright?',
  'List two fruits and two vegetables.',
  'What is the boiling point of water?',
  'Tell me a short joke.',
  'What language is spoken in Brazil?',
  'How can I learn to swim?',
  'Is 17 a prime number?',
];

export const texts: readonly string[] = [
  'Where does the river rise?',
  ' leading and  double   spaces ',
  'lines\nand\n\nmore\tlines\r\n',
  "it's 1,234.5 km² — naïve café, 東京, 🙂👩‍👩‍👧",
  'The numbers 2026, 007, ٣٤ and ½ are digits or look like digits.',
  '<|im_start|>user hello<|im_end|> and <tool_call>{"name": "search"}</tool_call>',
  '<|im_start|<file_sep>',
  '\u0000\u007f\u00a0\u00ad\ufeff',
  '',
];
