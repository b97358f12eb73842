import type { AnySql } from '@backoffice/postgres/database.ts'

export interface HealthRow {
  readonly app: string | null
  readonly since: Date
  readonly last_failed_at: Date | null
  readonly last_failure: object | null
}

/** An endpoint's health for operators, as columns of `healthSource` (OP-294). */
export const healthColumns = (sql: AnySql) => sql`
  health.endpoint_id as id, url, health.state, health.reason, coalesce(health.since, endpoint.created_at) as since,
  provider as app, failing_since, last_success_at, last_failed_at, last_failure`

/** Each endpoint has its health, and the other way round. The joins are left ones, so that counting does without. */
export const healthSource = (sql: AnySql) => sql`
  from endpoint_health as health
  left join endpoint on endpoint.workspace_id = health.workspace_id and endpoint.id = health.endpoint_id
  left join app_key on app_key.workspace_id = endpoint.workspace_id and app_key.id = endpoint.made_by
  left join app_installation
    on app_installation.workspace_id = endpoint.workspace_id and app_installation.id = app_key.installation_id`

export const healthBody = <Row extends HealthRow>({ last_failed_at, last_failure, ...endpoint }: Row) => ({
  ...endpoint,
  last_failure: last_failed_at && last_failure && { at: last_failed_at, ...last_failure },
})
