import { namedObject } from '@backoffice/contracts/named.ts'
import { Days, KEPT_DAYS, StoredBytes, WebhookFailures, WebhookUsage } from '@backoffice/contracts/usage.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { type Asking, askService, EACH_ANSWER_MS } from '../upstreams/ask-service.ts'

const DAY_MS = 86_400_000
/** Of a request that names no `since`. */
const SHOWN_DAYS = 30

const Query = Days.partial()
const Count = z.int()
const UsageOfDay = namedObject('UsageOfDay', {
  day: z.iso.date(),
  requests: Count,
  rate_limited: Count,
  events: Count,
  deliveries: Count,
  failures: Count,
})
const UsageOfFiles = namedObject('UsageOfFiles', { assets: Count, imports: Count })

/** What a workspace uses (OP-272). */
const Usage = namedObject(
  'Usage',
  { stored_bytes: UsageOfFiles, webhook_endpoints: Count, days: z.array(UsageOfDay) },
  {
    stored_bytes: { assets: 48_200_113, imports: 1_204_220 },
    webhook_endpoints: 2,
    days: [{ day: '2026-03-01', requests: 18_204, rate_limited: 12, events: 940, deliveries: 1880, failures: 3 }],
  },
)

/** GET /v1/usage (extension; OP-272): what the workspace uses now, and what it has sent and got by day. */
export const getUsage = (asking: Omit<Asking, 'now'>) =>
  operation({
    operationId: 'getUsage',
    method: 'GET',
    path: '/v1/usage',
    summary: 'Read what the workspace uses, day by day',
    scope: 'workspace::read',
    query: Query,
    responses: { 200: Usage },
    openPoints: ['OP-272'],
    extension: true,

    async handle({ query, context, now, inWorkspace }) {
      const days = daysOf(query, now)
      const range = { since: days[0] ?? dayOf(now), until: dayOf(now, 1) }
      const request = { caller: context, owner: context.workspaceId, signal: AbortSignal.timeout(EACH_ANSWER_MS) }
      const ask = <Answer>(
        service: Parameters<typeof askService>[0],
        path: `/internal/${string}`,
        answer: z.ZodType<Answer>,
      ) => askService(service, { ...request, path, answer }, { ...asking, now })
      const ofDays = `since=${range.since}&until=${range.until}`
      const [assets, imports, webhooks, failures] = await Promise.all([
        ask('catalog', '/internal/stored-bytes', StoredBytes),
        ask('imports', '/internal/stored-bytes', StoredBytes),
        ask('webhook-delivery', `/internal/usage?${ofDays}`, WebhookUsage),
        ask('webhook-delivery', `/internal/failures?${ofDays}`, WebhookFailures),
      ])
      return inWorkspace(async (tx) => {
        const requests = new Map((await readRequests(tx, range)).map((row) => [row.day, row]))
        const ofWebhooks = new Map(webhooks.days.map((row) => [row.day, row]))
        const failuresOf = new Map(failures.days.map((row) => [row.day, row]))
        return ok({
          stored_bytes: { assets: assets.bytes, imports: imports.bytes },
          webhook_endpoints: webhooks.endpoints,
          days: days.map((day) => ({
            ...NOTHING,
            ...requests.get(day),
            ...ofWebhooks.get(day),
            ...failuresOf.get(day),
            day,
          })),
        })
      })
    },
  })

const NOTHING = { requests: 0, rate_limited: 0, events: 0, deliveries: 0, failures: 0 }

const dayOf = (now: Date, later = 0) => new Date(now.getTime() + later * DAY_MS).toISOString().slice(0, 10)

/** The days from `since` on and before `until` whose counts are kept, today among them; 30 unless `since` says more. */
function daysOf({ since = '', until = '9999' }: z.output<typeof Query>, now: Date): string[] {
  const kept = Array.from({ length: since === '' ? SHOWN_DAYS : KEPT_DAYS }, (_, age) => dayOf(now, -age)).reverse()
  return kept.filter((day) => day >= since && day < until)
}

const readRequests = (tx: Transaction, { since, until }: z.output<typeof Days>) => tx<
  { day: string; requests: number; rate_limited: number }[]
>`
  select day::text, requests, rate_limited from daily_requests
  where workspace_id = ${tx.context.workspaceId} and day >= ${since} and day < ${until}`
