import { apiClient } from '@backoffice/app-sdk'
import type { FastifyInstance } from 'fastify'
import type { Parts } from '../app.ts'
import { type Checkout, chargedCheckouts, markPaid } from './checkouts.ts'

const EVERY_MS = 30_000

/**
 * Records the payments that the platform does not know yet, at the start and every 30 seconds: money that was taken
 * reaches the order, also after a crash or while the platform is away. The app starts meanwhile.
 */
export function addRecording(app: FastifyInstance, parts: Parts): void {
  let timer: NodeJS.Timeout | undefined
  let isRecording = false
  const recordAll = async () => {
    if (isRecording) return
    isRecording = true
    try {
      for (const checkout of chargedCheckouts(parts.database)) {
        await recordPayment(parts, checkout).catch((error: unknown) => app.log.error(error))
      }
    } catch (error) {
      app.log.error(error)
    }
    isRecording = false
  }
  app.addHook('onReady', async () => {
    timer = setInterval(recordAll, EVERY_MS)
    void recordAll()
  })
  app.addHook('preClose', async () => clearInterval(timer))
}

/**
 * Records a payment at the platform, with the workspace's key, whose scope is `sale::create` and no more (App rule 4).
 * The reference makes it safe to repeat: the platform answers the payment that is there. Throws when none is recorded.
 */
export async function recordPayment(
  { keys, database, settings: { PLATFORM_URL, PROVIDER: provider } }: Parts,
  { id, workspaceId, order, amountMinor, currency }: Checkout,
): Promise<void> {
  const credentials = await keys.get(workspaceId)
  if (credentials === undefined) throw new Error('the app is not installed in this workspace')
  const api = apiClient({ baseUrl: PLATFORM_URL, apiKey: credentials.apiKey })
  const { data, error } = await api.POST('/v1/orders/{id}/payments', {
    params: { path: { id: order } },
    body: { amount: amountMinor, currency, provider, reference: id },
  })
  if (data === undefined) throw new Error(`the payment is not recorded: ${error?.error.message}`)
  markPaid(database, id)
}
