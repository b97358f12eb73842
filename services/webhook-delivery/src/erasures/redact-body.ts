import { ORDER } from '@backoffice/contracts/order.ts'

type Data = Readonly<Record<string, unknown>>

/** Members of a customer that say nothing about the person. All others are removed, also those added later. */
const NOT_PERSONAL = new Set(['id', 'created_at', 'updated_at'])
const PERSONAL_OF_ORDER = new Set(['customer', ...ORDER.personal])

const withNulls = (data: Data, isPersonal: (member: string) => boolean) =>
  Object.fromEntries(Object.entries(data).map(([member, value]) => [member, isPersonal(member) ? null : value]))

const idOf = (value: unknown): unknown => (value as { id?: unknown } | null | undefined)?.id

const OF_CUSTOMER = {
  subjectOf: idOf,
  // Receivers may rely on the type of the firstname: it is the one member that is never null.
  redact: (customer: Data) => ({ ...withNulls(customer, (member) => !NOT_PERSONAL.has(member)), firstname: '' }),
}
const OF_ORDER = {
  subjectOf: ({ id, customer }: Data) => idOf(customer) ?? id,
  redact: (order: Data) => withNulls(order, (member) => PERSONAL_OF_ORDER.has(member)),
}

const PERSONAL_DATA = new Map([
  ['customer.created', OF_CUSTOMER],
  ['customer.updated', OF_CUSTOMER],
  ['order.created', OF_ORDER],
  ['order.updated', OF_ORDER],
  ['order.paid', OF_ORDER],
])

/** The types of events with personal data of a customer. */
export const PERSONAL_EVENT_TYPES: readonly string[] = [...PERSONAL_DATA.keys()]

/** By whose erasure an event loses its personal data, if it has any: its customer's, or its order's without one. */
export function subjectOf(type: string, data: unknown): string | undefined {
  const id = PERSONAL_DATA.get(type)?.subjectOf((data ?? {}) as Data)
  return typeof id === 'string' ? id : undefined
}

/** The data of an event without personal data (OP-139): all members, in their order. */
export const redactData = (type: string, data: unknown): unknown =>
  PERSONAL_DATA.get(type)?.redact(data as Data) ?? data

/**
 * The body of an event without personal data (OP-139): the same envelope, members in their order. Undefined where its
 * subject is none of these, which are erased. Throws a SyntaxError for a body that is not JSON.
 */
export function redactBody(type: string, body: string, erased: ReadonlySet<string | null>): string | undefined {
  if (!PERSONAL_DATA.has(type)) return undefined
  const envelope = JSON.parse(body)
  const subject = subjectOf(type, envelope.data)
  if (subject === undefined || !erased.has(subject)) return undefined
  return JSON.stringify({ ...envelope, data: redactData(type, envelope.data) })
}
