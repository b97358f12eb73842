import type { ApiDocument, Body, Direction, Schema } from './openapi-document.ts'

/**
 * What in an OpenAPI document harms the users of generated clients (OP-244): what a client sends though nobody set it,
 * what it cannot read, and what it throws at when the API has grown. Each with its place.
 */
export function clientProblems({ paths, webhooks = {}, components }: ApiDocument): string[] {
  const problems = new Set<string>()
  const seen = new Set<string>()
  const resolved = (schema: Schema): Schema => {
    const name = schema.$ref?.split('/').at(-1)
    return name === undefined ? schema : (components.schemas[name] ?? {})
  }

  function visit(schema: Schema, place: string, direction: Direction): void {
    if (schema.$ref !== undefined) {
      const name = schema.$ref.split('/').at(-1) ?? ''
      if (seen.has(`${direction} ${name}`)) return
      seen.add(`${direction} ${name}`)
      visit(resolved(schema), name, direction)
      return
    }
    for (const rule of RULES[direction])
      for (const problem of rule(schema, resolved)) problems.add(`${place}${problem}`)
    for (const [name, member] of Object.entries(schema.properties ?? {})) visit(member, `${place}.${name}`, direction)
    for (const part of partsOf(schema)) visit(part, place, direction)
  }
  const visitBody = (body: Body | undefined, place: string, direction: Direction) => {
    for (const { schema } of Object.values(body?.content ?? {})) visit(schema, place, direction)
  }

  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { parameters = [], requestBody, responses }] of Object.entries(methods)) {
      const place = `${method.toUpperCase()} ${path}`
      for (const { name, schema } of parameters) if (schema) visit(schema, `${place} ?${name}`, 'sent')
      visitBody(requestBody, place, 'sent')
      for (const answer of Object.values(responses)) visitBody(answer, place, 'read')
    }
  }
  for (const [type, { post }] of Object.entries(webhooks)) visitBody(post?.requestBody, type, 'read')
  for (const [code, answer] of Object.entries(components.responses ?? {})) visitBody(answer, code, 'read')
  return [...problems]
}

const partsOf = ({ items, anyOf = [], additionalProperties: values }: Schema): Schema[] => [
  ...(items ? [items] : []),
  ...(typeof values === 'object' ? [values] : []),
  ...anyOf,
]

const isNull = ({ type }: Schema) => type === 'null'
const isMap = ({ properties, additionalProperties: values }: Schema) => properties === undefined && values !== undefined

type Rule = (schema: Schema, resolved: (schema: Schema) => Schema) => string[]

const sized: Rule = ({ type, format }) =>
  [type].flat().some((one) => one === 'integer' || one === 'number') && format === undefined
    ? [': a number needs a format, or clients read it into 32 bits']
    : []

const ofOneType: Rule = ({ type, anyOf = [] }) =>
  [type].flat().filter((one) => one !== 'null').length > 1 || anyOf.filter((part) => !isNull(part)).length > 1
    ? [': needs one type, or typed clients cannot send or read it']
    : []

const open: Rule = ({ properties, additionalProperties: others }) =>
  properties && others !== true && typeof others !== 'object'
    ? [': an object that clients read is open, since members may come']
    : []

const growing: Rule = ({ enum: values }) =>
  values ? [': a set that clients read is a text with x-known-values, since others may come'] : []

/** Java makes an optional list `[]`, and sends that: it clears what nobody named. A nullable one it leaves out. */
const leftOut: Rule = ({ properties = {}, required = [] }, resolved) =>
  Object.entries(properties).flatMap(([name, member]) => {
    const { type, ...shape } = resolved(member)
    return !required.includes(name) && (type === 'array' || (type === 'object' && isMap(shape)))
      ? [`.${name}: an optional list or map that clients send is nullable, or they send it empty`]
      : []
  })

const RULES: Readonly<Record<Direction, readonly Rule[]>> = {
  sent: [sized, ofOneType, leftOut],
  read: [sized, ofOneType, open, growing],
}
