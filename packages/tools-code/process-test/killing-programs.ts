/** Programs that V8 cannot interrupt, or that need more memory inside of a built-in function of JavaScript than there is. */
export const killingPrograms: Record<string, string> = {
  'a sort of four billion': 'import js\njs.Array.new(2**32 - 1).sort()',
  'a search in a huge array': 'import js\njs.Array.new(2**32 - 1).indexOf(1)',
  'a huge array that is filled': 'import js\njs.Array.new(2**29).fill(1)',
  'an array that is filled behind its end':
    'import js\njs.Array.new(2**25).fill("x").concat(js.Array.new(2**27).fill(1))',
  'an array that is copied':
    'import js\na = js.Array.new(2**24).fill(1)\nkept = [a.slice() for _ in range(100)]',
  'a flat array of arrays': 'import js\na = js.Array.new(2**12).fill(js.Array.new(2**20).fill(1))\na.flat()',
  'a text that is split':
    'import js\njs.Reflect.apply(js.String.prototype.split, "x" * 2**27, js.Array.of(""))',
  'a text that is repeated and joined': 'import js\njs.Array.new(2**27).fill("x" * 100).join("-")',
  'JSON of a huge array': 'import js\njs.JSON.stringify(js.Array.new(2**28).fill(1))',
  'a map of many':
    'import js\nm = js.Map.new()\nwhile True: js.Array.new(2**20).fill(1).forEach(m.set.bind(m))',
  'texts of dates, whose memory V8 does not count':
    'import js\nkept = [js.Intl.DateTimeFormat.new() for _ in range(100_000)]',
  'a huge BigInt': 'import js\njs.BigInt("1" * 10**7)',
};
