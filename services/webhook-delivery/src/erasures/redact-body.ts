import { ORDER } from '@backoffice/contracts/order.ts'

/** Takes the personal members out of an event's data. */
type Redaction = (data: Readonly<Record<string, unknown>>) => unknown

/** Members of a customer that say nothing about the person. All others are removed, also those added later. */
const NOT_PERSONAL = new Set(['id', 'created_at', 'updated_at'])

const redactCustomer: Redaction = (customer) => ({
  ...Object.fromEntries(
    Object.entries(customer).map(([member, value]) => [member, NOT_PERSONAL.has(member) ? value : null]),
  ),
  // Receivers may rely on its type: it is the one member that is never null.
  firstname: '',
})

const PERSONAL_OF_ORDER = new Set(['customer', ...ORDER.personal])

const redactOrder: Redaction = (order) =>
  Object.fromEntries(
    Object.entries(order).map(([member, value]) => [member, PERSONAL_OF_ORDER.has(member) ? null : value]),
  )

interface PersonalData {
  customerOf(data: Readonly<Record<string, unknown>>): unknown
  readonly redact: Redaction
}

const idOf = (value: unknown): unknown => (value as { id?: unknown } | null | undefined)?.id

const OF_CUSTOMER: PersonalData = { customerOf: idOf, redact: redactCustomer }
const OF_ORDER: PersonalData = { customerOf: ({ customer }) => idOf(customer), redact: redactOrder }

const PERSONAL_DATA: Readonly<Record<string, PersonalData>> = {
  'customer.created': OF_CUSTOMER,
  'customer.updated': OF_CUSTOMER,
  'order.created': OF_ORDER,
  'order.updated': OF_ORDER,
  'order.paid': OF_ORDER,
}

/** The types of events with personal data of a customer. */
export const PERSONAL_EVENT_TYPES: readonly string[] = Object.keys(PERSONAL_DATA)

/**
 * The body of an event without the personal data of a customer (OP-139): the same envelope, members in their order.
 * Undefined where it is about none of these customers. Throws a SyntaxError for a body that is not JSON.
 */
export function redactBody(type: string, body: string, customerIds: ReadonlySet<string>): string | undefined {
  const personal = PERSONAL_DATA[type]
  if (personal === undefined) return undefined
  const envelope = JSON.parse(body)
  const customer = personal.customerOf(envelope.data)
  if (typeof customer !== 'string' || !customerIds.has(customer)) return undefined
  return JSON.stringify({ ...envelope, data: personal.redact(envelope.data) })
}
