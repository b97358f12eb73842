import { slotRefusals } from '@backoffice/contracts/slot-refusals.ts'
import { FairSlots } from '@backoffice/runtime/fair-slots.ts'

/** Uploads under way in all, those that stay free for other workspaces, and the most of one workspace. */
interface UploadLimits {
  readonly slots: number
  readonly share: number
  readonly most: number
}

/** Short: the gateway's limit for the answer starts with the last byte that could be sent, and may run already. */
const WAIT_MS = 5_000

/** Slots by workspace (OP-164). Take one before the file is received: then waiting takes no room on the disk. */
export const uploadSlots = (limits: UploadLimits): FairSlots =>
  new FairSlots(
    { ...limits, waiting: 2 * limits.most, waitMs: WAIT_MS },
    slotRefusals({
      owner: `Too many uploads of this workspace are under way; send at most ${limits.most} files at once`,
      all: 'Too many uploads are under way; try again shortly',
    }),
  )
