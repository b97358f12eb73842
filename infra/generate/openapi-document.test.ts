import { readFileSync } from 'node:fs'
import { DESCRIPTIONS } from '@backoffice/contracts/descriptions.ts'
import { EVENT_TYPES } from '@backoffice/contracts/events.ts'
import { openPoints } from '@backoffice/testing/open-points.ts'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { OPERATIONS, operatorsDocument, wholeDocument } from './openapi-document.ts'

interface Body {
  readonly content?: Record<string, { readonly schema: Schema; readonly example?: unknown }>
  readonly headers?: Record<string, { readonly $ref?: string; readonly description?: string }>
}
interface Entry {
  readonly operationId: string
  readonly parameters: { readonly $ref: string; readonly name?: string; readonly description?: string }[]
  readonly requestBody?: Body
  readonly responses: Record<string, Body>
}
interface Schema {
  readonly $ref?: string
  readonly description?: string
  readonly examples?: unknown[]
  readonly properties?: Record<string, Schema>
  readonly items?: Schema
  readonly additionalProperties?: boolean | Schema
  readonly anyOf?: Schema[]
}
interface Document {
  readonly paths: Record<string, Record<string, Entry>>
  readonly webhooks: Record<string, { readonly post: Entry }>
  readonly components: Record<
    'parameters' | 'headers',
    Record<string, { readonly description?: string }> | undefined
  > & {
    readonly schemas: Record<string, Schema>
    readonly responses?: Record<string, Body>
  }
}

const { paths, webhooks, components } = wholeDocument() as unknown as Document
const entries = Object.values(paths).flatMap((methods) => Object.values(methods))

/** The schemas of an operation's request and of its successful answers. */
const schemasOf = ({ requestBody, responses }: Entry): Schema[] =>
  [requestBody, ...Object.values(responses)]
    .flatMap((body) => Object.values(body?.content ?? {}))
    .map(({ schema }) => schema)

const resolve = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? expect.fail())

it('names every schema of a JSON body, so that generated clients have a name for it', () => {
  const unnamed = entries.filter(({ requestBody, responses }) =>
    [requestBody, ...Object.values(responses)].some(
      (body) => body?.content?.['application/json'] && !body.content['application/json'].schema.$ref,
    ),
  )
  // The form of a workspace has any members; the body of an invoice has none.
  expect(unnamed.map(({ operationId }) => operationId).sort()).toEqual(['createOrderInvoice', 'getSubmittedOrderForm'])
})

interface Described {
  readonly place: string
  readonly description?: string
}

/** The members of a schema, by their place. */
const membersOf = ({ properties = {}, items, additionalProperties: values, anyOf = [] }: Schema, place: string) => [
  ...Object.entries(properties).flatMap(([name, member]): Described[] => [
    { ...member, place: `${place}.${name}` },
    ...membersOf(member, `${place}.${name}`),
  ]),
  ...[items, values, ...anyOf].flatMap((inner): Described[] =>
    typeof inner === 'object' ? membersOf(inner, place) : [],
  ),
]

/** The headers of answers, but for those that the components have. */
const ownHeaders = (bodies: readonly (Body | undefined)[]) =>
  Object.fromEntries(bodies.flatMap((body) => Object.entries(body?.headers ?? {}).filter(([, { $ref }]) => !$ref)))

/** The members, parameters and headers of an operation, but for those that the components have. */
const membersOfEntry = (entry: Entry): Described[] => {
  const { operationId: place, parameters = [], requestBody, responses } = entry
  const bodies = [requestBody, ...Object.values(responses)]
  return [
    ...parameters
      .filter(({ $ref }) => !$ref)
      .map((parameter) => ({ ...parameter, place: `${place} ${parameter.name}` })),
    ...Object.entries(ownHeaders(bodies)).map(([name, one]) => ({ ...one, place: `${place} ${name}` })),
    ...bodies.flatMap((body) => Object.values(body?.content ?? {}).flatMap(({ schema }) => membersOf(schema, place))),
  ]
}

const { schemas, parameters = {}, headers = {}, responses: refusals = {} } = components
const described: Described[] = [
  ...Object.entries(schemas).flatMap(([name, schema]) => membersOf(schema, name)),
  ...Object.entries({ ...parameters, ...headers, ...ownHeaders(Object.values(refusals)) }).map(([place, one]) => ({
    ...one,
    place,
  })),
  ...[...entries, ...Object.values(webhooks).map(({ post }) => post)].flatMap(membersOfEntry),
]

it('has an example for each body, which tools that import the document send (OP-261)', () => {
  const bodies = [
    ...entries.flatMap(({ operationId: place, requestBody, responses }) =>
      [requestBody, ...Object.values(responses)].map((body) => ({ place, ...body })),
    ),
    ...Object.entries(webhooks).map(([place, { post }]) => ({ place, ...post.requestBody })),
    ...Object.entries(components.responses ?? {}).map(([place, body]) => ({ place, ...body })),
  ].filter(({ content }) => content)
  const lacking = bodies.filter(({ content = {} }) =>
    Object.values(content).some(({ schema, example }) => example === undefined && takesMembers(schema)),
  )
  expect(lacking.map(({ place }) => place)).toEqual([])
})

const takesMembers = ({ properties, additionalProperties: values }: Schema) =>
  values !== false || Object.keys(properties ?? {}).length > 0

it('describes each member, parameter and header (OP-261): libs/contracts/src/descriptions.ts has what a name means', () => {
  expect(described.length).toBeGreaterThan(1000)
  expect(
    described.filter(({ description = '' }) => !/^(?!Known values).*\.$/s.test(description)).map(({ place }) => place),
  ).toEqual([])
})

const { paths: adminPaths } = operatorsDocument() as unknown as Pick<Document, 'paths'>
const ofOperators = Object.values(adminPaths).flatMap((methods) => Object.values(methods).flatMap(membersOfEntry))

it('says of members of the admin API what they mean there, not what the name means to merchants', () => {
  const others = ['ids', 'key', 'overlap_seconds', 'reason', 'rows', 'scopes'].map(
    (name) => DESCRIPTIONS.everywhere?.[name] ?? expect.fail(name),
  )
  const wrong = ofOperators.filter(({ description = '' }) => others.some((text) => description.startsWith(text)))
  expect(wrong.map(({ place }) => place)).toEqual([])
})

it('has a place for each description', () => {
  const said = [...described, ...ofOperators].map(({ description = '' }) => description)
  const idle = Object.entries(DESCRIPTIONS).flatMap(([place, members]) =>
    Object.entries(members).flatMap(([name, text]) =>
      said.some((description) => description.startsWith(text)) ? [] : [`${place}.${name}`],
    ),
  )
  expect(idle).toEqual([])
})

it('has operation ids that read as a verb and a noun', () => {
  for (const { operationId } of entries) {
    expect(operationId).toMatch(/^[a-z]+([A-Z][a-z]+)+$/)
  }
})

const declared = Object.values(OPERATIONS)
  .flat()
  .flatMap(({ method, path, body, responses }) =>
    [body, ...Object.values(responses)].map((schema) => ({ name: `${method} ${path}`, schema })),
  )
  .flatMap(({ name, schema }) => (schema instanceof z.ZodType ? [{ name, schema }] : []))
  .flatMap(({ name, schema }) =>
    ((z.globalRegistry.get(schema)?.examples ?? []) as unknown[]).map((example) => ({ name, schema, example })),
  )

it.each(declared)('$name: an example of its declaration passes the validation', ({ schema, example }) => {
  expect(schema.safeParse(example).error).toBeUndefined()
})

it('describes each event as a webhook: envelope, data and headers (OP-61)', () => {
  expect(Object.keys(webhooks)).toEqual([...EVENT_TYPES, 'webhook.ping'])
  for (const [type, { post }] of Object.entries(webhooks)) {
    expect(post.parameters.map(({ $ref }) => $ref.split('/').at(-1))).toEqual([
      'WebhookId',
      'WebhookTimestamp',
      'WebhookSignature',
    ])
    const { properties = {} } = resolve(schemasOf(post)[0] ?? expect.fail())
    expect(Object.keys(properties)).toEqual(['id', 'type', 'timestamp', 'livemode', 'data'])
    expect(properties.type).toMatchObject({ const: type })
    expect(properties.data?.$ref).toMatch(/^#\/components\/schemas\/\w+$/)
  }
})

/** Rows of these chapters concern operators and partners; the others that decide no answer of `/v1` are listed. */
const OTHER_CHAPTERS = ['Apps and operators', 'Running the services']
const NO_ANSWERS = {
  'OP-91': 'files, outside /v1',
  'OP-95': 'between services',
  'OP-96': 'between services',
  'OP-102': 'a command',
  'OP-103': 'a command',
  'OP-105': 'when deliveries leave',
  'OP-106': 'when deliveries leave',
  'OP-107': 'when deliveries leave',
  'OP-138': 'a command',
  'OP-166': 'when deliveries leave',
  'OP-211': 'a command',
  'OP-260': 'a command',
  'OP-283': 'pages, outside /v1',
  'OP-284': 'a command',
}

it('names each open point that decides answers', () => {
  const text = readFileSync(new URL('../../docs/open-points.md', import.meta.url), 'utf8')
  const chapters = text.split(/^## /m).filter((chapter) => !OTHER_CHAPTERS.some((title) => chapter.startsWith(title)))
  const decided = [...openPoints.keys()].filter((id) => chapters.some((chapter) => chapter.includes(`### ${id} `)))
  const named = new Set(openPointsIn(wholeDocument()))
  expect(decided.filter((id) => !named.has(id) && !(id in NO_ANSWERS))).toEqual([])
  expect(Object.keys(NO_ANSWERS).filter((id) => named.has(id))).toEqual([])
})

/** The ids of all `x-open-point` in a part of the document. */
const openPointsIn = (part: unknown): string[] =>
  typeof part === 'object' && part !== null
    ? Object.entries(part).flatMap(([name, value]) =>
        name === 'x-open-point' ? [value as string | string[]].flat() : openPointsIn(value),
      )
    : []
