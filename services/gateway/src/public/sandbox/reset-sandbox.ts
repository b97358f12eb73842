import { ApiError, conflict } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import { operation } from '@backoffice/http/operation.ts'
import { accepted } from '@backoffice/http/reply.ts'
import { enter, type Sql, type Transaction } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { noteDeletion, PASSES_OF_FIRST_HOUR } from '@backoffice/service/workspaces/deletion-passes.ts'
import { recordActs } from '../../admin/admin-operation.ts'
import { publishChange } from '../../admin/workspaces/publish-change.ts'
import { lockRow } from '../../admin/workspaces/workspace.ts'
import { findReset, SandboxReset } from './sandbox-reset.ts'

/**
 * POST /v1/sandbox/reset (extension; OP-287): gives the sandbox a new, empty workspace under its keys, their sessions
 * and its settings, and deletes the former one, as the deletion of a workspace does (decision 025). All of it is one
 * transaction of the gateway: a process that dies has reset nothing, or everything. The workspace in the body makes it
 * safe to repeat.
 */
export const resetSandbox = ({ worker }: { readonly worker: { readonly sql: Sql } }) =>
  operation({
    method: 'POST',
    path: '/v1/sandbox/reset',
    operationId: 'resetSandbox',
    summary: 'Delete all data of the sandbox',
    scope: 'workspace::delete',
    body: namedObject('SandboxResetInput', { workspace: Id }, { workspace: '0198c7a0-0000-7000-8000-000000000071' }),
    responses: { 202: SandboxReset },
    openPoints: ['OP-08', 'OP-158', 'OP-287'],
    extension: true,

    async handle({ body: { workspace }, context, now, inWorkspace }) {
      refuseOthers(context)
      const { workspaceId } = context
      if (workspace !== workspaceId) {
        const done = await findReset(worker.sql, workspaceId, workspace)
        if (done) return accepted(done)
        throw conflict(['workspace'], `must be the sandbox of the key, ${workspaceId}`)
      }
      return inWorkspace(async (tx) => accepted(await replaceSandbox(tx, context, now)))
    },
  })

function refuseOthers({ livemode, appKeyId }: RequestContext): void {
  if (livemode) {
    const message = 'Only a sandbox is reset: use a key of the sandbox, which begins with sk_test_'
    throw new ApiError('insufficient_scope', message, { errorReason: 'sandbox_only' })
  }
  if (appKeyId == null) return
  const message = "An app's key resets no sandbox; use a key of the sandbox itself"
  throw new ApiError('insufficient_scope', message, { errorReason: 'not_own_resource' })
}

async function replaceSandbox(tx: Transaction, by: RequestContext, now: Date): Promise<SandboxReset> {
  const { context } = tx
  const former = context.workspaceId
  const id = newId()
  const [own] = await tx<{ parent: string }[]>`select parent from workspace where id = ${former}`
  if (own === undefined) throw clashed()
  await enter(tx, { ...context, workspaceId: own.parent, livemode: true }, (live) => replaceRow(live, former, id, now))
  const moved = await enter(tx, context, (inside) => takeBelongings(inside, id))
  await enter(tx, { ...context, workspaceId: id }, (inside) => giveBelongings(inside, moved, former, by, now))
  await enter(tx, context, async () => undefined)
  await publishChange(tx, 'workspace.deleted', [{ id: former, livemode: false, at: now }], noteDeletion)
  return { workspace: id, former_workspace: former, requested_at: now.toISOString() }
}

const clashed = () => conflict([], 'another request resets the sandbox at this moment', 'clashed')

/** Inside the live workspace, which is locked: marks its sandbox as deleted and makes another one. */
async function replaceRow(live: Transaction, former: string, id: string, now: Date): Promise<void> {
  const parent = live.context.workspaceId
  await lockRow(live)
  // No live workspace, whatever was asked.
  const [sandbox] = await live<{ name: string; domain: string | null; suspended_at: Date | null }[]>`
    update workspace set deleted_at = ${now}
    where id = ${former} and not livemode and deleted_at is null
    returning name, domain, suspended_at`
  if (sandbox === undefined) throw clashed()
  if (sandbox.suspended_at !== null) throw conflict(['workspace'], 'is suspended; reset it once it is resumed')
  await refuseMore(live)
  const { name, domain } = sandbox
  await live`insert into workspace_deletion (id, parent, requested_at) values (${former}, ${parent}, ${now})`
  await live`
    insert into workspace (id, parent, name, domain, created_at) values (${id}, ${parent}, ${name}, ${domain}, ${now})`
}

/** Former workspaces of a sandbox in the first hour of their deletion, at most: every service has passes of each. */
const MOST_FORMER = 5

/** Throws `conflict` when the live workspace, which is locked, has as many former sandboxes as it may. */
async function refuseMore(live: Transaction): Promise<void> {
  const former = await live`
    select from workspace_deletion join deleted_workspace on workspace_id = id
    where parent = ${live.context.workspaceId} and passes_made < ${PASSES_OF_FIRST_HOUR}
    limit ${MOST_FORMER}`
  if (former.count < MOST_FORMER) return
  const message = `the sandbox has ${MOST_FORMER} former workspaces in the first hour of their deletion; reset it again later`
  throw conflict([], message, 'limit_reached')
}

/** What goes along, as JSON: its rows with the id of another workspace. */
interface Belongings {
  readonly keys: string
  readonly sessions: string
  readonly settings: string
}

/** Takes keys and sessions out of the former sandbox, and reads its settings. */
async function takeBelongings(tx: Transaction, id: string): Promise<Belongings> {
  const former = tx.context.workspaceId
  const [moved] = await tx<[Belongings]>`
    with taken as (
      delete from api_key where workspace_id = ${former} and kind = 'workspace' returning *
    ), session as (
      delete from console_session
      where workspace_id = ${former} and (api_key_id is null or exists (
        select from api_key where workspace_id = ${former} and id = api_key_id and kind = 'workspace'
      ))
      returning *
    )
    select
      (select coalesce(jsonb_agg(to_jsonb(taken) || jsonb_build_object('workspace_id', ${id}::text)), '[]') from taken)::text as keys,
      (
        select coalesce(jsonb_agg(to_jsonb(session) || jsonb_build_object('workspace_id', ${id}::text)), '[]') from session
      )::text as sessions,
      (
        select coalesce(jsonb_agg(to_jsonb(settings) || jsonb_build_object('workspace_id', ${id}::text)), '[]')
        from settings where workspace_id = ${former}
      )::text as settings`
  return moved
}

async function giveBelongings(
  tx: Transaction,
  { keys, sessions, settings }: Belongings,
  former: string,
  { requestId, keyId, who }: RequestContext,
  now: Date,
): Promise<void> {
  await tx`insert into api_key select * from jsonb_populate_recordset(null::api_key, ${keys}::text::jsonb)`
  await tx`
    insert into console_session select * from jsonb_populate_recordset(null::console_session, ${sessions}::text::jsonb)`
  await tx`insert into settings select * from jsonb_populate_recordset(null::settings, ${settings}::text::jsonb)`
  const act = { action: 'workspace.reset', target: `workspaces/${former}` } as const
  const by =
    who === 'support'
      ? ({ who, actor: `support session ${keyId}` } as const)
      : ({ who: 'merchant', actor: `key ${keyId}` } as const)
  await recordActs(tx, tx.context.workspaceId, [act], { ...by, requestId, at: now })
}
