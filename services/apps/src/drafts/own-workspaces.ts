import { slotRefusals } from '@backoffice/contracts/slot-refusals.ts'
import { type CallShares, InternalCalls } from '@backoffice/http/internal-calls.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import type { WorkspaceContext } from '@backoffice/postgres/database.ts'
import { z } from 'zod'

const OwnWorkspace = z.object({ name: z.string(), domain: z.string().nullable(), live_workspace: z.guid() })
/** A workspace, and the live one that it belongs to if it is a sandbox. */
export type OwnWorkspace = z.output<typeof OwnWorkspace>

/** What clients ask for delays no change of a key. */
const SHARES: CallShares = {
  slots: { slots: 8, share: 2, most: 4, waiting: 96, waitMs: 2_000 },
  deadlineMs: 5_000,
  refuse: slotRefusals({
    owner: 'Too many requests of this workspace register or install drafts of apps; send fewer at once',
    all: 'the gateway has too many requests to answer',
  }),
}

/** What the gateway knows of the workspaces of clients. */
export function ownWorkspaces(gatewayUrl: string, signer: TokenSigner) {
  const calls = new InternalCalls('gateway', gatewayUrl, signer, SHARES)
  return {
    name: 'own workspaces',
    workspaceOf: (context: WorkspaceContext): Promise<OwnWorkspace> => {
      const caller = { ...context, keyId: 'apps', productStatuses: [] }
      return calls.send({ caller, method: 'GET', path: '/internal/workspace', answer: OwnWorkspace })
    },
    stop: () => calls.stop(),
  }
}
