import { ApiError } from '@backoffice/contracts/errors.ts'
import { FairSlots } from '@backoffice/runtime/fair-slots.ts'

/** Of ten connections three stay free for a workspace that holds fewer than three. */
const SHARE = 0.3
/** Transactions of one workspace that wait for a connection, at most. */
const WAITING = 500

/**
 * Shares the connections of a pool among workspaces (OP-161): slow or waiting transactions of one workspace leave
 * connections to the others. A workspace that uses as many connections as it may gets `rate_limited` after `waitMs`.
 * When others use all connections, the error has the code CONNECT_TIMEOUT.
 */
export const connectionShares = (connections: number, waitMs: number): FairSlots =>
  new FairSlots(
    { slots: connections, share: Math.max(1, Math.floor(connections * SHARE)), waiting: WAITING, waitMs },
    (why) => (why === 'owner' ? tooManyAtOnce() : noConnection()),
  )

const tooManyAtOnce = () =>
  new ApiError(
    'rate_limited',
    'This workspace has too many requests under way; send fewer at once, or try again shortly',
    {
      headers: { 'retry-after': '1' },
    },
  )

const noConnection = () =>
  Object.assign(new Error('every connection is in use by other workspaces'), { code: 'CONNECT_TIMEOUT' })
