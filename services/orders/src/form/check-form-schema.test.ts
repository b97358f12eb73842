import { createServer } from 'node:http'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { checkFormSchema } from './check-form-schema.ts'
import { compileFormSchema } from './compile-form-schema.ts'

const refusalOf = (schema: unknown): string | undefined => {
  try {
    checkFormSchema(schema, ['schema'])
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.message}`
    throw error
  }
}

const nested = (levels: number, keyword: string): object =>
  levels === 0 ? {} : { [keyword]: [nested(levels - 1, keyword)] }

it('a form may use all keywords of JSON Schema 2020-12 but those that name schemas (OP-41)', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Engraved gifts',
    type: ['object', 'null'],
    required: ['occasion'],
    dependentRequired: { gift: ['occasion'] },
    dependentSchemas: { gift: { required: ['card'] } },
    $defs: { 'a/b~c d': { type: 'string', format: 'email', minLength: 3, maxLength: 80 } },
    properties: {
      occasion: {
        enum: ['wedding', 'birthday'],
        default: 'wedding',
        examples: ['birthday'],
        $comment: 'asked by phone',
      },
      mail: { $ref: '#/$defs/a~1b~0c%20d' },
      items: { type: 'array', items: { $ref: '#/properties/occasion' }, maxItems: 100, uniqueItems: true },
      pair: {
        prefixItems: [{ const: 1 }],
        items: false,
        contains: { multipleOf: 0.5 },
        minContains: 1,
        maxContains: 2,
      },
    },
    patternProperties: { '^x-(\\p{L}|\\d)+$': true },
    propertyNames: { pattern: '^[a-z_-]+$' },
    unevaluatedProperties: false,
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    allOf: [{ if: { required: ['mail'] }, then: { minProperties: 2 }, else: { maxProperties: 9 } }],
    oneOf: [{ not: { required: ['nothing'] } }],
  }
  expect(refusalOf(schema)).toBeUndefined()
  expect(compileFormSchema(schema)({ occasion: 'wedding', mail: 'ada@example.com' })).toBeUndefined()
})

it.each([
  [{ type: 'text' }, 'bad_request schema.type: must be one of array, boolean, integer, null'],
  [{ type: [] }, 'bad_request schema.type: must be one of'],
  [{ properties: { note: { minLength: '3' } } }, 'bad_request schema.properties.note.minLength: must be an integer'],
  [{ properties: [] }, 'bad_request schema.properties: must be an object of schemas'],
  [{ allOf: [{}, 3] }, 'bad_request schema.allOf[1]: must be a schema'],
  [{ anyOf: [] }, 'bad_request schema.anyOf: must be a list of schemas'],
  [{ items: [{}] }, 'bad_request schema.items: must be a schema'],
  [{ required: ['a', 'a'] }, 'bad_request schema.required: must be a list of different names'],
  [{ requird: ['a'] }, 'bad_request schema.requird: unknown keyword; leave it out'],
  [{ toString: true }, 'bad_request schema.toString: unknown keyword'],
  [{ enum: [] }, 'bad_request schema.enum: must be a list of values'],
  [{ pattern: '(' }, 'bad_request schema.pattern: must be a regular expression'],
  [{ patternProperties: { '[': {} } }, 'bad_request schema.patternProperties.[: must be a regular expression'],
  [{ multipleOf: 0 }, 'bad_request schema.multipleOf: must be a number above 0'],
  [{ dependentRequired: { a: 'b' } }, 'bad_request schema.dependentRequired: must have lists'],
])('what is no JSON Schema 2020-12 is bad_request with its path: %j (OP-134)', (schema, message) => {
  expect(refusalOf(schema)).toContain(message)
})

it.each([
  [
    { $schema: 'http://json-schema.org/draft-07/schema#' },
    'schema.$schema: must be https://json-schema.org/draft/2020-12',
  ],
  [{ not: { $schema: 'https://json-schema.org/draft/2020-12/schema' } }, 'schema.not.$schema: must be at the top'],
  [{ $id: 'https://example.com/form' }, 'schema.$id: is not supported; use $ref with a path'],
  [{ items: { $anchor: 'a' } }, 'schema.items.$anchor: is not supported'],
  [{ $dynamicAnchor: 'a' }, 'schema.$dynamicAnchor: is not supported'],
  [{ $dynamicRef: '#a' }, 'schema.$dynamicRef: is not supported'],
  [{ $ref: 'https://example.com/form' }, 'schema.$ref: must be a path in this schema'],
  [{ $ref: 'form.json#/$defs/a' }, 'schema.$ref: must be a path in this schema'],
  [{ $ref: '#anchor' }, 'schema.$ref: must be a path in this schema'],
  [{ format: 'regex' }, 'schema.format: must be one of date, time'],
  [{ enum: Array.from({ length: 1001 }, (_, index) => index) }, 'schema.enum: must not have more than 1000 values'],
  [{ uniqueItems: true }, 'schema.uniqueItems: needs maxItems of at most 100'],
  [{ uniqueItems: true, maxItems: 101 }, 'schema.uniqueItems: needs maxItems of at most 100'],
  [{ pattern: '^(?=a)' }, 'schema.pattern: must do without look-around'],
  [{ pattern: '(a)\\1' }, 'schema.pattern: must do without look-around, back-references'],
  [
    { pattern: '((a{1000}){1000}){1000}' },
    'schema.pattern: must do without look-around, back-references and large repeat',
  ],
  [{ pattern: '\\p{L}{1000}'.repeat(6) }, 'schema.pattern: is too much: use fewer patterns, and maxLength instead'],
  [{ patternProperties: { '(?<!a)b': {} } }, 'schema.patternProperties.(?<!a)b: must do without look-around'],
  [{ prefixItems: Array.from({ length: 500 }, () => true) }, 'schema.prefixItems[499]: is too much'],
])(
  'a schema that this API does not take is unprocessable with its path and the fix: %j (OP-134)',
  (schema, message) => {
    expect(refusalOf(schema)).toContain(`unprocessable ${message}`)
  },
)

it.each([
  [{ $ref: '#' }, 'unprocessable schema: must not contain itself'],
  [{ items: { $ref: '#' } }, 'unprocessable schema: must not contain itself'],
  [
    { $defs: { a: { $ref: '#/$defs/b' }, b: { not: { $ref: '#/$defs/a' } } } },
    'unprocessable schema.$defs.a: must not contain itself',
  ],
  [
    { $ref: '#/$defs/missing' },
    'bad_request schema.$ref: leads to no subschema: #/$defs/missing; define it, such as in $defs',
  ],
  [{ const: { a: {} }, not: { $ref: '#/const/a' } }, 'bad_request schema.not.$ref: leads to no subschema'],
  [{ $ref: '#/%E0%A4%A' }, 'bad_request schema.$ref: leads to no subschema'],
])('a reference that loops, or leads to no subschema, is refused: %j (OP-134)', (schema, message) => {
  expect(refusalOf(schema)).toContain(message)
})

it('a few references that expand to very many subschemas are unprocessable (OP-134)', () => {
  const bomb = (levels: number, copies: number) => ({
    $ref: `#/$defs/level${levels - 1}`,
    $defs: Object.fromEntries(
      Array.from({ length: levels }, (_, level) => [
        `level${level}`,
        level === 0 ? {} : { allOf: Array.from({ length: copies }, () => ({ $ref: `#/$defs/level${level - 1}` })) },
      ]),
    ),
  })
  expect(refusalOf(bomb(40, 10))).toContain(
    'unprocessable schema: has more than 5000 subschemas once each $ref is expanded',
  )
  expect(refusalOf(bomb(60, 1))).toContain('unprocessable schema: nests deeper than 100 subschemas once')
  expect(refusalOf(bomb(4, 4))).toBeUndefined()
})

it.each(['anyOf', 'allOf', 'oneOf'])('nested %s is linear in its text and taken (OP-134)', (keyword) => {
  const schema = nested(30, keyword)
  expect(refusalOf(schema)).toBeUndefined()
  expect(compileFormSchema(schema)({})).toBeUndefined()
})

it('a pattern that would backtrack is matched in linear time (OP-134)', () => {
  const schema = { properties: { note: { pattern: '(a+)+$' } } }
  expect(refusalOf(schema)).toBeUndefined()
  expect(compileFormSchema(schema)({ note: `${'a'.repeat(50_000)}!` })).toMatchObject({ path: ['note'] })
})

it('nothing is fetched for a remote reference (OP-134)', async () => {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    response.end('{}')
  }).listen(0, '127.0.0.1')
  whenDone(() => server.close())
  await new Promise((listening) => server.once('listening', listening))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const remote = `http://127.0.0.1:${address.port}/form`
  for (const schema of [{ $ref: remote }, { $schema: remote }, { $id: remote }, { $dynamicRef: `${remote}#a` }]) {
    expect(refusalOf(schema)).toContain('unprocessable')
    expect(() => compileFormSchema({ $ref: remote })).toThrow("can't resolve reference")
  }
  // The server answers: a request would have been seen.
  await fetch(`${remote}/control`)
  expect(requests).toEqual(['/form/control'])
})

it.each<[object, unknown, unknown, string]>([
  [{ type: 'string' }, { items: [{ engraving: 3 }] }, ['items', 0, 'engraving'], 'must be string'],
  [
    { type: 'object', required: ['text'] },
    { items: [{ engraving: {} }] },
    ['items', 0, 'engraving', 'text'],
    'it is missing',
  ],
  [{ required: ['toString'] }, { items: [{ engraving: {} }] }, ['items', 0, 'engraving', 'toString'], 'it is missing'],
  [
    { additionalProperties: false },
    { items: [{ engraving: { a: 1 } }] },
    ['items', 0, 'engraving', 'a'],
    'is not a member',
  ],
  [
    { unevaluatedProperties: false },
    { items: [{ engraving: { a: 1 } }] },
    ['items', 0, 'engraving', 'a'],
    'is not a member',
  ],
  [
    { propertyNames: { maxLength: 1 } },
    { items: [{ engraving: { ab: 1 } }] },
    ['items', 0, 'engraving', 'ab'],
    'is not a member',
  ],
  [
    { properties: { 'a/b~c': false } },
    { items: [{ engraving: { 'a/b~c': 1 } }] },
    ['items', 0, 'engraving', 'a/b~c'],
    'must not',
  ],
  [{ enum: ['A', 'B'] }, { items: [{ engraving: 'C' }] }, ['items', 0, 'engraving'], 'must be one of ["A","B"]'],
  [
    { anyOf: [{ required: ['a'] }, { type: 'string' }] },
    { items: [{ engraving: {} }] },
    ['items', 0, 'engraving'],
    'anyOf',
  ],
  [
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    { if: true, then: { required: ['a'] } },
    { items: [{ engraving: {} }] },
    ['items', 0, 'engraving', 'a'],
    'it is missing',
  ],
  [{ maxLength: 2, format: 'date' }, { items: [{ engraving: '2026-02-30' }] }, ['items', 0, 'engraving'], 'must'],
  [{ format: 'date' }, { items: [{ engraving: '2026-02-30' }] }, ['items', 0, 'engraving'], 'must match format "date"'],
  [{ pattern: 'x'.repeat(400) }, { items: [{ engraving: 'a' }] }, ['items', 0, 'engraving'], '…'],
])('the rule that an order breaks has the path of its member: %j (OP-09)', (engraving, form, path, reason) => {
  const schema = { properties: { items: { items: { properties: { engraving } } } } }
  expect(refusalOf(schema)).toBeUndefined()
  const broken = compileFormSchema(schema)(form)
  expect(broken?.path).toEqual(path)
  expect(broken?.reason).toContain(reason)
})
