import { ApiError } from '@backoffice/contracts/errors.ts'
import { type FairSlots, fairSlots } from '@backoffice/runtime/fair-slots.ts'

/** Previews read all products of a workspace: two at once on a replica, one of each workspace, and few more wait (OP-162). */
const LIMITS = { slots: 2, share: 1, waiting: 5, waitMs: 5000 }

/** The turns of previews. A workspace with too many of them gets `rate_limited`. */
export const previewSlots = (): FairSlots =>
  fairSlots(LIMITS, (why) => {
    const headers = { 'retry-after': '1' }
    return why === 'owner'
      ? new ApiError('rate_limited', 'This workspace has too many previews under way; wait until one ends', { headers })
      : new ApiError('service_unavailable', 'Too many previews are under way; try again shortly', { headers })
  })
