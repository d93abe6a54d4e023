/** Compiles a template to a function that writes its text. The grammar is that of `jinja2/parser.py`. */
import { type Expression, ExpressionParser } from './expressions.ts';
import { tokenize } from './lexer.ts';
import { Loop } from './loop.ts';
import type { Meter } from './meter.ts';
import { str } from './python-text.ts';
import { Scope } from './scope.ts';
import { Callable, isTrue, itemsOf, Namespace, Tuple, type Value } from './values.ts';

/** Runs statements, and says whether they left the loop or its round. */
export type Statement = (scope: Scope, out: string[]) => 'break' | 'continue' | undefined;
type Assign = (scope: Scope, value: Value) => void;
type Parameter = readonly [name: string, fallback: Expression | undefined];

/** Units for a token of a block that runs. */
const tokenUnits = 16;
/** Units for a round of a loop: a scope. */
const roundUnits = 200;

/** @throws Error for a template that Jinja does not compile. */
export function compile(template: string, meter: Meter): Statement {
  const parser = new StatementParser(tokenize(template), meter);
  const program = parser.block([]);
  if (parser.unknown) throw parser.unknown;
  return program;
}

class StatementParser extends ExpressionParser {
  /** Whether `break` and `continue` have a loop. */
  #isInLoop = false;

  /** Statements up to one of these tags, whose name is the next token; to the end of the template without tags. */
  block(ends: readonly string[]): Statement {
    const { size, meter } = this;
    this.size = 0;
    const statements: Statement[] = [];
    for (;;) {
      const { type, value } = this.take();
      if (type === 'data') {
        this.size += value.length / tokenUnits;
        statements.push((_, out) => void out.push(value));
      } else if (type === '{{') {
        const shown = this.tuple();
        this.expect('}}');
        statements.push((scope, out) => {
          const text = str(shown(scope), meter);
          meter.spend(text.length);
          out.push(text);
          return undefined;
        });
      } else if (type === '{%') {
        if (this.is('name') && ends.includes(this.token.value)) break;
        statements.push(this.nest(() => this.#statement()));
        this.expect('%}');
      } else if (ends.length === 0) break;
      else throw new SyntaxError(`${ends.at(-1)} is missing`);
    }
    const units = this.size * tokenUnits;
    this.size = size;
    return (scope, out) => {
      meter.spend(units);
      for (const statement of statements) {
        const left = statement(scope, out);
        if (left) return left;
      }
      return undefined;
    };
  }

  /** A block with names of its own. It always runs where it stands, or in a function. */
  #innerBlock(end: string, isInLoop: boolean): Statement {
    const { isConditional } = this;
    const outer = this.#isInLoop;
    this.isConditional = false;
    this.#isInLoop = isInLoop;
    this.expect('%}');
    const body = this.block([end, ...(end === 'endfor' ? ['else'] : [])]);
    this.#isInLoop = outer;
    this.isConditional = isConditional;
    return body;
  }

  #statement(): Statement {
    const name = this.expect('name');
    switch (name) {
      case 'if':
        return this.#if();
      case 'for':
        return this.#for();
      case 'set':
        return this.#set();
      case 'macro':
        return this.#macro();
      case 'call':
        return this.#callBlock();
      case 'with':
        return this.#with();
      case 'filter': {
        const change = this.filters(true);
        const body = this.#innerBlock('endfilter', this.#isInLoop);
        this.take();
        return (scope, out) => {
          const [text, left] = this.#written(body, new Scope(scope));
          if (!left) out.push(str(change(text, scope), this.meter));
          return left;
        };
      }
      case 'generation': {
        const body = this.#innerBlock('endgeneration', false);
        this.take();
        return (scope, out) => body(new Scope(scope), out);
      }
      case 'break':
      case 'continue':
        if (!this.#isInLoop) throw new SyntaxError(`${name} is outside a loop`);
        return () => name;
    }
    throw new SyntaxError(`the tag "${name}" is not supported`);
  }

  /** What a block writes. */
  #written(body: Statement, scope: Scope): [text: string, left: ReturnType<Statement>] {
    const out: string[] = [];
    const left = body(scope, out);
    const text = out.join('');
    this.meter.spend(text.length);
    return [text, left];
  }

  #if(): Statement {
    const { isConditional } = this;
    this.isConditional = true;
    const branches: { test: Expression | undefined; body: Statement }[] = [];
    for (let tag = 'if'; tag !== 'endif'; tag = this.take().value) {
      const test = tag === 'else' ? undefined : this.tuple({ mayBeCondition: false });
      this.expect('%}');
      branches.push({ test, body: this.block(tag === 'else' ? ['endif'] : ['elif', 'else', 'endif']) });
    }
    this.isConditional = isConditional;
    return (scope, out) => branches.find(({ test }) => !test || isTrue(test(scope)))?.body(scope, out);
  }

  #for(): Statement {
    const { meter } = this;
    const assign = this.#target('in');
    if (!this.skip('name', 'in')) throw new SyntaxError('a loop needs "in"');
    const iterable = this.tuple({ mayBeCondition: false, end: 'recursive' });
    const test = this.skip('name', 'if') ? this.expression() : undefined;
    const isRecursive = this.skip('name', 'recursive');
    const body = this.#innerBlock('endfor', true);
    const otherwise = this.take().value === 'else' ? this.#innerBlock('endfor', this.#isInLoop) : undefined;
    if (otherwise) this.take();

    const run = (value: Value, scope: Scope, out: string[], depth: number): ReturnType<Statement> => {
      const passes = (item: Value) => {
        meter.spend(roundUnits);
        const inner = new Scope(scope);
        assign(inner, item);
        return isTrue(test!(inner));
      };
      const loop = new Loop(itemsOf(value, meter), {
        passes: test && passes,
        depth,
        recurse: isRecursive ? (items, level) => meter.call(() => recurse(items, level)) : undefined,
        meter,
      });
      const recurse = (items: Value, level: number) =>
        this.#written((inner, written) => run(items, inner, written, level), scope)[0];
      let isEmpty = true;
      while (loop.next()) {
        meter.spend(roundUnits);
        isEmpty = false;
        const inner = new Scope(scope);
        inner.set('loop', loop);
        assign(inner, loop.item);
        if (body(inner, out) === 'break') return undefined;
      }
      return isEmpty ? otherwise?.(new Scope(scope), out) : undefined;
    };
    return (scope, out) => run(iterable(scope), scope, out, 0);
  }

  #set(): Statement {
    const assign = this.#target('=');
    if (this.skip('=')) {
      const value = this.tuple();
      return (scope) => void assign(scope, value(scope));
    }
    const change = this.filters();
    const body = this.#innerBlock('endset', this.#isInLoop);
    this.take();
    return (scope) => {
      const [text, left] = this.#written(body, new Scope(scope));
      if (!left) assign(scope, change(text, scope));
      return left;
    };
  }

  #with(): Statement {
    const pairs: (readonly [Assign, Expression])[] = [];
    while (!this.is('%}')) {
      if (pairs.length > 0) this.expect(',');
      const assign = this.#target('=');
      this.expect('=');
      pairs.push([assign, this.expression()]);
    }
    const body = this.#innerBlock('endwith', this.#isInLoop);
    this.take();
    return (scope, out) => {
      const inner = new Scope(scope);
      for (const [assign, value] of pairs) assign(inner, value(scope));
      return body(inner, out);
    };
  }

  /** One name, several, or attributes of namespaces. @param end The token behind them. */
  #target(end: string): Assign {
    const targets: Assign[] = [];
    let isTuple = false;
    while (!this.is(end) && !this.is('name', end) && !this.is('%}') && !this.is(')')) {
      targets.push(this.#oneTarget());
      if (!this.skip(',')) break;
      isTuple = true;
    }
    const [first] = targets;
    if (!first) throw new SyntaxError('a name is missing');
    if (!isTuple) return first;
    return (scope, value) => {
      const items = itemsOf(value, this.meter);
      this.meter.spend(items.length);
      if (items.length !== targets.length)
        throw new Error(`${items.length} values do not fit ${targets.length} names`);
      for (const [i, target] of targets.entries()) target(scope, items[i]);
    };
  }

  #oneTarget(): Assign {
    if (this.skip('(')) {
      const inner = this.nest(() => this.#target(')'));
      this.expect(')');
      return inner;
    }
    const name = this.expect('name');
    if (/^([Tt]rue|[Ff]alse|[Nn]one|loop)$/.test(name)) throw new SyntaxError(`"${name}" cannot be set`);
    if (!this.skip('.')) return (scope, value) => scope.set(name, value);
    const attribute = this.expect('name');
    return (scope, value) => {
      const namespace = scope.get(name);
      if (!(namespace instanceof Namespace)) throw new Error(`"${name}" is not a namespace`);
      namespace.set(attribute, value);
    };
  }

  #macro(): Statement {
    const name = this.expect('name');
    const make = this.#function(name, this.#parameters(), 'endmacro');
    return (scope) => void scope.set(name, make(scope));
  }

  #callBlock(): Statement {
    const parameters = this.is('(') ? this.#parameters() : [];
    const call = this.calls.get(this.expression());
    if (!call) throw new SyntaxError('a call block needs a call');
    const make = this.#function('caller', parameters, 'endcall');
    return (scope, out) => void out.push(str(call(scope, make(scope)), this.meter));
  }

  #parameters(): Parameter[] {
    const parameters: Parameter[] = [];
    this.expect('(');
    while (!this.skip(')')) {
      if (parameters.length > 0) this.expect(',');
      const name = this.expect('name');
      const fallback = this.skip('=') ? this.expression() : undefined;
      if (!fallback && parameters.at(-1)?.[1]) throw new SyntaxError('a parameter needs a default');
      parameters.push([name, fallback]);
    }
    return parameters;
  }

  /** A macro, which sees the names of the place where it is declared. */
  #function(name: string, parameters: readonly Parameter[], end: string): (scope: Scope) => Callable {
    const { meter, names } = this;
    this.names = new Set();
    const body = this.#innerBlock(end, false);
    this.take();
    const [takesCaller, takesMore, takesNamed] = ['caller', 'varargs', 'kwargs'].map((special) =>
      this.names.has(special),
    );
    for (const read of this.names) names.add(read);
    this.names = names;
    return (scope) =>
      new Callable(name, ({ values, named }) =>
        meter.call(() => {
          const inner = new Scope(scope);
          const rest = new Map(named);
          for (const [i, [parameter, fallback]] of parameters.entries()) {
            if (i < values.length && rest.has(parameter)) throw new Error(`"${parameter}" is given twice`);
            const isGiven = i < values.length || rest.has(parameter);
            const given = i < values.length ? values[i] : rest.get(parameter);
            inner.set(parameter, isGiven ? given : fallback?.(inner));
            rest.delete(parameter);
          }
          if (takesCaller && !parameters.some(([parameter]) => parameter === 'caller')) {
            inner.set('caller', rest.get('caller'));
            rest.delete('caller');
          }
          if (takesMore) inner.set('varargs', Tuple.from(values.slice(parameters.length)) as Tuple);
          else if (values.length > parameters.length) throw new Error(`${name} has too many arguments`);
          if (takesNamed) inner.set('kwargs', rest);
          else if (rest.size > 0) throw new Error(`${name} has no argument "${[...rest.keys()][0]}"`);
          return this.#written(body, inner)[0];
        }),
      );
  }
}
