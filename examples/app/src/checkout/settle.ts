import { apiClient, type Credentials } from '@backoffice/app-sdk'
import type { FastifyInstance } from 'fastify'
import type { Parts } from '../app.ts'
import { charge } from './charge.ts'
import { type Checkout, checkoutsToSettle, endCharging, markPaid } from './checkouts.ts'

const EVERY_MS = 30_000

/**
 * Settles what is not settled yet, at the start and every 30 seconds: money that was taken reaches the order, also
 * after a crash or while the provider or the platform is away. The app starts meanwhile.
 */
export function addSettling(app: FastifyInstance, parts: Parts): void {
  let timer: NodeJS.Timeout | undefined
  let isSettling = false
  const settleAll = async () => {
    if (isSettling) return
    isSettling = true
    try {
      for (const checkout of checkoutsToSettle(parts.database)) {
        await settle(parts, checkout).catch((error: unknown) => app.log.error(error))
      }
    } catch (error) {
      app.log.error(error)
    }
    isSettling = false
  }
  app.addHook('onReady', async () => {
    timer = setInterval(settleAll, EVERY_MS)
    void settleAll()
  })
  app.addHook('preClose', async () => clearInterval(timer))
}

/**
 * Asks the provider until it has answered, and records the payment only once it has said yes. Each step may be
 * repeated. Does nothing for a checkout that nobody has paid.
 */
export async function settle(parts: Parts, checkout: Checkout): Promise<void> {
  const { database } = parts
  let isTaken = checkout.state === 'CHARGED'
  if (checkout.state === 'CHARGING') {
    isTaken = await charge(database, checkout)
    endCharging(database, checkout.id, isTaken)
  }
  if (isTaken) await recordPayment(parts, checkout)
}

/**
 * Records a payment at the platform, with the workspace's key, whose scope is `sale::create` and no more (App rule 4).
 * The reference makes it safe to repeat: the platform answers the payment that is there. Throws when none is recorded.
 * The former key is taken while a new one is not in force, and forgotten once a call with the new one has succeeded.
 */
async function recordPayment(
  { keys, formerKeys, database, settings: { PLATFORM_URL, PROVIDER: provider } }: Parts,
  { id, workspaceId, order, amountMinor, currency }: Checkout,
): Promise<void> {
  const post = ({ apiKey }: Credentials) =>
    apiClient({ baseUrl: PLATFORM_URL, apiKey }).POST('/v1/orders/{id}/payments', {
      params: { path: { id: order } },
      body: { amount: amountMinor, currency, provider, reference: id },
    })
  const credentials = await keys.get(workspaceId)
  if (credentials === undefined) throw new Error('the app is not installed in this workspace')
  const former = await formerKeys.get(workspaceId)
  let answer = await post(credentials)
  if (answer.data !== undefined) await formerKeys.delete(workspaceId)
  if (former && answer.response.headers.get('error-reason') === 'key_not_in_force') answer = await post(former)
  if (answer.data === undefined) throw new Error(`the payment is not recorded: ${answer.error?.error.message}`)
  markPaid(database, id)
}
