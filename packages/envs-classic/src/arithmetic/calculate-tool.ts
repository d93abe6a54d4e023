/** The tool `calculate` of arithmetic-v1 and gsm8k-v1. */
import { defineTool, failure, refuse, type Tool, text } from '@toolenv/core';
import { evaluateExpression } from './evaluate-expression.ts';

export const calculate: Tool = defineTool({
  name: 'calculate',
  description: 'Calculates an expression of numbers, + - * / and parentheses.',
  inputSchema: {
    type: 'object',
    properties: { expression: { type: 'string' } },
    required: ['expression'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
  async execute({ expression }) {
    const value = evaluateExpression(expression);
    if (value !== undefined && Number.isFinite(value)) return text(String(value));
    if (value !== undefined) return failure('The expression divides by zero or is too large.');
    const expected = 'numbers, + - * / and parentheses';
    return refuse({ path: '/expression', expected, received: JSON.stringify(expression.slice(0, 80)) });
  },
});
