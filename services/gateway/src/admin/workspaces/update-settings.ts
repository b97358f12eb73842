import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { ownWorkspace, WorkspaceHead } from './workspace.ts'
import { CartPriceSeconds, ProductStatuses, RateLimit, Settings, settingsOf } from './workspace-settings.ts'

const UpdateSettingsBody = z.strictObject({
  product_statuses: ProductStatuses.nullish(),
  rate_limit: RateLimit.nullish(),
  cart_price_seconds: CartPriceSeconds.nullish(),
})
type UpdateSettingsBody = z.output<typeof UpdateSettingsBody>

const WorkspaceSettings = WorkspaceHead.extend({ settings: Settings })

/**
 * PUT /admin/v1/workspaces/{id}/settings (OP-13, OP-86, OP-214): an omitted setting stays, null restores its default. A
 * live workspace and its sandbox have separate settings. In force within 5 s, usually at once.
 */
export const updateSettings = adminOperation({
  method: 'PUT',
  path: '/admin/v1/workspaces/{id}/settings',
  summary: 'Change the settings of a workspace',
  body: UpdateSettingsBody,
  responses: { 200: WorkspaceSettings },

  handle({ params, body, act }) {
    return act(params.id, [{ action: 'settings.updated', target: `workspaces/${params.id}/settings` }], async (tx) => {
      const workspace = await ownWorkspace(tx)
      return ok({ ...workspace, settings: await saveSettings(tx, body) })
    })
  },
})

async function saveSettings(
  tx: Transaction,
  { product_statuses: statuses, rate_limit: limit, cart_price_seconds: seconds }: UpdateSettingsBody,
) {
  const [row] = await tx`
    insert into settings (
      workspace_id, product_statuses, rate_limit_per_second, rate_limit_burst, cart_price_seconds
    )
    values (
      ${tx.context.workspaceId}, ${statuses ?? null}, ${limit?.per_second ?? null}, ${limit?.burst ?? null},
      ${seconds ?? null}
    )
    on conflict (workspace_id) do update set
      product_statuses = ${replaced(tx, statuses, 'product_statuses')},
      rate_limit_per_second = ${replaced(tx, limit, 'rate_limit_per_second')},
      rate_limit_burst = ${replaced(tx, limit, 'rate_limit_burst')},
      cart_price_seconds = ${replaced(tx, seconds, 'cart_price_seconds')}
    returning ${settingsOf(tx)} as settings`
  return row?.settings
}

/** The column's new value when the request has the member, else its present value. */
const replaced = (tx: Transaction, member: unknown, column: string) =>
  tx`${tx(member === undefined ? `settings.${column}` : `excluded.${column}`)}`
