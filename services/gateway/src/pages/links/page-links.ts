import { notFound } from '@backoffice/contracts/errors.ts'
import type { Database, Transaction } from '@backoffice/postgres/database.ts'
import { v4 as uuidv4 } from 'uuid'
import { isOfAdminToken } from '../../credentials/keys/find-keys.ts'
import type { Reference, SignedIds } from './signed-ids.ts'

/** The pages of an installation. */
export const PAGES = ['consent', 'embed'] as const
export type PageName = (typeof PAGES)[number]

export interface PageTarget {
  readonly page: PageName
  readonly installationId: string
  readonly provider: string
}

/**
 * The console of a workspace, for a session that may do what scopes allow, or for an operator who is of support. `id`
 * is the link's and that of its session: the audit log has both by it.
 */
export type ConsoleTarget = { readonly page: 'console'; readonly id: string } & (
  | { readonly scopes: readonly string[] }
  | { readonly operator: string; readonly reason: string; readonly fingerprint: Buffer }
)

const NO_TARGET = {
  installationId: null,
  provider: null,
  scopes: null,
  operator: null,
  reason: null,
  fingerprint: null,
}
const LIFETIME_SECONDS = 600

/** Makes one-time links (OP-81); the admin API hands them out. `publicUrl` is the gateway as browsers see it. */
export const pageLinks = (ids: SignedIds, publicUrl: URL) => ({
  /** Throws `not_found` in a workspace that is deleted (OP-243). */
  async create(tx: Transaction, target: PageTarget | ConsoleTarget, seconds = LIFETIME_SECONDS) {
    const { workspaceId } = tx.context
    const { id, page, installationId, provider, scopes, operator, reason, fingerprint } = {
      ...NO_TARGET,
      id: uuidv4(),
      ...target,
    }
    const [created] = await tx<{ expires_at: Date }[]>`
      with expired as (
        delete from page_link where workspace_id = ${workspaceId} and expires_at < clock_timestamp() - interval '1 day'
      )
      insert into page_link
        (workspace_id, id, installation_id, provider, page, scopes, operator, fingerprint, reason, expires_at)
      select
        workspace.id, ${id}, ${installationId}, ${provider}, ${page}, ${scopes as string[] | null}, ${operator},
        ${fingerprint}, ${reason}, clock_timestamp() + make_interval(secs => ${seconds})
      from workspace where workspace.id = ${workspaceId} and deleted_at is null
      returning expires_at`
    if (created === undefined) throw notFound([], `Workspace ${workspaceId} does not exist`)
    const url = new URL('/apps/enter', publicUrl)
    url.searchParams.set('link', ids.sign('link', { workspaceId, id }))
    return { url: url.href, expires_at: created.expires_at }
  },
})
export type PageLinks = ReturnType<typeof pageLinks>

/** Where a page is. */
export const pathOf = ({ page, installationId, provider }: PageTarget): string =>
  page === 'consent' ? `/apps/consent/${installationId}` : `/apps/${provider}/embed?installation=${installationId}`

export interface BegunSession extends PageTarget {
  readonly id: string
  readonly seconds: number
}

/** What a used link opens: a page, whose session has begun, or the console. */
export type UsedLink = BegunSession | ConsoleLink

export interface ConsoleLink {
  readonly id: string
  readonly page: 'console'
  readonly livemode: boolean
  /** Null where an operator opens a session of support. */
  readonly scopes: readonly string[] | null
  readonly operator: string | null
  readonly fingerprint: Buffer | null
  readonly reason: string | null
}

/** Whether a row is this link and can still be used. */
const isUsable = (tx: Transaction, id: string, fingerprint: Buffer) => tx`
  workspace_id = ${tx.context.workspaceId} and id = ${id} and used_at is null and expires_at > clock_timestamp()
  and ${isOfAdminToken(tx, fingerprint)}`

/** Uses a link up, and begins the session of a page. Returns undefined for one that cannot be used any more. */
export async function useLink(tx: Transaction, id: string, fingerprint: Buffer): Promise<UsedLink | undefined> {
  const { workspaceId } = tx.context
  const [used] = await tx<UsedLink[]>`
    with link as (
      update page_link set used_at = clock_timestamp()
      where ${isUsable(tx, id, fingerprint)}
      returning *, case page when 'consent' then interval '30 minutes' else interval '8 hours' end as lifetime
    ), expired as (
      delete from page_session where workspace_id = ${workspaceId} and expires_at < clock_timestamp()
    ), session as (
      insert into page_session (workspace_id, id, installation_id, page, expires_at)
      select ${workspaceId}, ${uuidv4()}, installation_id, page, clock_timestamp() + lifetime
      from link where page <> 'console'
      returning id
    )
    select
      coalesce(session.id, link.id) as id, link.page, link.provider, link.installation_id as "installationId",
      extract(epoch from lifetime)::integer as seconds, link.scopes, link.operator, link.fingerprint, link.reason,
      workspace.livemode
    from link join workspace on workspace.id = ${workspaceId} left join session on true`
  return used
}

/** What a link opens. */
export type LinkedPage = PageName | ConsoleTarget['page'] | 'support'

/** What a link opens that can still be used. Does not use it up. */
export const findLink = (
  db: Database,
  { workspaceId, id }: Reference,
  fingerprint: Buffer,
): Promise<LinkedPage | undefined> =>
  inWorkspaceOf(db, workspaceId, async (tx) => {
    const [link] = await tx<{ page: LinkedPage }[]>`
      select case when operator is null then page else 'support' end as page from page_link
      where ${isUsable(tx, id, fingerprint)}`
    return link?.page
  })

/** A transaction in a workspace that a signed text has named. Without records, livemode and trace do not matter. */
export const inWorkspaceOf = <Result>(
  db: Database,
  workspaceId: string,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> => db.inWorkspace({ workspaceId, livemode: true, traceparent: '' }, work)
