import { z } from 'zod'
import { Id, Timestamp } from './fields.ts'
import { namedObject } from './named.ts'
import { ListQuery } from './pagination.ts'

/** Whether an endpoint gets deliveries, and takes them (OP-253, OP-254). `reason` is null while it is ACTIVE. */
export const ENDPOINT_STATE = {
  state: z.enum(['ACTIVE', 'FAILING', 'DISABLED']),
  reason: z.enum(['requested', 'no_success', 'gone']).nullable(),
  since: Timestamp,
}

/** The data of the events about an endpoint (OP-255). */
export const EndpointState = namedObject(
  'WebhookEndpointState',
  { id: Id, ...ENDPOINT_STATE },
  {
    id: '0198c7a0-0000-7000-8000-000000000050',
    state: 'FAILING',
    reason: 'no_success',
    since: '2026-03-02T12:00:30.000Z',
  },
)

/** How an endpoint answers, for operators (OP-294). */
const EndpointHealth = z.strictObject({
  id: Id,
  url: z.string(),
  ...ENDPOINT_STATE,
  app: z.string().nullable(),
  failing_since: Timestamp.nullable(),
  last_success_at: Timestamp.nullable(),
  last_failure: z
    .strictObject({ at: Timestamp, error_class: z.string(), response_status: z.int().nullable() })
    .nullable(),
})

/** A workspace's endpoints for operators, worst first, and how many it may have beside those of apps (OP-294). */
export const EndpointsHealth = z.strictObject({
  endpoints: z.array(EndpointHealth),
  limits: z.strictObject({ endpoints: z.strictObject({ used: z.int(), most: z.int() }) }),
})

/** An endpoint of any workspace that fails, or was disabled because it did (OP-298). */
export const FailingEndpoint = EndpointHealth.extend({ workspace: Id })
export const FailingEndpointQuery = ListQuery.extend({ state: z.enum(['DISABLED', 'FAILING']).optional() })
