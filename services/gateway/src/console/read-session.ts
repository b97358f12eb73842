import type { Database } from '@backoffice/postgres/database.ts'
import type { KnownKey } from '../credentials/keys/find-keys.ts'

interface SessionRow {
  readonly kind: 'key' | 'link' | 'support'
  readonly workspace: { readonly id: string; readonly name: string; readonly livemode: boolean }
  readonly key: { readonly id: string; readonly name: string } | null
  readonly reason: string | null
  readonly expires_at: Date
}

/**
 * What the console shows of its session; undefined when its workspace has none of that id. It ends earlier when nobody
 * uses it for half an hour.
 */
export async function readSession(db: Database, { caller, consoleSession, operator }: KnownKey) {
  const { workspaceId, livemode, scopes, keyId } = caller
  const row = await db.inWorkspace({ workspaceId, livemode, traceparent: '' }, async (tx) => {
    const [found] = await tx<SessionRow[]>`
      select kind, key, reason, expires_at,
        json_build_object('id', workspace.id, 'name', workspace.name, 'livemode', workspace.livemode) as workspace
      from (
        select session.id, session.workspace_id, case when api_key_id is null then 'link' else 'key' end as kind,
          case when api_key_id is not null then json_build_object('id', api_key.id, 'name', api_key.name) end as key,
          null as reason, least(session.expires_at, api_key.expires_at) as expires_at
        from console_session as session
        left join api_key on api_key.workspace_id = session.workspace_id and api_key.id = api_key_id
        union all
        select id, workspace_id, 'support', null, reason, expires_at from support_session
      ) as session
      join workspace on workspace.id = session.workspace_id
      where session.workspace_id = ${workspaceId} and session.id = ${consoleSession ?? keyId}`
    return found
  })
  if (row === undefined) return undefined
  const { workspace, kind, key, reason, expires_at } = row
  return { kind, workspace, scopes, key, operator, reason, expires_at }
}
