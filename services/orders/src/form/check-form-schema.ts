import { badRequest, type MemberPath, unprocessable } from '@backoffice/contracts/errors.ts'
import { FORMATS } from './formats.ts'
import { linearPattern } from './linear-pattern.ts'

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'
const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']

/** The most subschemas: compiling takes more than linear time in their number. */
const MAX_SUBSCHEMAS = 500
/** The most subschemas, and their depth, with each `$ref` replaced by its target. */
const MAX_EXPANDED = 5000
const MAX_EXPANDED_DEPTH = 100
const MAX_ENUM = 1000
/** The most instructions of all patterns, which take memory and time. A counted repeat multiplies its instructions. */
const MAX_PATTERN_SIZE = 5000
/** `uniqueItems` compares each pair of items. */
const MAX_UNIQUE_ITEMS = 100

type Value = readonly [isValid: (value: unknown) => boolean, mustBe: string]

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown) => typeof value === 'string'
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0
const isNames = (value: unknown) => Array.isArray(value) && value.every(isText) && new Set(value).size === value.length

const TEXT: Value = [isText, 'must be a string']
const BOOLEAN: Value = [(value) => typeof value === 'boolean', 'must be true or false']
const NUMBER: Value = [(value) => typeof value === 'number', 'must be a number']
const COUNT: Value = [isCount, 'must be an integer of at least 0']
const ANY: Value = [() => true, '']
const isType = (value: unknown) => TYPES.includes(value as string)

/** The keywords without subschemas, and their values (JSON Schema 2020-12). */
const VALUES: Readonly<Record<string, Value>> = {
  $schema: TEXT,
  $ref: TEXT,
  $comment: TEXT,
  title: TEXT,
  description: TEXT,
  default: ANY,
  examples: [Array.isArray, 'must be a list'],
  deprecated: BOOLEAN,
  readOnly: BOOLEAN,
  writeOnly: BOOLEAN,
  type: [
    (value) => isType(value) || (isNames(value) && (value as string[]).length > 0 && (value as string[]).every(isType)),
    `must be one of ${TYPES.join(', ')}, or a list of them`,
  ],
  const: ANY,
  enum: [(value) => Array.isArray(value) && value.length > 0, 'must be a list of values'],
  multipleOf: [(value) => typeof value === 'number' && value > 0, 'must be a number above 0'],
  minimum: NUMBER,
  maximum: NUMBER,
  exclusiveMinimum: NUMBER,
  exclusiveMaximum: NUMBER,
  minLength: COUNT,
  maxLength: COUNT,
  pattern: TEXT,
  format: TEXT,
  minItems: COUNT,
  maxItems: COUNT,
  uniqueItems: BOOLEAN,
  minContains: COUNT,
  maxContains: COUNT,
  minProperties: COUNT,
  maxProperties: COUNT,
  required: [isNames, 'must be a list of different names'],
  dependentRequired: [
    (value) => isObject(value) && Object.values(value).every(isNames),
    'must have lists of different names',
  ],
}

/** The keywords with subschemas: one, a list of them, or an object of them. */
const SUBSCHEMAS: Readonly<Record<string, 'one' | 'list' | 'object'>> = {
  $defs: 'object',
  properties: 'object',
  patternProperties: 'object',
  dependentSchemas: 'object',
  allOf: 'list',
  anyOf: 'list',
  oneOf: 'list',
  prefixItems: 'list',
  additionalProperties: 'one',
  unevaluatedProperties: 'one',
  propertyNames: 'one',
  items: 'one',
  unevaluatedItems: 'one',
  contains: 'one',
  not: 'one',
  if: 'one',
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: 'one',
  else: 'one',
}

/** Keywords that name schemas or refer to them by other means than a path. */
const NAMING = ['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$vocabulary']

interface Subschema {
  readonly path: MemberPath
  readonly ref: string | undefined
  /** Without those of `$defs`, which count where a `$ref` leads to them. */
  readonly children: Subschema[]
}

/** What is known of a schema while it is read. */
interface Found {
  readonly byPointer: Map<string, Subschema>
  /** The instructions of its patterns. */
  patternSize: number
}

/**
 * Checks a workspace's order form (OP-41, OP-134). Throws `bad_request` for what is no JSON Schema 2020-12, and
 * `unprocessable` for a schema that could cost more than its size tells: `$ref` leads to a subschema of the same schema
 * only, without loops, and the schema with all `$ref` expanded is bounded. Nothing is fetched. `path` is the path of
 * the schema in the request.
 */
export function checkFormSchema(schema: unknown, path: MemberPath): void {
  const found: Found = { byPointer: new Map(), patternSize: 0 }
  const root = collect(schema, path, '', found)
  const { size, depth } = expansion(root, found.byPointer)
  if (size > MAX_EXPANDED) {
    throw unprocessable(path, `has more than ${MAX_EXPANDED} subschemas once each $ref is expanded; use fewer $ref`)
  }
  if (depth > MAX_EXPANDED_DEPTH) {
    throw unprocessable(
      path,
      `nests deeper than ${MAX_EXPANDED_DEPTH} subschemas once each $ref is expanded; nest less`,
    )
  }
}

/** Checks a schema and all subschemas, each by itself, and collects them by their JSON pointers. */
function collect(schema: unknown, path: MemberPath, pointer: string, found: Found): Subschema {
  if (found.byPointer.size === MAX_SUBSCHEMAS) {
    throw unprocessable(path, `is too much: a form has at most ${MAX_SUBSCHEMAS} subschemas; use fewer`)
  }
  if (typeof schema !== 'boolean' && !isObject(schema)) {
    throw badRequest(path, 'must be a schema: an object, true or false')
  }
  const keywords = typeof schema === 'boolean' ? {} : schema
  const subschema: Subschema = { path, ref: keywords.$ref as string | undefined, children: [] }
  found.byPointer.set(pointer, subschema)
  for (const [keyword, value] of Object.entries(keywords)) {
    const within = [...path, keyword]
    const kind = Object.hasOwn(SUBSCHEMAS, keyword) ? SUBSCHEMAS[keyword] : undefined
    if (kind === undefined) checkValue(keyword, value, within, found)
    for (const [steps, child] of subschemasOf(kind, value, within)) {
      const below = [keyword, ...steps].map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`)
      const collected = collect(child, [...within, ...steps], pointer + below.join(''), found)
      if (keyword !== '$defs') subschema.children.push(collected)
    }
    if (keyword === 'patternProperties') {
      for (const each of Object.keys(value as object)) checkPattern(each, [...within, each], found)
    }
  }
  if (keywords.$schema !== undefined) {
    if (pointer !== '') throw unprocessable([...path, '$schema'], 'must be at the top of the schema only')
    if (keywords.$schema !== DIALECT) throw unprocessable([...path, '$schema'], `must be ${DIALECT}`)
  }
  if (keywords.uniqueItems === true && !((keywords.maxItems as number) <= MAX_UNIQUE_ITEMS)) {
    throw unprocessable([...path, 'uniqueItems'], `needs maxItems of at most ${MAX_UNIQUE_ITEMS} beside it`)
  }
  return subschema
}

function subschemasOf(
  kind: 'one' | 'list' | 'object' | undefined,
  value: unknown,
  path: MemberPath,
): [MemberPath, unknown][] {
  if (kind === undefined) return []
  if (kind === 'one') return [[[], value]]
  if (kind === 'object') {
    if (!isObject(value)) throw badRequest(path, 'must be an object of schemas')
    return Object.entries(value).map(([name, child]) => [[name], child])
  }
  if (!Array.isArray(value) || value.length === 0) throw badRequest(path, 'must be a list of schemas')
  return value.map((child, index) => [[index], child])
}

function checkValue(keyword: string, value: unknown, path: MemberPath, found: Found): void {
  if (NAMING.includes(keyword)) {
    throw unprocessable(path, 'is not supported; use $ref with a path, such as #/$defs/address')
  }
  const known = Object.hasOwn(VALUES, keyword) ? VALUES[keyword] : undefined
  if (known === undefined) throw badRequest(path, 'unknown keyword; leave it out')
  const [isValid, mustBe] = known
  if (!isValid(value)) throw badRequest(path, mustBe)
  if (keyword === 'pattern') checkPattern(value as string, path, found)
  if (keyword === 'enum' && (value as unknown[]).length > MAX_ENUM) {
    throw unprocessable(path, `must not have more than ${MAX_ENUM} values`)
  }
  if (keyword === 'format' && !Object.hasOwn(FORMATS, value as string)) {
    throw unprocessable(path, `must be one of ${Object.keys(FORMATS).join(', ')}; use pattern for others`)
  }
}

function checkPattern(pattern: string, path: MemberPath, found: Found): void {
  try {
    found.patternSize += linearPattern(pattern).size
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(path, 'must be a regular expression')
    throw unprocessable(path, 'must do without look-around, back-references and large repeat counts (RE2 syntax)')
  }
  if (found.patternSize > MAX_PATTERN_SIZE) {
    throw unprocessable(path, 'is too much: use fewer patterns, and maxLength instead of large repeat counts')
  }
}

/** The number of subschemas, and their depth, once each `$ref` is replaced by what it refers to. Throws for a loop. */
function expansion(root: Subschema, byPointer: ReadonlyMap<string, Subschema>): { size: number; depth: number } {
  const known = new Map<Subschema, { size: number; depth: number } | 'begun'>()
  const expand = (subschema: Subschema): { size: number; depth: number } => {
    const { path, ref, children } = subschema
    const expanded = known.get(subschema)
    if (expanded === 'begun') throw unprocessable(path, 'must not contain itself: a $ref leads back to it')
    if (expanded !== undefined) return expanded
    known.set(subschema, 'begun')
    const parts = [...children, ...(ref === undefined ? [] : [target(ref, path, byPointer)])].map(expand)
    const result = {
      size: parts.reduce((sum, { size }) => sum + size, 1),
      depth: Math.max(0, ...parts.map(({ depth }) => depth)) + 1,
    }
    known.set(subschema, result)
    return result
  }
  // Subschemas that nothing refers to have to be right, too.
  for (const subschema of byPointer.values()) expand(subschema)
  return expand(root)
}

function target(ref: string, path: MemberPath, byPointer: ReadonlyMap<string, Subschema>): Subschema {
  if (!/^#(\/|$)/.test(ref)) {
    throw unprocessable([...path, '$ref'], 'must be a path in this schema, such as #/$defs/address')
  }
  const found = byPointer.get(decoded(ref.slice(1)))
  if (found === undefined)
    throw badRequest([...path, '$ref'], `leads to no subschema: ${ref}; define it, such as in $defs`)
  return found
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}
