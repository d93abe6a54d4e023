/** Compiles expressions to functions of a scope. The grammar is that of `jinja2/parser.py`. */
import { attributeOf, itemOf, sliceOf } from './access.ts';
import { filterNamed, hasFilter } from './filters.ts';
import type { Token } from './lexer.ts';
import type { Meter } from './meter.ts';
import { arithmetic, comparisons, signed } from './operators.ts';
import { str } from './python-text.ts';
import type { Scope } from './scope.ts';
import { tests } from './tests.ts';
import { TokenReader } from './token-reader.ts';
import {
  type Arguments,
  aType,
  Callable,
  isDict,
  isTrue,
  itemsOf,
  type Key,
  keyOf,
  needKeyword,
  Tuple,
  toFloat,
  toInt,
  type Value,
} from './values.ts';

export type Expression = (scope: Scope) => Value;
type Call = (scope: Scope, caller?: Callable) => Value;
/** A chain of filters. */
export type Change = (value: Value, scope: Scope) => Value;

interface TupleSettings {
  /** Whether `a if b else c` may stand without brackets. */
  mayBeCondition?: boolean;
  /** A name that ends the tuple. */
  end?: string;
  /** Whether brackets stand around it, so that it may be empty. */
  isInBrackets?: boolean;
}

const constants: Readonly<Record<string, Value>> = {
  ...{ true: true, True: true, false: false, False: false, none: null, None: null },
};

export class ExpressionParser extends TokenReader {
  readonly meter: Meter;
  /** The names that were read so far. */
  names: Set<string> = new Set();
  /** Whether a condition decides if the code runs. There, an unknown filter or test is refused only if it runs. */
  isConditional: boolean = false;
  /** The first unknown filter or test outside conditions. */
  unknown: Error | undefined;
  /** Calls, which may be given a caller. */
  protected readonly calls: WeakMap<Expression, Call> = new WeakMap();

  constructor(tokens: readonly Token[], meter: Meter) {
    super(tokens);
    this.meter = meter;
  }

  expression(mayBeCondition = true): Expression {
    return this.nest(() => (mayBeCondition ? this.#condition() : this.#or()));
  }

  /** An expression, or several with commas between them. */
  tuple({ mayBeCondition = true, end = '', isInBrackets = false }: TupleSettings = {}): Expression {
    const parts: Expression[] = [];
    let isTuple = false;
    while (!['}}', '%}', ')'].includes(this.token.type) && !this.is('name', end)) {
      parts.push(this.expression(mayBeCondition));
      if (!this.skip(',')) break;
      isTuple = true;
    }
    if (!isTuple && parts.length === 1) return parts[0]!;
    if (!isTuple && !isInBrackets) throw new SyntaxError(`an expression is missing`);
    return (scope) => Tuple.from(parts.map((part) => part(scope))) as Tuple;
  }

  #condition(): Expression {
    const { unknown, isConditional } = this;
    let value = this.#or();
    while (this.skip('name', 'if')) {
      this.deepen();
      this.unknown = unknown;
      this.isConditional = true;
      const [then, test] = [value, this.#or()];
      const otherwise = this.skip('name', 'else') ? this.nest(() => this.#condition()) : undefined;
      value = (scope) => (isTrue(test(scope)) ? then(scope) : otherwise?.(scope));
    }
    this.isConditional = isConditional;
    return value;
  }

  #or(): Expression {
    return this.#logic('or', () => this.#logic('and', () => this.#not()));
  }

  /** The right side is evaluated only if the left one does not decide. */
  #logic(operator: 'or' | 'and', parse: () => Expression): Expression {
    let value = parse();
    while (this.skip('name', operator)) {
      this.deepen();
      const [left, right] = [value, parse()];
      value = (scope) => {
        const first = left(scope);
        return isTrue(first) === (operator === 'or') ? first : right(scope);
      };
    }
    return value;
  }

  #not(): Expression {
    if (!this.skip('name', 'not')) return this.#comparison();
    const value = this.nest(() => this.#not());
    return (scope) => !isTrue(value(scope));
  }

  /** `a < b < c` compares both pairs, and evaluates b once. */
  #comparison(): Expression {
    const first = this.#sum();
    const rest: { compare: (a: Value, b: Value, meter: Meter) => boolean; right: Expression }[] = [];
    for (;;) {
      const { type, value } = this.token;
      let operator = type === 'name' ? value : type;
      const isNotIn = type === 'name' && value === 'not' && this.following?.value === 'in';
      if (isNotIn) operator = 'not in';
      const compare = Object.hasOwn(comparisons, operator) ? comparisons[operator] : undefined;
      if (!compare) break;
      this.take();
      if (isNotIn) this.take();
      rest.push({ compare, right: this.#sum() });
    }
    if (rest.length === 0) return first;
    return (scope) => {
      let left = first(scope);
      for (const { compare, right } of rest) {
        const value = right(scope);
        if (!compare(left, value, this.meter)) return false;
        left = value;
      }
      return true;
    };
  }

  #sum(): Expression {
    return this.#chain(['+', '-'], () => this.#concatenation());
  }

  #concatenation(): Expression {
    const parts = [this.#product()];
    while (this.skip('~')) parts.push(this.#product());
    if (parts.length === 1) return parts[0]!;
    return (scope) => {
      const text = parts.map((part) => str(part(scope), this.meter)).join('');
      this.meter.spend(text.length);
      return text;
    };
  }

  #product(): Expression {
    return this.#chain(['*', '/', '//', '%'], () => this.#power());
  }

  #power(): Expression {
    return this.#chain(['**'], () => this.#unary());
  }

  #chain(operators: readonly string[], parse: () => Expression): Expression {
    let value = parse();
    while (operators.includes(this.token.type)) {
      this.deepen();
      const compute = arithmetic[this.take().type]!;
      const [left, right] = [value, parse()];
      value = (scope) => compute(left(scope), right(scope), this.meter);
    }
    return value;
  }

  #unary(hasFilters = true): Expression {
    const sign = this.skip('-') ? -1 : this.skip('+') ? 1 : undefined;
    let value: Expression;
    if (sign === undefined) value = this.#primary();
    else {
      const inner = this.nest(() => this.#unary(false));
      value = (scope) => signed(inner(scope), sign);
    }
    value = this.#postfix(value);
    return hasFilters ? this.#filtersAndTests(value) : value;
  }

  #primary(): Expression {
    const { type, value } = this.take();
    switch (type) {
      case 'name':
        if (Object.hasOwn(constants, value)) return () => constants[value];
        this.names.add(value);
        return (scope) => scope.get(value);
      case 'string': {
        let text = value;
        while (this.is('string')) text += this.take().value;
        return () => text;
      }
      case 'integer': {
        const number = toInt(Number(value));
        return () => number;
      }
      case 'float': {
        const number = toFloat(Number(value));
        return () => number;
      }
      case '(': {
        const inner = this.tuple({ isInBrackets: true });
        this.expect(')');
        return inner;
      }
      case '[':
        return this.#list();
      case '{':
        return this.#dict();
    }
    throw new SyntaxError(`unexpected ${value || type}`);
  }

  #list(): Expression {
    const items: Expression[] = [];
    this.#each(']', () => items.push(this.expression()));
    return (scope) => items.map((item) => item(scope));
  }

  #dict(): Expression {
    const entries: (readonly [Expression, Expression])[] = [];
    this.#each('}', () => {
      const key = this.expression();
      this.expect(':');
      entries.push([key, this.expression()]);
    });
    return (scope) =>
      new Map<Key, Value>(entries.map(([key, value]) => [keyOf(key(scope)), value(scope)] as const));
  }

  /** Parses parts with commas between them and perhaps behind them, up to the bracket. */
  #each(close: string, parse: () => void): void {
    for (let first = true; !this.skip(close); first = false) {
      if (!first) this.expect(',');
      if (this.skip(close)) return;
      parse();
    }
  }

  #postfix(start: Expression): Expression {
    let value = start;
    for (;;) {
      const object = value;
      if (this.skip('.')) {
        this.deepen();
        const { type, value: name } = this.take();
        if (type === 'name') value = (scope) => attributeOf(object(scope), name, this.meter);
        else if (type === 'integer') value = (scope) => itemOf(object(scope), Number(name), this.meter);
        else throw new SyntaxError('a name must follow a dot');
      } else if (this.skip('[')) {
        this.deepen();
        value = this.#subscript(object);
      } else if (this.is('(')) {
        this.deepen();
        value = this.#call(object);
      } else return value;
    }
  }

  #subscript(object: Expression): Expression {
    const keys: Expression[] = [];
    const bounds: (Expression | undefined)[] = [];
    this.#each(']', () => {
      const key = this.is(':') ? undefined : this.expression();
      if (!this.is(':')) {
        keys.push(key!);
        return;
      }
      bounds.push(key);
      while (bounds.length < 3 && this.skip(':'))
        bounds.push([':', ']', ','].includes(this.token.type) ? undefined : this.expression());
    });
    const [key, ...others] = keys;
    if (bounds.length > 0) {
      if (key) throw new SyntaxError('a slice cannot be part of a key');
      return (scope) =>
        sliceOf(
          object(scope),
          bounds.map((bound) => bound?.(scope)),
          this.meter,
        );
    }
    if (!key || others.length > 0) throw new SyntaxError('a key is missing, or there are several');
    return (scope) => {
      const value = object(scope);
      return itemOf(value, key(scope), this.meter);
    };
  }

  #call(callee: Expression): Expression {
    const read = this.#arguments();
    const call: Call = (scope, caller) => {
      const called = callee(scope);
      const args = read(scope);
      if (!(called instanceof Callable)) throw new Error(`${aType(called)} cannot be called`);
      this.meter.spend(100);
      return called.call(caller ? { ...args, named: new Map([...args.named, ['caller', caller]]) } : args);
    };
    const value: Expression = (scope) => call(scope);
    this.calls.set(value, call);
    return value;
  }

  #arguments(): (scope: Scope) => Arguments {
    const values: Expression[] = [];
    const named: (readonly [string, Expression])[] = [];
    let list: Expression | undefined;
    let dict: Expression | undefined;
    this.expect('(');
    this.#each(')', () => {
      const refuse = (isWrong: unknown) => {
        if (isWrong) throw new SyntaxError('the arguments of a call are in the wrong order');
      };
      if (this.skip('*')) {
        refuse(list || dict);
        list = this.expression();
      } else if (this.skip('**')) {
        refuse(dict);
        dict = this.expression();
      } else if (this.is('name') && this.following?.type === '=') {
        refuse(dict);
        const name = this.take().value;
        this.take();
        named.push([name, this.expression()]);
      } else {
        refuse(list || dict || named.length > 0);
        values.push(this.expression());
      }
    });
    return (scope) => {
      const all = values.map((value) => value(scope));
      const names = new Map(named.map(([name, value]) => [name, value(scope)] as const));
      if (list) {
        const items = itemsOf(list(scope), this.meter);
        this.meter.spend(items.length * 8);
        for (const item of items) all.push(item);
      }
      if (dict) {
        const given = dict(scope);
        if (!isDict(given)) throw new Error('** needs a dict');
        for (const [name, value] of given) names.set(needKeyword(name, names), value);
      }
      return { values: all, named: names };
    };
  }

  #filtersAndTests(start: Expression): Expression {
    let value = start;
    for (;;) {
      const operand = value;
      if (this.is('|')) {
        this.deepen();
        const change = this.filters();
        value = (scope) => change(operand(scope), scope);
      } else if (this.skip('name', 'is')) {
        this.deepen();
        value = this.#test(operand);
      } else if (this.is('(')) {
        this.deepen();
        value = this.#call(operand);
      } else return value;
    }
  }

  /** Filters after each other. @param isInline Whether the first one has no bar before it. */
  filters(isInline = false): Change {
    const changes: Change[] = [];
    for (let inline = isInline; inline || this.skip('|'); inline = false) {
      const name = this.#dottedName();
      const read = this.is('(') ? this.#arguments() : noArguments;
      if (!hasFilter(name)) this.#refuse('filter', name);
      changes.push((value, scope) => {
        this.meter.spend(100);
        return filterNamed(name)(value, read(scope), this.meter);
      });
    }
    return (value, scope) => changes.reduce((changed, change) => change(changed, scope), value);
  }

  #test(operand: Expression): Expression {
    const isNegated = this.skip('name', 'not');
    const name = this.#dottedName();
    const isArgument = ['name', 'string', 'integer', 'float', '[', '{'].includes(this.token.type);
    let read: (scope: Scope) => Arguments = noArguments;
    if (this.is('(')) read = this.#arguments();
    else if (isArgument && !(this.is('name') && ['else', 'or', 'and'].includes(this.token.value))) {
      if (this.is('name', 'is')) throw new SyntaxError('tests cannot follow each other');
      const argument = this.#postfix(this.#primary());
      read = (scope) => ({ values: [argument(scope)], named: new Map() });
    }
    const test = tests.get(name);
    if (!test) this.#refuse('test', name);
    return (scope) => {
      const value = operand(scope);
      if (!test) throw new Error(`the test "${name}" is not supported`);
      return test(value, read(scope).values, this.meter) !== isNegated;
    };
  }

  #dottedName(): string {
    let name = this.expect('name');
    while (this.skip('.')) name += `.${this.expect('name')}`;
    return name;
  }

  #refuse(kind: string, name: string): void {
    if (!this.isConditional) this.unknown ??= new Error(`the ${kind} "${name}" is not supported`);
  }
}

function noArguments(): Arguments {
  return none;
}

const none: Arguments = { values: [], named: new Map() };
