import { slotRefusals } from '@backoffice/contracts/slot-refusals.ts'
import { type CallShares, InternalCalls } from '@backoffice/http/internal-calls.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'

/** A call is over long before the gateway answers by itself (20 s). */
const SHARES: CallShares = {
  slots: { slots: 16, share: 4, most: 8, waiting: 96, waitMs: 2_000 },
  deadlineMs: 5_000,
  refuse: slotRefusals({
    owner: 'Too many requests of this workspace ask for products or pictures; send fewer at once',
    all: 'catalog has too many requests to answer',
  }),
}

/** What requests ask the catalog; workspaces share the calls. */
export const callsToCatalog = (url: string, signer: TokenSigner) => new InternalCalls('catalog', url, signer, SHARES)
