/**
 * Runs the chat template of a checkpoint, which may be malicious, within bounds of work, memory and depth. The bounds count operations, not
 * time, so that a template that passes once passes on every machine.
 */
import { type Environment, Interpreter } from '@huggingface/jinja';
import {
  callUnits,
  chargeFilter,
  chargeOperator,
  chargeText,
  methodsUnits,
  nodeUnits,
  roundUnits,
  undefinedUnits,
} from './template-costs.ts';
import { lengthOf, type Spend, type TemplateValue } from './template-values.ts';

/** A node of the parsed template. */
interface Node {
  readonly type: string;
}

/** A node that has been evaluated already. Costs depend on operands, and an operand must not be evaluated twice. */
interface Given extends Node {
  readonly type: 'Given';
  readonly value: TemplateValue;
}

interface Binary extends Node {
  readonly operator: { readonly value: string };
  readonly left: Node;
  readonly right: Node;
}

interface Call extends Node {
  readonly callee: Node & { readonly value?: string };
  readonly args: readonly Argument[];
}

/** `value` for `name=value`, `argument` for `*argument` and `**argument`. */
interface Argument extends Node {
  readonly value?: unknown;
  readonly argument?: Node;
}

interface Loop extends Node {
  readonly iterable: Node & { readonly lhs?: Node };
}

interface Member extends Node {
  readonly object: Node;
}

/** The methods of `Interpreter` that are overridden here. TypeScript takes most of them for private. */
interface Methods {
  evaluate(node: Node | undefined, scope: Environment): TemplateValue;
  evaluateBlock(statements: readonly Node[], scope: Environment): TemplateValue;
  evaluateBinaryExpression(node: Binary, scope: Environment): TemplateValue;
  evaluateCallExpression(node: Call, scope: Environment): TemplateValue;
  evaluateMemberExpression(node: Member, scope: Environment): TemplateValue;
  evaluateSliceExpression(object: TemplateValue, node: Node, scope: Environment): TemplateValue;
  evaluateFor(node: Loop, scope: Environment): TemplateValue;
  applyFilter(operand: TemplateValue, filter: Node | Call, scope: Environment): TemplateValue;
}

const Base = Interpreter as unknown as new (scope: Environment) => Methods;

/** Levels of expressions, blocks and macros inside each other. A name is looked up through as many scopes. */
const deepest = 256;

export class GuardedInterpreter extends Base {
  readonly #spend: Spend;
  /** Units for declaring a macro: the interpreter searches its whole text. */
  readonly #macroUnits: number;
  readonly #guarded = new WeakSet<object>();
  #depth = 0;

  /** @param spend Throws when too much is spent. Nothing in a template can catch the error. */
  constructor(scope: Environment, templateLength: number, spend: Spend) {
    super(scope);
    this.#spend = spend;
    this.#macroUnits = callUnits + templateLength * 8;
  }

  override evaluate(node: Node | undefined, scope: Environment): TemplateValue {
    if (node?.type === 'Given') return (node as Given).value;
    this.#depth += 1;
    this.#spend(nodeUnits + this.#depth);
    if (this.#depth > deepest) throw new RangeError(`it nests more than ${deepest} levels deep`);
    try {
      if (node?.type === 'Macro' || node?.type === 'CallStatement') this.#spend(this.#macroUnits);
      const value = super.evaluate(node, scope);
      if (node?.type === 'Identifier' && value.type === 'UndefinedValue') this.#spend(undefinedUnits);
      return value;
    } finally {
      this.#depth -= 1;
    }
  }

  override evaluateBlock(statements: readonly Node[], scope: Environment): TemplateValue {
    const values = statements.map((statement) => {
      const value = this.evaluate(statement, scope);
      chargeText(value, this.#spend);
      return given(value);
    });
    return super.evaluateBlock(values, scope);
  }

  override evaluateBinaryExpression(node: Binary, scope: Environment): TemplateValue {
    const left = this.evaluate(node.left, scope);
    const operator = node.operator.value;
    if (operator === 'and' || operator === 'or')
      return super.evaluateBinaryExpression({ ...node, left: given(left) }, scope);
    const right = this.evaluate(node.right, scope);
    chargeOperator(operator, left, right, this.#spend);
    return super.evaluateBinaryExpression({ ...node, left: given(left), right: given(right) }, scope);
  }

  override evaluateCallExpression(node: Call, scope: Environment): TemplateValue {
    const args = node.args.map((argument) => this.#evaluateArgument(argument, scope));
    this.#spend(args.reduce((sum, { value }) => sum + lengthOf(value) * 8, callUnits));
    return super.evaluateCallExpression({ ...node, args: args.map((each) => each.argument) }, scope);
  }

  override evaluateMemberExpression(node: Member, scope: Environment): TemplateValue {
    const object = this.evaluate(node.object, scope);
    const value = super.evaluateMemberExpression({ ...node, object: given(object) }, scope);
    // A name that the object does not have is looked for among its methods.
    if (object.type === 'StringValue' || value.type === 'FunctionValue' || value.type === 'UndefinedValue')
      this.#guardMethods(object);
    return value;
  }

  override evaluateSliceExpression(object: TemplateValue, node: Node, scope: Environment): TemplateValue {
    this.#spend(lengthOf(object) * 16);
    return super.evaluateSliceExpression(object, node, scope);
  }

  override evaluateFor(node: Loop, scope: Environment): TemplateValue {
    const { iterable } = node;
    const selects = iterable.type === 'SelectExpression';
    const items = this.evaluate(selects ? iterable.lhs : iterable, scope);
    this.#spend(lengthOf(items) * roundUnits);
    const evaluated = selects ? { ...iterable, lhs: given(items) } : given(items);
    return super.evaluateFor({ ...node, iterable: evaluated }, scope);
  }

  override applyFilter(operand: TemplateValue, filter: Node | Call, scope: Environment): TemplateValue {
    if (!('callee' in filter)) {
      chargeFilter(String((filter as { value?: unknown }).value), operand, [], this.#spend);
      return super.applyFilter(operand, filter, scope);
    }
    const args = filter.args.map((argument) => this.#evaluateArgument(argument, scope));
    const values = args.map(({ value }) => value);
    chargeFilter(String(filter.callee.value), operand, values, this.#spend);
    return super.applyFilter(operand, { ...filter, args: args.map(({ argument }) => argument) }, scope);
  }

  /** The value of an argument, and the argument with this value. Literals stay, because some filters take nothing else. */
  #evaluateArgument(argument: Argument, scope: Environment): { value: TemplateValue; argument: Argument } {
    if (argument.type === 'KeywordArgumentExpression') {
      const value = this.evaluate(argument.value as Node, scope);
      return { value, argument: { ...argument, value: given(value) } };
    }
    if (argument.argument !== undefined && argument.type.endsWith('SpreadExpression')) {
      const value = this.evaluate(argument.argument, scope);
      return { value, argument: { ...argument, argument: given(value) } };
    }
    const value = this.evaluate(argument, scope);
    return { value, argument: argument.type === 'StringLiteral' ? argument : given(value) };
  }

  /** Makes the methods of a text or an object charge for each call. A template may keep a method and call it later. */
  #guardMethods(object: TemplateValue): void {
    if (this.#guarded.has(object)) return;
    this.#guarded.add(object);
    this.#spend(methodsUnits);
    for (const [name, method] of object.builtins) {
      if (method.type !== 'FunctionValue') continue;
      const call = method.value as Method;
      (method as { value: Method }).value = (args, scope) => {
        chargeFilter(name, object, args, this.#spend);
        return call(args, scope);
      };
    }
  }
}

type Method = (args: TemplateValue[], scope: Environment) => TemplateValue;

function given(value: TemplateValue): Given {
  return { type: 'Given', value };
}
