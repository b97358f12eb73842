type Json = Record<string, unknown>

/** A JSON schema of an OpenAPI document, as far as samples need it. */
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly examples?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly minItems?: number
  readonly items?: Schema
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
}

const TEXTS: Readonly<Record<string, string>> = {
  uuid: '0198c2f1-a3b4-7c5d-8e9f-0123456789ab',
  uri: 'https://example.com/',
  email: 'ada@example.com',
  'date-time': '2026-01-01T00:00:00Z',
}

/** Samples of texts with a pattern, such as a currency or a provider. The first one that fits is used. */
const WORDS = ['NGN', 'acme']

/** The smallest value that fits a schema of the document: required members only, lists as short as allowed. */
export function sampleOf(schema: Schema, document: Json): unknown {
  if (schema.$ref !== undefined) return sampleOf(referred(schema.$ref, document), document)
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  const [choice] = schema.anyOf ?? schema.oneOf ?? []
  if (choice !== undefined) return sampleOf(choice, document)
  if (schema.allOf !== undefined) return Object.assign({}, ...schema.allOf.map((part) => sampleOf(part, document)))
  switch ([schema.type].flat()[0]) {
    case 'object': {
      const { required = [], properties = {} } = schema
      return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {}, document)]))
    }
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items ?? {}, document))
    case 'string':
      if (schema.examples?.[0] !== undefined) return schema.examples[0]
      return TEXTS[schema.format ?? ''] ?? WORDS.find((word) => new RegExp(schema.pattern ?? '', 'u').test(word))
    case 'integer':
    case 'number':
      return Math.max(1, schema.minimum ?? 1)
    case 'boolean':
      return true
    default:
      return {}
  }
}

const referred = (reference: string, document: Json): Schema =>
  reference
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((at, name) => (at as Json)[name], document) as Schema
