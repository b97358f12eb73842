import { slotRefusals } from '@backoffice/contracts/slot-refusals.ts'
import { type FairSlots, fairSlots } from '@backoffice/runtime/fair-slots.ts'

/**
 * Previews read all products of a workspace: two at once on a replica, one of each workspace, and few more wait
 * (OP-162).
 */
const LIMITS = { slots: 2, share: 1, waiting: 5, waitMs: 5000 }

/** The turns of previews. A workspace with too many of them gets `rate_limited`. */
export const previewSlots = (): FairSlots =>
  fairSlots(
    LIMITS,
    slotRefusals({
      owner: 'This workspace has too many previews under way; wait until one ends',
      all: 'Too many previews are under way; try again shortly',
    }),
  )
