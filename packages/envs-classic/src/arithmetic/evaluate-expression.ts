/** Evaluates an expression of numbers, + - * /, and parentheses, without `eval`. */

export type BinaryOperator = '+' | '-' | '*' | '/';
type Operator = BinaryOperator | 'minus' | '(';

const precedence: Record<Operator, number> = { '(': 0, '+': 1, '-': 1, '*': 2, '/': 2, minus: 3 };

/**
 * The value, rounded to 12 significant digits. Multiplication and division come first, a sign before both.
 * Dijkstra's shunting-yard algorithm, whose stacks bear any depth of parentheses.
 * @returns `undefined` if the text is no expression. A division by 0 gives an infinite number or NaN.
 */
export function evaluateExpression(text: string): number | undefined {
  const tokens = text.match(/\d+(?:\.\d+)?|\.\d+|\S/g) ?? [];
  const numbers: number[] = [];
  const operators: Operator[] = [];
  const apply = () => {
    const operator = operators.pop()!;
    const right = numbers.pop()!;
    if (operator === 'minus') numbers.push(-right);
    else numbers.push(calculate(numbers.pop()!, operator as BinaryOperator, right));
  };
  let wantsNumber = true;
  for (const token of tokens) {
    if (wantsNumber) {
      if (token === '(') operators.push('(');
      else if (token === '+') continue;
      else if (token === '-') operators.push('minus');
      else if (/\d$/.test(token)) {
        numbers.push(Number(token));
        wantsNumber = false;
      } else return undefined;
    } else if (token === ')') {
      while (operators.length > 0 && operators.at(-1) !== '(') apply();
      if (operators.pop() === undefined) return undefined;
    } else if (isBinary(token)) {
      while (operators.length > 0 && precedence[operators.at(-1)!] >= precedence[token]) apply();
      operators.push(token);
      wantsNumber = true;
    } else return undefined;
  }
  if (wantsNumber || operators.includes('(')) return undefined;
  while (operators.length > 0) apply();
  return Number(numbers[0]!.toPrecision(12));
}

function isBinary(token: string): token is BinaryOperator {
  return token.length === 1 && '+-*/'.includes(token);
}

export function calculate(left: number, operator: BinaryOperator, right: number): number {
  if (operator === '+') return left + right;
  if (operator === '-') return left - right;
  return operator === '*' ? left * right : left / right;
}
