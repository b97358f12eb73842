import { EVENT_CATALOGUE, EVENT_TYPES, EVENTS, exampleOfEvent } from '@backoffice/contracts/events.ts'
import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { exampleOf, named } from '@backoffice/contracts/named.ts'
import { type Components, describeSchema, mergeComponents } from '@backoffice/http/openapi-components.ts'
import { z } from 'zod'

type Json = Record<string, unknown>

const PING = 'webhook.ping'
/** The endpoint's id (OP-100). */
const PingData = named('PingData', z.strictObject({ id: Id }), { id: '0198c7a0-0000-7000-8000-000000000050' })

/** The headers of every delivery (spec: Delivery headers; OP-62). */
const HEADERS: Readonly<Record<string, Json>> = {
  WebhookId: {
    name: 'Webhook-Id',
    in: 'header',
    required: true,
    description: "The event's `id`. The same event can arrive more than once.",
    schema: { type: 'string', format: 'uuid' },
  },
  WebhookTimestamp: {
    name: 'Webhook-Timestamp',
    in: 'header',
    required: true,
    description: 'The Unix second at which this attempt was signed. Refuse one that is minutes old.',
    schema: { type: 'string', pattern: '^\\d+$' },
  },
  WebhookSignature: {
    name: 'Webhook-Signature',
    in: 'header',
    required: true,
    description:
      "HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. " +
      'There may be several, with spaces between; one that fits is enough.',
    'x-open-point': ['OP-62', 'OP-98'],
    schema: { type: 'string' },
  },
}

const ANSWERS = {
  '2XX': { description: 'Within 20 seconds: delivered' },
  default: {
    description:
      'Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours',
  },
}

/** The events of webhook endpoints, as the `webhooks` of the OpenAPI document, and their components. */
export function describeWebhooks(): { readonly webhooks: Json; readonly components: Components } {
  const found: Components[] = [{ parameters: HEADERS }]
  const webhooks: Json = {}
  for (const [type, data] of webhookData()) {
    const name = componentName(type)
    const { components, ...body } = describeSchema(bodyOf(type, name, data), 'output')
    found.push(components)
    webhooks[type] = {
      post: {
        operationId: `on${name}`,
        summary: capitalized(type.replaceAll(/[._]/g, ' ')),
        description:
          EVENTS[type] ?? 'Somebody asks for it (`POST /v1/webhooks/{id}/ping`). It cannot be subscribed to.',
        tags: ['events'],
        // The receiver trusts the signature.
        security: [],
        parameters: Object.keys(HEADERS).map((header) => ({ $ref: `#/components/parameters/${header}` })),
        requestBody: { required: true, content: { 'application/json': body } },
        responses: ANSWERS,
      },
    }
  }
  return { webhooks, components: mergeComponents(found) }
}

/** The data of each event, by its name. */
const webhookData = (): (readonly [type: string, data: z.ZodType])[] => [
  ...EVENT_TYPES.flatMap((type) => {
    const data = EVENT_CATALOGUE.get(type)?.record.shape.data
    return data === undefined ? [] : [[type, data] as const]
  }),
  [PING, PingData],
]

function bodyOf(type: string, name: string, data: z.ZodType): z.ZodType {
  const body = z.strictObject({ id: Id, type: z.literal(type), timestamp: Timestamp, livemode: z.boolean(), data })
  const example = {
    id: '0198c7a0-0000-7000-8000-000000000060',
    type,
    timestamp: '2026-03-01T12:05:00.000Z',
    livemode: true,
    data: type === PING ? exampleOf(data) : exampleOfEvent(type),
  }
  return named(`${name}Event`, body, example)
}

const capitalized = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1)

/** `payment_milestone_template.created` → `PaymentMilestoneTemplateCreated`. */
const componentName = (type: string): string => type.split(/[._]/).map(capitalized).join('')
