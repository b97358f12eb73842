import type { Job } from '../job.ts'

let jobs = 0

/** A first attempt about something of its own, to an endpoint of a workspace. */
export const aJob = (endpointId: string, differences: Partial<Job> = {}, workspaceId = 'workspace'): Job => ({
  deliveryId: String(++jobs),
  eventId: 'event',
  eventType: 'product.created',
  key: `key ${jobs}`,
  occurredAt: new Date(),
  traceparent: null,
  target: {
    workspaceId,
    id: endpointId,
    url: new URL('https://example.com'),
    signing: { keys: [], isStandardToo: false },
    createdAt: new Date(),
  },
  body: Buffer.alloc(100),
  attemptsMade: 0,
  resendsMade: 0,
  resend: undefined,
  resendAt: undefined,
  deliveredAt: undefined,
  ...differences,
})

/** As many of something as asked for. */
export const many = <Thing>(count: number, one: (index: number) => Thing): Thing[] =>
  Array.from({ length: count }, (_, index) => one(index))
