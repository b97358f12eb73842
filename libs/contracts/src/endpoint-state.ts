import { z } from 'zod'
import { Id, Timestamp } from './fields.ts'
import { namedObject } from './named.ts'

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
