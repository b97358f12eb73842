import type { Transaction } from '@backoffice/postgres/database.ts'
import { readLimits } from '@backoffice/service/read-limits.ts'
import { mostOfAnApp } from './owner.ts'

const endpoints = (tx: Transaction) => tx`
  from endpoint left join app_key on app_key.workspace_id = endpoint.workspace_id and app_key.id = endpoint.made_by
  where endpoint.workspace_id = ${tx.context.workspaceId}`

/** The limits of a workspace's endpoints, and of those of an app: of the one that has most (OP-121, OP-231). */
export const countEndpoints = (mostEndpoints: number) =>
  readLimits(
    {
      name: 'webhook_endpoints',
      most: mostEndpoints,
      used: (tx) => tx`select count(*) ${endpoints(tx)} and installation_id is null`,
    },
    {
      name: 'webhook_endpoints_of_an_app',
      most: mostOfAnApp(mostEndpoints),
      used: (tx) => tx`
        select count(*) ${endpoints(tx)} and installation_id is not null
        group by installation_id order by count(*) desc limit 1`,
    },
  )
