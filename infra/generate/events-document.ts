import { EVENT_CATALOGUE, EVENTS } from '@backoffice/contracts/events.ts'
import { table } from './markdown-table.ts'
import { OPERATIONS, wholeDocument } from './openapi-document.ts'

/** What the schemas of the OpenAPI document have for a member of an event. */
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly additionalProperties?: boolean | Schema
  readonly examples?: readonly { readonly data?: unknown }[]
}

const INTRODUCTION = `# Events

\`npm run generate:api\` writes this page.

[Webhooks](webhooks.md) has what is true of every event, and [the members](webhooks.md#what-arrives) around \`data\`. Here is when each fires, by which
operations, and what its \`data\` has, with an example. An operation may fire an event only in some cases, such as \`order.paid\` with the payment that
completes the sum. Where none is named, the platform or one of its other parts fires it. The [reference](openapi.json) says what the members of an
answer of the API are.`

/** The text of docs/events.md. */
export function eventsDocument(): string {
  const { components } = wholeDocument() as { components: { schemas: Readonly<Record<string, Schema>> } }
  const resolved = ({ $ref, ...others }: Schema): Schema =>
    $ref === undefined ? others : { ...components.schemas[$ref.split('/').at(-1) ?? ''], ...others }
  const bodyOf = (type: string): Schema =>
    components.schemas[`${type.split(/[._]/).map(capitalized).join('')}Event`] ?? {}

  /** The rows of a schema's members; those of what they hold follow each, as \`variants[].sku\`. */
  function rowsOf(schema: Schema, path = ''): string[][] {
    return Object.entries(resolved(schema).properties ?? {}).flatMap(([name, member]) => {
      const { type, description = '' } = described(member)
      return [[`\`${path}${name}\``, type, description], ...rowsOf(inner(member), `${path}${name}${suffix(member)}.`)]
    })
  }
  const nameOf = ({ $ref = '' }: Schema) => $ref.split('/').at(-1) ?? ''
  const namesOf = (schema: Schema) =>
    Object.keys(resolved(schema).properties ?? {})
      .map((name) => `\`${name}\``)
      .join(', ')
  const alternatives = (member: Schema) => (resolved(member).anyOf ?? [member]).map(resolved)
  const isList = (member: Schema) => alternatives(member).some(({ items }) => items !== undefined)
  const suffix = (member: Schema) => (isList(member) ? '[]' : '')
  function inner(member: Schema): Schema {
    const holder = alternatives(member).find(({ properties, items }) => properties ?? items) ?? {}
    return holder.items ? inner(holder.items) : holder
  }
  function described(member: Schema) {
    const types = alternatives(member).flatMap(({ type = 'any', format }) =>
      [type].flat().map((one) => (format === undefined || one === 'null' ? one : format)),
    )
    return { type: [...new Set(types)].join(' or '), description: resolved(member).description }
  }

  function sectionOf(resource: string, types: readonly string[]): string[] {
    const fires = types.map((type) => [`\`${type}\``, EVENTS[type] ?? '', operationsFor(type)])
    const shapes = Map.groupBy(types, (type) => EVENT_CATALOGUE.get(type)?.record.shape.data)
    const data = [...shapes.values()].flatMap((alike) => {
      const body = bodyOf(alike[0] ?? '')
      const data = body.properties?.data ?? {}
      const answer = nameOf(data).match(/^(\w+)Data$/)?.[1] ?? ''
      const of = `\`data\` of ${alike.map((type) => `\`${type}\``).join(', ')}`
      const example = `\`\`\`json\n${JSON.stringify(body.examples?.[0]?.data, null, 2)}\n\`\`\``
      if (nameOf(data).startsWith('Deleted')) return [`${of}: ${namesOf(data).replace(', ', ', perhaps with ')}.`]
      if (answer in components.schemas && namesOf(components.schemas[answer] ?? {}) === namesOf(data))
        return [`${of}: the \`${answer}\` as the API answers it.`, example]
      // A shape whose other members are not listed says so by a schema: the others have true.
      const more = typeof resolved(data).additionalProperties === 'object' ? ', which may have more members' : ''
      return [`${of}${more}:`, table(['member', 'type', 'what it is'], rowsOf(data)), example]
    })
    return [`## ${resource}`, table(['event', 'fires', 'fired by'], fires), ...data]
  }

  const resources = Map.groupBy(Object.keys(EVENTS), (type) => type.slice(0, type.lastIndexOf('.')))
  return `${[INTRODUCTION, ...[...resources].flatMap((one) => sectionOf(...one))].join('\n\n')}\n`
}

const capitalized = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1)

const operationsFor = (type: string): string =>
  Object.values(OPERATIONS)
    .flat()
    .filter((one) => 'events' in one && one.events?.includes(type))
    .map(({ method, path }) => `\`${method} ${path}\``)
    .join(', ') || '–'
