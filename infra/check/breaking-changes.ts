import type { ApiDocument, Body, Direction, Entry, Paths, Schema } from './openapi-document.ts'

/** The operations of a document: `GET /v1/products`. */
export const operationsOf = ({ paths }: ApiDocument): string[] => [...entriesOf(paths).keys()]

const entriesOf = (paths: Paths = {}) =>
  new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, entry]) => [`${method.toUpperCase()} ${path}`, entry] as const),
    ),
  )

/**
 * What in an OpenAPI document breaks clients of an earlier one (OP-262): what they send is refused, what they read is
 * not there, or a method that was generated for them has another name. Each with its place.
 */
export function breakingChanges(before: ApiDocument, after: ApiDocument): string[] {
  const breaks = new Set<string>()
  const seen = new Set<string>()

  function compareAll(paths: Paths | undefined, later: Paths | undefined, direction: Direction): void {
    const found = entriesOf(later)
    for (const [place, entry] of entriesOf(paths)) {
      const now = found.get(place)
      if (now === undefined) breaks.add(`${place}: is removed`)
      else compareEntry(entry, now, place, direction)
    }
  }

  /** `direction` is that of the request: those of webhooks are read. */
  function compareEntry(entry: Entry, now: Entry, place: string, direction: Direction): void {
    if (entry.operationId !== now.operationId) breaks.add(`${place}: its operationId was ${entry.operationId}`)
    const parameters = parametersOf(now, after)
    const known = parametersOf(entry, before)
    for (const [name, { schema }] of known) {
      const parameter = parameters.get(name)
      if (parameter === undefined) breaks.add(`${place} ${name}: is removed`)
      else if (schema && parameter.schema) compare(schema, parameter.schema, `${place} ${name}`, direction)
    }
    for (const [name, { required }] of parameters)
      if (required && !known.get(name)?.required) breaks.add(`${place} ${name}: is required`)
    if (!entry.requestBody?.required && now.requestBody?.required) breaks.add(`${place}: requires a body`)
    compareBody(entry.requestBody, now.requestBody, place, direction)
    for (const [status, body] of Object.entries(entry.responses)) {
      // Errors have one body. Another status is told by its code.
      if (!status.startsWith('2') || direction === 'read') continue
      const answer = now.responses[status]
      if (answer === undefined) breaks.add(`${place}: answers no ${status}`)
      else compareBody(body, answer, place, 'read')
    }
  }

  function compareBody(body: Body | undefined, now: Body | undefined, place: string, direction: Direction): void {
    for (const [mediaType, { schema }] of Object.entries(body?.content ?? {})) {
      const content = now?.content?.[mediaType]
      if (content === undefined) breaks.add(`${place}: has no ${mediaType}`)
      else compare(schema, content.schema, place, direction)
    }
  }

  function compare(schema: Schema, now: Schema, at: string, direction: Direction): void {
    const names = [nameOf(schema), nameOf(now)]
    if (names[0] !== undefined || names[1] !== undefined) {
      const key = `${direction} ${names.join(' ')}`
      if (seen.has(key)) return
      seen.add(key)
    }
    const place = names[0] ?? at
    const [were, are] = [partOf(schema, before), partOf(now, after)]
    const [narrow, wide] = direction === 'sent' ? [are, were] : [were, are]
    for (const type of wide.types)
      if (narrow.types.size > 0 && !narrow.types.has(type)) breaks.add(`${place}: ${direction} as ${type}`)
    if (direction === 'sent' && were.types.size === 0 && are.types.size > 0) breaks.add(`${place}: has a type`)
    for (const problem of [
      ...lostValues(were.schema, are.schema),
      ...(direction === 'sent' ? narrowed(were.schema, are.schema) : []),
    ])
      breaks.add(`${place}: ${problem}`)
    compareMembers(were.schema, are.schema, place, direction)
  }

  function compareMembers(schema: Schema, now: Schema, place: string, direction: Direction): void {
    const { properties = {}, required = [], items, additionalProperties: values } = schema
    for (const [name, member] of Object.entries(properties)) {
      const later = now.properties?.[name]
      if (later === undefined) breaks.add(`${place}.${name}: is removed`)
      else compare(member, later, `${place}.${name}`, direction)
    }
    const [lost, stricter] = [required, now.required ?? []]
    const [few, many] = direction === 'sent' ? [lost, stricter] : [stricter, lost]
    for (const name of many)
      if (!few.includes(name) && (direction === 'sent' || now.properties?.[name]))
        breaks.add(`${place}.${name}: is ${direction === 'sent' ? '' : 'no longer '}required`)
    if (items && now.items) compare(items, now.items, `${place}[]`, direction)
    if (typeof values === 'object' && typeof now.additionalProperties === 'object')
      compare(values, now.additionalProperties, `${place}[]`, direction)
  }

  compareAll(before.paths, after.paths, 'sent')
  compareAll(before.webhooks, after.webhooks, 'read')
  return [...breaks]
}

const nameOf = ({ $ref }: Schema) => $ref?.split('/').at(-1)

const referred = <Part extends { readonly $ref?: string }>(part: Part, { components }: ApiDocument): Part => {
  const [kind = '', name = ''] = part.$ref?.split('/').slice(-2) ?? []
  return (components[kind]?.[name] as Part | undefined) ?? part
}

const parametersOf = ({ parameters = [] }: Entry, document: ApiDocument) =>
  new Map(
    parameters.map((one) => {
      const parameter = referred(one, document)
      return [`${parameter.in} ${parameter.name}`, parameter] as const
    }),
  )

/** A schema without its `null`, and the types that its values have: none for any. */
function partOf(schema: Schema, document: ApiDocument): { readonly schema: Schema; readonly types: Set<string> } {
  const resolved = referred(schema, document)
  const { anyOf = [resolved] } = resolved
  const parts = anyOf.map((part) => referred(part, document))
  const types = new Set(parts.flatMap(({ type = [] }) => type))
  return { schema: parts.find(({ type }) => type !== 'null') ?? resolved, types }
}

function lostValues(were: Schema, are: Schema): string[] {
  const valuesOf = ({
    enum: values,
    const: value,
    'x-known-values': known = value === undefined ? undefined : [value],
  }: Schema) => values ?? known
  const kept = valuesOf(are)
  const values = valuesOf(were)
  if (kept === undefined) return []
  if (values === undefined) return are.enum ? ['takes only some values'] : []
  return values.filter((value) => !kept.includes(value)).map((value) => `has no ${String(value)}`)
}

const LIMITS = [
  ['maximum', 1],
  ['maxLength', 1],
  ['maxItems', 1],
  ['minimum', -1],
  ['minLength', -1],
  ['minItems', -1],
] as const

/** What a schema refuses that it took before. */
function narrowed(were: Schema, are: Schema): string[] {
  const limits = LIMITS.flatMap(([limit, sign]) => {
    const [was, is] = [were, are].map((schema) => (schema as Record<string, unknown>)[limit] as number | undefined)
    if (is === undefined || (was !== undefined && (is - was) * sign >= 0)) return []
    return [`${limit} is ${is}, and was ${was ?? 'none'}`]
  })
  const forms = (['format', 'pattern'] as const).filter(
    (form) =>
      are[form] !== undefined && are[form] !== were[form] && !(form === 'format' && /^int/.test(`${are.format}`)),
  )
  return [...limits, ...forms.map((form) => `has another ${form}`)]
}
