import { z } from 'zod'
import { orAbsent } from './fields.ts'

/*
 * The members of an aggregate, declared once (decision 031). What follows from a declaration: the record's type, the
 * shapes of answers, events, states, requests and import rows, and the lists of columns in SQL. Statements themselves
 * are written out.
 */

type SqlType = 'uuid' | 'text' | 'text[]' | 'boolean' | 'integer' | 'bigint' | 'timestamptz' | 'date' | 'json' | 'jsonb'

/** What is said of a member. Its name is the one in the API, in snake case; a record has it in camel case. */
export interface Member {
  /** The type of its column. A member without one is kept in other tables, or computed. */
  readonly sql?: SqlType
  /** The name of its column, where it differs. */
  readonly column?: string
  /** The SQL that reads it, where that is not its column. */
  readonly read?: string
  /** The value in a record and in answers. A record has a `timestamptz` as a Date. */
  readonly shape: z.ZodType
  /** The value in requests. Without it no request sets the member. */
  readonly input?: z.ZodType
  /** A create has to send it. */
  readonly required?: true
  /** Updates do not have it. */
  readonly fixed?: true
  /** The value that `null` in a request sets (OP-09), and that a new record has unless a create sends another one. */
  readonly unset?: unknown
  /** A list or map that `null` in a request leaves as it is (OP-244). */
  readonly isList?: true
  /** The value of a new record, for a member that `null` does not unset. */
  readonly initial?: unknown
  /** The shape in a create, where `input` alone does not say it. */
  readonly create?: z.ZodType
  /** A column of imports: the row's key, an optional one with the shape of `input`, or one with a shape of its own. */
  readonly imported?: 'key' | true | z.ZodType
  /** Who sees it: answers and events, only the states that other services read, or nobody. */
  readonly shown: 'answer' | 'state' | 'nobody'
  /** Null once the customer of an order is erased (OP-130). */
  readonly personal?: true
  /** What readers take for it in records of releases that did not have it. */
  readonly older?: unknown
}
type Members = Readonly<Record<string, Member>>

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name
type NamesWith<M extends Members, Part> = { [N in keyof M & string]: M[N] extends Part ? N : never }[keyof M & string]

type Stored<M extends Member> = M['sql'] extends 'timestamptz'
  ? Date | Extract<z.output<M['shape']>, null>
  : z.output<M['shape']>

/** The members with a column, as code has them: `requiresShipping`. */
export type RecordOf<A extends Aggregate> = {
  readonly [N in NamesWith<A['members'], { sql: SqlType }> as Camel<N>]: Stored<A['members'][N]>
}
type Aggregate = { readonly members: Members }

type InputOf<M extends Member> = M['input'] extends z.ZodType ? M['input'] : never
type Sent<M extends Member> = M extends { unset: unknown }
  ? z.ZodOptional<z.ZodNullable<InputOf<M>>>
  : M extends { isList: true }
    ? ReturnType<typeof orAbsent<InputOf<M>>>
    : z.ZodOptional<InputOf<M>>

type CreateShape<M extends Members> = {
  [N in NamesWith<M, { input: z.ZodType }>]: M[N] extends { create: infer Shape extends z.ZodType }
    ? Shape
    : M[N] extends { required: true }
      ? InputOf<M[N]>
      : Sent<M[N]>
}
type UpdateShape<M extends Members> = {
  [N in Exclude<NamesWith<M, { input: z.ZodType }>, NamesWith<M, { fixed: true }>>]: Sent<M[N]>
}
type ImportShape<M extends Members> = {
  [N in NamesWith<M, { imported: unknown }>]: M[N] extends { imported: infer Shape extends z.ZodType }
    ? Shape
    : M[N] extends { imported: 'key' }
      ? InputOf<M[N]>
      : z.ZodOptional<InputOf<M[N]>>
}
type Shown<M extends Members, Where> = NamesWith<M, { shown: Where }>
type AnswerShape<M extends Members> = { [N in Shown<M, 'answer'>]: M[N]['shape'] }
type SettingsShape<M extends Members> = {
  [N in NamesWith<M, { input: z.ZodType; shown: 'state' | 'nobody' }>]: M[N]['shape']
}
type RecordShape<M extends Members, Where> = {
  [N in Shown<M, Where>]: M[N] extends { older: unknown } ? z.ZodOptional<M[N]['shape']> : M[N]['shape']
}
type ShownRecord<M extends Members> = Pick<
  RecordOf<{ members: M }>,
  Camel<NamesWith<M, { sql: SqlType; shown: 'answer' }>> & keyof RecordOf<{ members: M }>
>
type Answer<M extends Members> = z.output<z.ZodObject<AnswerShape<M>>>
type Settings<M extends Members> = z.output<z.ZodObject<SettingsShape<M>>>
type State<M extends Members> = z.output<z.ZodObject<RecordShape<M, 'answer' | 'state'>>>
type Computed<M extends Members, Body> = Omit<Body, NamesWith<M, { sql: SqlType }>>

/** The last argument, where it has members. */
type Needed<Body extends object> = keyof Body extends never ? [] : [Body]

type SentValues<M extends Members> = {
  readonly [N in NamesWith<M, { input: z.ZodType; sql: SqlType }>]?: z.output<InputOf<M[N]>> | null | undefined
}
type Initial<M extends Members> = {
  readonly [N in NamesWith<M, { sql: SqlType } & ({ unset: unknown } | { initial: unknown })> as Camel<N>]: Stored<M[N]>
}

export function members<const M extends Members>(declared: M) {
  const all = Object.entries<Member>(declared)
  const columns = all
    .filter(([, { sql }]) => sql !== undefined)
    .map(([name, { sql = 'text', column = name, read = column, ...member }]) => ({
      ...member,
      name,
      sql,
      column,
      read,
      member: camel(name),
    }))
  const settable = columns.filter(({ input }) => input !== undefined)
  const inBody = (isIn: (member: Member) => boolean) =>
    all.filter(([, member]) => isIn(member)).map(([name, { sql }]) => ({ name, member: sql && camel(name) }))
  const [answered, inState, inSettings] = [inBody(isAnswered), inBody(isInState), inBody(isSetting)]
  const shapes = <Shape>(isIn: (member: Member) => unknown, shapeOf: (member: Member) => z.ZodType | undefined) =>
    Object.fromEntries(
      all.filter(([, member]) => isIn(member)).map(([name, member]) => [name, shapeOf(member)]),
    ) as Shape
  function changes(sent: SentValues<M>): Partial<RecordOf<{ members: M }>> {
    const set: Record<string, unknown> = {}
    for (const { name, member, sql, unset } of settable) {
      const value = (sent as Readonly<Record<string, unknown>>)[name] ?? (isNull(sent, name) ? unset : undefined)
      if (value !== undefined) set[member] = sql === 'timestamptz' && value !== null ? new Date(value as string) : value
    }
    return set as Partial<RecordOf<{ members: M }>>
  }
  type Column = (typeof columns)[number]
  const list = (sqlOf: (column: Column) => string, some = columns) => some.map(sqlOf).join(', ')
  const selected = ({ read, member, sql }: Column) => `${read}${sql === 'date' ? '::text' : ''} as "${member}"`

  return {
    members: declared,
    /** The names of the members with a column in records. */
    names: columns.map(({ member }) => member) as Camel<NamesWith<M, { sql: SqlType }>>[],
    /** The names of the members that requests set. */
    inputs: all.filter(([, { input }]) => input).map(([name]) => name) as NamesWith<M, { input: z.ZodType }>[],

    /** The members of records that updates set. */
    updated: settable.filter(({ fixed }) => !fixed).map(({ member }) => member),

    /** The names of the personal data. */
    personal: all.filter(([, { personal }]) => personal).map(([name]) => name),

    /** For `z.strictObject(PRODUCT.shapes.answer)`. */
    shapes: {
      answer: shapes<AnswerShape<M>>(isAnswered, ({ shape }) => shape),
      /** What requests set and `answer` does not show. */
      settings: shapes<SettingsShape<M>>(isSetting, ({ shape }) => shape),
      /** As `answer`, for records on topics: members that came later are optional (decision 022). */
      data: shapes<RecordShape<M, 'answer'>>(isAnswered, recordShape),
      /** The data, and what only other services need. */
      state: shapes<RecordShape<M, 'answer' | 'state'>>(isInState, recordShape),
      create: shapes<CreateShape<M>>(({ input }) => input, createShape),
      update: shapes<UpdateShape<M>>(({ input, fixed }) => input && !fixed, sentShape),
      imported: shapes<ImportShape<M>>(({ imported }) => imported, importShape),
    },

    /** The values of a new record that a create need not send. */
    initial: Object.fromEntries(
      columns.flatMap(({ member, unset, initial = unset }) => (initial === undefined ? [] : [[member, initial]])),
    ) as Initial<M>,

    /** The record with what a request sends. What is not sent stays; `null` unsets, where possible (OP-09). */
    changed<Current extends RecordOf<{ members: M }>>(current: Current, sent: SentValues<M>): Current {
      return { ...current, ...changes(sent) }
    },

    /** The members of a record that a request sets: as `changed`, for a record that is read later. */
    changes,

    /** The body of answers and events: the record's members, and those that are not columns. */
    answerOf: (record: ShownRecord<M>, ...computed: Needed<Computed<M, Answer<M>>>) =>
      bodyOf(answered, record, computed) as Answer<M>,

    /** What requests set and answers do not show, in a body of its own. */
    settingsOf: (record: RecordOf<{ members: M }>, ...computed: Needed<Computed<M, Settings<M>>>) =>
      bodyOf(inSettings, record, computed) as Settings<M>,

    /** The body of states: as in answers, and what only other services need. */
    stateOf: (record: RecordOf<{ members: M }>, ...computed: Needed<Computed<M, State<M>>>) =>
      bodyOf(inState, record, computed) as State<M>,

    /** The members that are columns, for `json_to_recordset`. */
    row: (record: RecordOf<{ members: M }>): RecordOf<{ members: M }> =>
      Object.fromEntries(
        columns.map(({ member }) => [member, record[member as keyof typeof record]]),
      ) as unknown as RecordOf<{ members: M }>,

    /** Parts of SQL statements, for `tx.unsafe`. A row of a recordset holds each member under its name in records. */
    sql: {
      /** `requires_shipping, …` */
      columns: list(({ column }) => column),
      /** `"requiresShipping", …` */
      members: list(({ member }) => `"${member}"`),
      /** `"requiresShipping" boolean, …` */
      row: list(({ member, sql }) => `"${member}" ${sql}`),
      /** `requires_shipping as "requiresShipping", …`. A day is a text. */
      selected: list(selected),
      /** The same of what answers show. */
      shown: list(selected, columns.filter(isAnswered)),
      /** `'requiresShipping', requires_shipping, …`, for `json_build_object` */
      object: list(({ read, member }) => `'${member}', ${read}`),
      /** `note = null, …` for the personal data. */
      erasures: list(
        ({ column }) => `${column} = null`,
        columns.filter(({ personal }) => personal),
      ),
      /** `requires_shipping = row."requiresShipping", …` for these members of records. */
      assignments: (names: readonly string[]) =>
        list(
          ({ column, member }) => `${column} = row."${member}"`,
          columns.filter(({ member }) => names.includes(member)),
        ),
    },
  }
}

/** The data of a record of any release: gives each member that the record may lack what readers take for it. */
export function withOlder<Data extends object>({ members }: Aggregate, data: Data) {
  const older = Object.entries(members).flatMap(([name, { older }]) => (older === undefined ? [] : [[name, older]]))
  return { ...Object.fromEntries(older), ...data } as { [Name in keyof Data]-?: Exclude<Data[Name], undefined> }
}

/**
 * The schema for records of a part of a body. It is the answer's own until a member comes later (decision 022), so
 * that generated clients keep the name of its type.
 */
export const inRecords = <Shape extends z.ZodRawShape, Answer extends z.ZodObject>(shape: Shape, answer: Answer) =>
  (Object.entries(shape).every(([name, schema]) => answer.shape[name] === schema)
    ? answer
    : z.strictObject(shape)) as unknown as z.ZodObject<Shape, z.core.$strict>

/** A shape with these members first, in this order; members that came later follow as they are declared. */
export const inOrder = <Shape extends z.ZodRawShape>(
  first: readonly (keyof NoInfer<Shape> & string)[],
  shape: Shape,
): Shape => ({
  ...(Object.fromEntries(first.map((name) => [name, shape[name]])) as unknown as Shape),
  ...shape,
})

const camel = (name: string) => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())

const isNull = (sent: object, name: string) => (sent as Record<string, unknown>)[name] === null

function bodyOf(
  names: readonly { name: string; member: string | undefined }[],
  record: object,
  [computed]: readonly object[],
) {
  const body: Record<string, unknown> = {}
  for (const { name, member } of names) {
    const value = (member === undefined ? computed : record)?.[(member ?? name) as never] as unknown
    if (value !== undefined) body[name] = value instanceof Date ? value.toISOString() : value
  }
  return body
}

const isAnswered = ({ shown }: Member) => shown === 'answer'
const isInState = ({ shown }: Member) => shown !== 'nobody'
const isSetting = ({ input, shown }: Member) => input !== undefined && shown !== 'answer'
const recordShape = ({ shape, older }: Member) => (older === undefined ? shape : shape.optional())
function sentShape({ input, unset, isList }: Member) {
  if (isList) return input && orAbsent(input)
  return unset === undefined ? input?.optional() : input?.nullish()
}
const createShape = (member: Member) => member.create ?? (member.required ? member.input : sentShape(member))
function importShape({ imported, input }: Member) {
  if (imported instanceof z.ZodType) return imported
  return imported === 'key' ? input : input?.optional()
}
