"""Makes golden.json, with which test/jinja/templates.test.ts compares small templates: the text that transformers renders of each.

Run `python make-golden.py` with transformers 5.23 and Jinja 3.1.6.
"""

import datetime
import json
from pathlib import Path

from transformers.utils import chat_template_utils

variables = {
    "text": "The quick Fox\njumps, it's “so” é 🙂!\n",
    "empty": "",
    "spaces": " \u0085\ufeff\u001c x \u00a0\t\n",
    "list": [3, 1, 2],
    "words": ["pear", "Apple", "fig", "apple", "Fig"],
    "mixed": [1, 2.5, "a", None, True, [], {}, "it's", 'say "hi"', "both ' and \"", "\\n\n\t\u0000é🙂\u00ad\u3000"],
    "record": {"b": 1, "a": {"x": [1.25, 1e-7, 1.5e-5, 123456.789]}, "items": "an item", "É": None, "e": True},
    "people": [
        {"name": "Ann", "age": 30, "address": {"city": "Oslo"}, "tags": ["a"]},
        {"name": "bob", "age": 25, "address": {"city": "Bern"}},
        {"name": "Cyd", "age": 30, "address": {"city": "oslo"}, "tags": []},
    ],
    "none": None,
    "yes": True,
    "zero": 0,
    "seven": 7,
    "half": 2.5,
    "big": 12345678901234,
}

expressions = """
{'a':1}|string
missing|trim
[3,1]|min
{1:'a', 2:'b'}
{1:'a'}[1]
mixed
mixed|string
mixed|tojson
record
record|tojson
record|tojson(indent=2)
record|tojson(indent=1, sort_keys=true)
record|tojson(ensure_ascii=true)
record|tojson(separators=(',', ':'))
record|tojson(True)
[[], {}, [1], {'a': []}]|tojson(indent=4)
{1: 1, none: 2, 1.5: 4}|tojson, {true: 3}|tojson
(1, 'a')|tojson
'<&>\\u2028'|tojson
missing|tojson
1.0, 0.1, 1e22, 1e-5, 1/3, 2**10, 2**-1, 7//2, -7//2, -7%3, 7%-3, 7.5//2, 7/7, 0.1+0.2, 1e16, 123456789012345680.0, -0.0
1_000 + 0x1F + 0b11 + 0o17
true, false, none, True, False, None
none|string ~ true ~ 1.0
1 == 1.0, 1 == true, 'a' == 'a', [1] == (1,), [1, 2] == [1, 2], {'a': 1} == {'a': 1.0}, none == false, missing == missing
1 < 2 < 3, 1 < 3 < 2, 1 < 2 == 2, 'a' < 'b' <= 'b' != 'c', 3 > 2 > 1 > 0
'a' in 'abc', 'd' not in 'abc', 'b' in record, 2 in list, 9 not in list, 'x' in missing, 1 in {1: 2}
not 1 == 2, not not true, not false and true
1 if true else 2, 1 if false, (1 if false) is defined, 'a' if false else 'b' if false else 'c'
zero or 'or', 'x' and 'and', '' or none, none and 1
'a' ~ 1 ~ none ~ 2.5 ~ [1] ~ missing
'a' * 3, [1, 2] * 2, 3 * 'ab', 'x' * -1, (1,) * 2
[1] + [2], (1,) + (2,), 'a' + 'b', 1 + true
'%s is %d of %5.2f%% %r %x' % ('a', 3, 2.5, 'q', 255)
'%s' % 'a', '%(a)s-%(b)03d' % {'a': 1, 'b': 2}, '%-5s|%5s' % ('a', 'b'), '%s' % [1]
'%s %s' % 'a'
'{} {1}' .format(1)
'{} {} {}'.format(1, 'a', none), '{1}{0}{a}'.format('x', 'y', a=3), '{{}}'.format(), '{0[b]} {0.b}'.format(record)
'{:>5}|{:<5}|{:^5}|{:*^7}|{:05d}|{:+}|{:,}|{:.2f}|{:x}|{:%}|{:e}|{!r}'.format('a', 'b', 'c', 'd', 42, 3, 1234567, 2.345, 255, 0.5, 12345.678, 'q')
'{:.3}'.format('abcdef'), '{:10.3f}|'.format(3.14159), '{:08.2f}'.format(-3.14159), '{:g}'.format(0.00001), '{:_}'.format(1000000)
text.upper(), text.lower(), text.title(), text.capitalize(), text.swapcase()
text|upper, text|lower, text|title, text|capitalize
'hello wORLD-foo (bar) don\\'t'|title, 'hello wORLD-foo don\\'t'.title()
text.split(), text.split(' '), text.split(' ', 1), text.rsplit(' ', 1), text.split(maxsplit=1), text.splitlines(), text.split('z'), 'a,b,,c'.split(','), ' a  b '.split(none, 1), 'a b c'.rsplit(none, 1), ' a b '.rsplit(none, 1), ' a '.rsplit(none, 3), 'a,b'.rsplit(',', 1), 'a,b'.rsplit(',', 0), ' a b'.rsplit(none, 0)
'a\\r\\nb\\rc\\u2028d\\x0be'.splitlines(), 'a\\nb\\n'.splitlines(true), ''.split(), ''.split(','), '  '.split()
spaces.strip()|length, spaces.lstrip()|length, spaces.rstrip()|length, spaces|trim|length
'xxaxx'.strip('x'), 'abcba'.lstrip('ab'), 'abc'.rstrip('bc'), 'xay'|trim('xy'), ' a '|trim('')
text.startswith('The'), text.startswith(('x', 'The')), text.endswith('\\n'), text.startswith('quick', 4), 'abc'.endswith('b', 0, 2)
text.find('q'), text.find('zz'), text.rfind('o'), text.index('F'), text.count('o'), 'é🙂x'.find('x'), 'aaa'.count('aa'), 'abc'.count('')
text.index('zz')
text.replace('o', '0'), text.replace('o', '0', 1), 'aaa'.replace('', '-'), 'aaa'|replace('a', 'b', 2), 'aaa'|replace('a', 1), 'ab'.replace('', '-', 1), 'abab'.replace('ab', 'x', 0)
'a-b-c'.partition('-'), 'a-b-c'.rpartition('-'), 'abc'.partition('-'), 'abc'.rpartition('-')
'-'.join(['a', 'b']), '-'.join('abc'), ''.join([])
'-'.join([1])
'abc'.removeprefix('a'), 'abc'.removesuffix('c'), 'abc'.removesuffix(''), '42'.zfill(5), '-42'.zfill(5), 'a'.ljust(3, '.'), 'a'.rjust(3), 'a'.center(4, '*'), 'ab'.center(5)
'12'.isdigit(), '1a'.isdigit(), 'ab'.isalpha(), 'a1'.isalnum(), ' \\n'.isspace(), 'AB'.isupper(), 'ab'.islower(), '½'.isnumeric(), '²'.isdigit(), '²'.isdecimal(), ''.isdigit(), 'ß'.casefold()
text|length, 'é🙂'|length, '🙂abc'[1], '🙂abc'[0], '🙂abc'[-1], '🙂abc'[1:3], '🙂abc'[::-1], 'abc'[5] is defined, 'abc'[-5:2], 'abcdef'[::2], 'abcdef'[4:1:-1], 'abcdef'[-2:]
list[0], list[-1], list[9] is defined, list[1:], list[::-1], list[:-1], list[-2:], list[5:], (1,2,3)[1:], range(5)[1:3]|list, range(5)[2], range(10)[::3]|list, list[none:2]
list[true], list['a'] is defined, record['b'], record.b, record['zz'] is defined, record.a.x[0], people[0].name, people.0.name, none.x is defined, seven.x is defined
record.items(), record.keys(), record.values(), record.items is callable, record['items'], record.get('b'), record.get('q'), record.get('q', 4), record.get('a', {}).get('x'), record.get(missing), record.copy() == record
record.items()|list, record|items|list, missing|items|list, record|list, record|dictsort, record|dictsort(reverse=true)
{'b': 2, 'a': 3, 'C': 1}|dictsort, {'b': 2, 'a': 3, 'C': 1}|dictsort(true), {'b': 2, 'a': 3, 'C': 1}|dictsort(by='value'), {'b': 2, 'a': 3}|dictsort(false, 'value', true)
list.append(4)
list.pop()
record.pop('a')
record.update({})
text.__class__ is defined, record.__class__ is defined
text.__class__.__mro__
list|sort, words|sort, words|sort(case_sensitive=true), list|sort(reverse=true), people|sort(attribute='age')|map(attribute='name')|list, people|sort(attribute='address.city,name')|map(attribute='name')|list
(3, 1, 2)|sort, ()|sort, 'cab'|sort, (1, 2)|map('string')|list, (2, 1)|reverse|list, (1, 1)|unique|list, (1, 2)|select|list
[1, 'a']|sort
list|min, list|max, words|min, words|max, []|max is defined, people|max(attribute='age'), list|sum, people|sum(attribute='age'), []|sum, [1.5, 2]|sum, list|sum(start=10)
words|unique|list, words|unique(case_sensitive=true)|list, list|first, list|last, []|first is defined, ''|last is defined, 'abc'|first, record|first
list|reverse|list, 'abc'|reverse, words|join(', '), list|join, list|join('-'), people|join(', ', attribute='name'), 'abc'|join('.'), [none, missing, 1.0]|join('|')
words|batch(2)|list, words|batch(2, 'x')|list, words|slice(2)|list, words|slice(3, '-')|list, (1, 2, 3)|batch(2)|list
words|map('upper')|list, words|map('replace', 'p', 'q')|list, people|map(attribute='tags')|list, people|map(attribute='tags', default='none')|list, people|map(attribute='address.city')|join(',')
words|select('equalto', 'fig')|list, list|select|list, list|select('odd')|list, list|reject('gt', 1)|list, people|selectattr('tags')|map(attribute='name')|list, people|selectattr('age', 'eq', 30)|map(attribute='name')|list, people|rejectattr('tags', 'defined')|map(attribute='name')|list, people|selectattr('name', 'in', ['bob'])|list
(people|selectattr('age', 'eq', 99)) and 'a generator is true'
people|selectattr('age')|length
people|groupby('age')|map(attribute='list')|map('length')|list, (people|groupby('age'))[0].grouper, people|groupby('name')|length, people|groupby('address.city')|map(attribute='grouper')|list
missing|default('d'), none|default('d'), none|default('d', true), ''|default('d', true), zero|d('x', boolean=true), missing|default
'3'|int, '3.7'|int, 'x'|int, 'x'|int(5), '0x1f'|int(base=16), '101'|int(base=2), 3.9|int, -3.9|int, true|int, none|int, ' 4 '|int, '1_000'|int, [1]|int, 'inf'|int
missing|int
'3.5'|float, 'x'|float, 3|float, '1e3'|float, true|float, 'x'|float(1), 'nan'|float, '-inf'|float, none|float
3.14159|round, 3.14159|round(2), 2.5|round, 3.5|round, -2.5|round, 3|round, 1234|round(-2), 3.2|round(method='ceil'), 3.7|round(0, 'floor'), 0.125|round(2), 2.675|round(2), 42.55|round|int
-3|abs, 3.5|abs, (-3)|abs, -2.0|abs
text|indent, text|indent(2), text|indent(2, true), 'a\\n\\nb'|indent(1, blank=true), 'a\\n\\nb'|indent('> ', true), 'a\\r\\nb\\n\\n'|indent
text|truncate(12), text|truncate(12, true), text|truncate(9, false, '…'), 'foo bar baz qux'|truncate(11), 'foo bar baz qux'|truncate(11, false, '...', 0), 'abc'|truncate(3)
text|wordcount, 'a'|center(5), 'ab'|center(7)|length, '%s-%s'|format(1, 'b'), '%(a)s'|format(a=1)
'<a href="x">\\'&'|e, '<b>'|safe, ('<b>'|safe) + '<i>', '<i>' + ('<b>'|safe), ('<b>'|safe) ~ '<i>', '<b>'|safe|string, ('<b>'|safe).upper(), '<b>'|safe|e, '<b>'|escape|length, ('a'|safe)|tojson, ('a'|safe) == 'a', ['a'|safe], ['a'|safe|upper, 'a'|safe|title, ('a b'|safe).split(), ('ab'|safe)[0]]
'a'|attr('upper') is callable, record|attr('b') is defined, 'b'|attr('nothing') is defined
list|list, 'abc'|list, record|length, list|count, missing|length, missing|list, range(3)|list, range(1, 10, 3)|list, range(5, 0, -2)|list, range(3), range(2, 9, 3), range(5, 1), range(4, 0, -3), range(3)|length
none|length
5|length
missing.x
missing()
missing + 1
missing|upper, missing ~ 'a', missing|list, missing is iterable, missing is sequence, missing is string, missing is mapping, missing is none
none.x.y
none is none, none is defined, missing is defined, missing is undefined, text is string, list is string, record is mapping, list is mapping, list is sequence, text is sequence, record is sequence, record is iterable, 5 is iterable, none is iterable, yes is boolean, 1 is boolean, 1 is integer, yes is integer, 1.0 is integer, 1.0 is float, 1 is float, yes is number, 1 is number, '1' is number, 1.5 is number
1 is odd, 2 is even, 9 is divisibleby 3, 9 is divisibleby(3), 3 is eq 3, 3 is ne(4), 3 is gt 2, 3 is sameas 3, 'a' is in ['a'], 'a' is not in ['a'], 'ab' is lower, 'AB' is upper, yes is true, yes is false, 1 is true, list is not string, range is callable, text is not none and true
(1,), (), (1, 2), [1, (2, 'a')], {'a': (1,)}, ((1)), [[1], [2]]
'a' 'b' "c"
'\\x41\\u00e9\\U0001F642\\101\\q\\'\\"\\\\\\t'
"it's" ~ 'say "hi"'
[1, 2,], {'a': 1,}, (1, 2,), range(1, 3,)
-1|abs, -seven, +seven, - 2 ** 2, 2 ** 3 ** 2, 2 + 3 * 4, (2 + 3) * 4, 10 - 4 - 3, 2 * 3 % 4
1 + 2 ~ 3
dict(a=1, b=2), dict({'a': 1}, b=2), dict([('a', 1)])
namespace(a=1).a, namespace({'b': 2}).b, namespace(a=1).zz is defined, namespace(a=1)
namespace(_a=1)
[1, 2, 3]|tojson ~ {'a': none}|tojson
'a' is filter_that_is_missing
'a'|filter_that_is_missing
'a' if true else 'b'|filter_that_is_missing
1/0
'a' + 1
1 + 'a'
[1] + 'a'
'a' < 1
[1][[2]] is defined, {}[[1]] is defined
[1] in {}
'🙂' < '\uffee', 'a' < 'B', [1, 2] < [1, 3], [1] < [1, 0]
big, big * 100, 9007199254740991, 1e3|int
'ﬁ'.upper(), 'ß'.upper(), 'İ'.lower(), 'ς'.upper(), 'ΑΣ'.lower()
strftime_now('%A %a %B %b %d %m %Y %y %H:%M:%S %I %p %j %U %W %w %Z%z %c %x %X %% %f %-d %-I %e %F %T %D %R %G %V %u %h %Q')
raise_exception('Stop ' ~ 1)
dict is callable, range is callable, namespace is defined
""".strip("\n").split("\n")

templates = [
    *["{{ " + expression + " }}" for expression in expressions],
    "{% for x in list %}{{ loop.index }}/{{ loop.index0 }}/{{ loop.revindex }}/{{ loop.revindex0 }}/{{ loop.first }}/{{ loop.last }}/{{ loop.length }}/{{ loop.previtem }}/{{ loop.nextitem }}/{{ loop.depth }}/{{ loop.depth0 }}/{{ loop.cycle('a', 'b') }}/{{ loop.changed(x > 1) }};{% endfor %}",
    "{% for x in list if x > 1 %}{{ x }}{{ loop.index }}{{ loop.last }}{{ loop.length }}{% else %}none{% endfor %}",
    "{% for x in list if x > 9 %}{{ x }}{% else %}none{{ loop is defined }}{% endfor %}",
    "{% set ns = namespace(found=false) %}{% for x in list if not ns.found %}{{ x }}{% if x == 1 %}{% set ns.found = true %}{% endif %}{% endfor %}",
    "{% for k, v in record.items() %}{{ k }}={{ v }};{% endfor %}{% for k in record %}{{ k }}{% endfor %}{% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for a, b in [(1, 2, 3)] %}{% endfor %}",
    "{% for c in '🙂é' %}[{{ c }}]{% endfor %}{% for x in missing %}{{ x }}{% else %}empty{% endfor %}",
    "{% for x in none %}{% endfor %}",
    "{% for x in 5 %}{% endfor %}",
    "{% for x in range(10) %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 5 %}{% break %}{% endif %}{{ x }}{% else %}else{% endfor %}",
    "{% for x in 1, 2 %}{{ x }}{% endfor %}",
    "{% for x in (list if yes else []) %}{{ x }}{% endfor %}",
    "{% for x in [[1, [2]], [3]] recursive %}{% if x is iterable %}({{ loop(x) }}){% else %}{{ x }}{{ loop.depth }}{% endif %}{% endfor %}",
    "{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = x + i %}{{ x }};{% endfor %}{{ x }}",
    "{% set x = 1 %}{% if true %}{% set x = 2 %}{% endif %}{{ x }}{% with x = 3, y = x %}{{ x }}{{ y }}{% set x = 4 %}{% endwith %}{{ x }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set (c, d) = [3, 4] %}{{ c }}{{ d }}{% set e = 1, %}{{ e }}",
    "{% set ns = namespace(a=1) %}{% for i in list %}{% set ns.a = ns.a + i %}{% set ns.b = i %}{% endfor %}{{ ns.a }}{{ ns.b }}",
    "{% set ns.a = 1 %}",
    "{% set record.a = 1 %}",
    "{% set ns = namespace() %}{% set ns._a = 1 %}",
    "{% set x %}a{{ 1 }}{% set y = 2 %}{% endset %}{{ x }}{{ y is defined }}{% set z | upper | replace('A', 'b') %}aca{% endset %}{{ z }}",
    "{% filter upper | replace('A', 'x') %}aba{{ 'c' }}{% endfilter %}",
    "{% macro f(a, b=2, c=a) %}{{ a }}{{ b }}{{ c }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1) }}|{{ f(1, 3, 4, 5) }}|{{ f(b=1, d=4) }}|{{ f(*[1, 2], **{'c': 3}) }}",
    "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(1, 2) }}",
    "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(b=2) }}",
    "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(1, a=2) }}",
    "{% macro f(a) %}{{ a is defined }}{% endmacro %}{{ f() }}{{ f(none) }}",
    "{% macro f(x) %}{{ x }}{{ caller('c', 2) }}{% endmacro %}{% call(a, b=1) f('m') %}[{{ a }}{{ b }}]{% endcall %}",
    "{% macro f() %}x{% endmacro %}{% call f() %}y{% endcall %}",
    "{% macro f() %}{{ caller() if caller is defined else 'no caller' }}{% endmacro %}{{ f() }}{% call f() %}y{% endcall %}",
    "{% macro even(n) %}{{ 'even' if n == 0 else odd(n - 1) }}{% endmacro %}{% macro odd(n) %}{{ 'odd' if n == 0 else even(n - 1) }}{% endmacro %}{{ even(7) }}",
    "{% macro f() %}{{ later }}{% endmacro %}{% set later = 5 %}{{ f() }}{% for later in [6] %}{{ f() }}{% endfor %}",
    "{% for i in list %}{% macro f() %}{{ i }}{% endmacro %}{{ f() }}{% endfor %}",
    "{% macro f(l) %}{% for x in l %}{{ x }}{% endfor %}{% endmacro %}{{ f(list)|upper ~ f('ab') }}{{ f([1]) is string }}",
    "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
    "{% generation %}a{% set q = 1 %}{{ 1 }}{% endgeneration %}{{ q is defined }}",
    "{%- generation -%} a {%- endgeneration -%} b",
    "a\n  {% if true %}\n    b\n  {% endif %}\nc\n",
    "a\n  {%- if true -%}\n    b\n  {%- endif -%}\nc\n\n",
    "a\n  {%+ if true +%}\n    b\n  {%+ endif %}\nc",
    "  {{ 1 }}  \n  {{- 2 -}}  \n  {{+ 3 }}",
    "  {# comment #}\nx\n  {#- comment -#}\n  y {# a #} z\n{#+ b +#}\nw",
    "a\r\nb\rc\n{% if true %}\r\nd{% endif %}\r\n{{ 'x\r\ny' }}\r\n",
    "{% raw %}{{ x }} {% if %}{% endraw %}\n  {%- raw -%}\n {{ y }} \n{%- endraw -%} z",
    "\u00a0{%- if true %}\ufeff{%- endif %}\u3000{%- if true -%}\u2003x{%- endif %}",
    "x{% if true %} \n{% endif %} \n y",
    "{% if a.b is defined %}{% endif %}",
    "{% if missing %}a{% elif zero %}b{% elif 'x' %}c{% else %}d{% endif %}{% if not missing %}e{% endif %}",
    "{% if 1, %}tuple{% endif %}{{ 'a' if () else 'b' }}",
    "{% if false %}{{ 1|from_json }}{% endif %}ok",
    "{% for x in [] %}{{ 1|from_json }}{% endfor %}",
    "{% if false %}{% for x in [] %}{{ 1|from_json }}{% endfor %}{% endif %}",
    "{{ 1 if true else 1|from_json }}{{ 1 if true else 1 is weird }}",
    "{% macro f() %}{{ 1 is weird }}{% endmacro %}",
    "{% if true and 1 is weird %}{% endif %}",
    "{% set true = 1 %}",
    "{% for loop in list %}{% endfor %}",
    "{{ 1",
    "{% if %}{% endif %}",
    "{% if true %}",
    "{% endif %}",
    "{{ }}",
    "{{ 'a }}",
    "{{ (1 }}",
    "{{ 1 ] }}",
    "{{ {'a' 1} }}",
    "{% unknown %}",
    "{% break %}",
    "{% do list.append(1) %}",
    "{{ a.b.c }}",
    "{{ f(a=1, 2) }}",
    "{{ f(**x, *y) }}",
    "{{ 1 is odd is true }}",
    "{# open",
    "{% set x = {'a': [1, {'b': 'é'}]} %}{{ x.a[1].b }}{{ x['a'][0] }}{{ x.a[1]['b']|upper }}{{ x }}{{ x|tojson }}",
    "{{ text.split('\\n')[0].split(' ')[-1]|lower }}{{ (text|trim).split()|map('length')|list }}",
    "{%- set roles = people|map(attribute='name')|list -%}\n{{ roles|join(',') }}{{ roles[-1] }}{{ 'Ann' in roles }}",
    "{% set gen = people|map(attribute='name') %}{{ gen|join }}{{ gen|join }}",
    "{% set messages = people[1:] if people[0].name == 'Ann' else people %}{{ messages|length }}{{ people|length }}",
    "{{ messages is defined }}{% set messages = 1 %}{{ messages }}",
    "{% for p in people %}{{ loop.previtem.name if loop.previtem is defined }}>{{ p.name }}>{{ loop.nextitem.name if not loop.last }}{{ ', ' if not loop.last }}{% endfor %}",
    "{% for p in people %}{% for t in p.tags %}{{ loop.index }}{{ t }}{% else %}-{% endfor %}{{ loop.index }}{% endfor %}",
    "{% for p in people %}{% set outer = loop %}{% for c in p.name %}{{ outer.index }}.{{ loop.index }} {% endfor %}{% endfor %}",
]

chat_template_utils.datetime = type(
    "Fixed", (datetime.datetime,), {"now": classmethod(lambda cls: cls(2026, 1, 4, 13, 5, 9))}
)


def render(template):
    try:
        return {"text": chat_template_utils._compile_jinja_template(template).render(**variables)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


cases = [{"template": template, **render(template)} for template in templates]
golden = {"date": "2026-01-04T13:05:09Z", "variables": variables, "cases": cases}
text = json.dumps(golden, ensure_ascii=False, indent=1)
(Path(__file__).parent / "golden.json").write_text(text + "\n")
print(len(cases), "templates,", sum("error" in case for case in cases), "refused")
for case in cases:
    if "error" in case:
        print(repr(case["template"][:100]), case["error"][:150])
