import { readFileSync } from 'node:fs'
import { openDatabase, type Sql } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, expect, test } from 'vitest'
import { appsApi } from '../testing/apps-api.ts'
import { hastenProvision } from './add-calls.ts'
import { claimCalls, releaseCall, renewClaims } from './claim-calls.ts'
import { freeSlots } from './make-calls.ts'
import { measureCalls } from './measure-calls.ts'

const { admin, db, workerUrl, anApp, install, send, acknowledge } = await appsApi()
const worker = openDatabase({ url: workerUrl, applicationName: 'test worker' })
whenDone(() => worker.stop?.())
const logger = createLogger('test', 'silent')
const claim = (free: Partial<ReturnType<typeof freeSlots>> = {}) =>
  claimCalls({ db, worker, logger }, { ...freeSlots(), ...free })
const inWorkspace = (call: Awaited<ReturnType<typeof claim>>[number], delayMs: number) =>
  db.inWorkspace(call.context, (tx) => releaseCall(tx, call, delayMs))

beforeEach(async () => {
  await admin`delete from call`
})

/** Consents to an app in as many new workspaces, and returns the ids of the installations. */
async function consented(provider: string, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let each = 0; each < count; each++) {
    const caller = aCaller()
    const { body } = await install(caller, provider)
    await send(caller, 'POST', `/internal/installations/${body.id}/consent`)
    ids.push(body.id)
  }
  return ids
}

/** As `consented`, written by one statement. */
const manyConsented = (appId: string, count: number) => admin`
  with made as (
    insert into installation (workspace_id, id, app_id, livemode, workspace_name, state, manifest, created_at)
    select uuidv7(), uuidv7(), app.id, true, 'Shop', 'PENDING', app.manifest, now()
    from app, generate_series(1, ${count}) where app.id = ${appId}
    returning *
  )
  insert into call (workspace_id, installation_id, app_id, kind, manifest, key_id, key_secret, sealed_with)
  select workspace_id, id, app_id, 'provision', manifest, uuidv7(), '', 'test' from made`

test('a provision that was hastened is a repeated call still, when it has failed before', async () => {
  const { provider } = await anApp()
  const [id = ''] = await consented(provider, 1)
  const [failed] = await claim()
  if (failed === undefined) throw new Error('nothing was claimed')
  await inWorkspace(failed, 3_600_000)
  expect(await claim()).toEqual([])
  expect(await db.inWorkspace(failed.context, (tx) => hastenProvision(tx, id))).toBe(true)
  expect(await claim({ retries: 0 })).toEqual([])
  expect(await claim({ retries: 1 })).toMatchObject([{ installationId: id }])
})

test('an app with 1,000 calls takes four places, and the call of another app is claimed beside them', async () => {
  const [slow, other] = [await anApp(), await anApp()]
  await manyConsented(slow.id, 1000)
  const [id] = await consented(other.provider, 1)
  const claimed = await claim()
  expect(claimed.filter(({ appId }) => appId === slow.id)).toHaveLength(4)
  expect(claimed.filter(({ appId }) => appId === other.id)).toMatchObject([{ installationId: id }])
  expect(await claim()).toEqual([])
  const [late] = await consented(other.provider, 1)
  expect(await claim()).toMatchObject([{ installationId: late }])
})

test('apps without a call that is due are not looked through', async () => {
  const { id } = await anApp()
  await admin`
    with made as (
      insert into app (id, provider, origin, manifest, created_at, updated_at)
      select uuidv7(), other.name, origin, jsonb_build_object('provider', other.name), now(), now()
      from app, lateral (select app.provider || n as name from generate_series(1, 200) n) other where id = ${id}
      returning id
    ), installed as (
      insert into installation (workspace_id, id, app_id, livemode, workspace_name, state, created_at)
      select uuidv7(), uuidv7(), id, true, 'Shop', 'UNINSTALLED', now() from made
      returning *
    )
    insert into call (workspace_id, installation_id, app_id, kind, access_ended_at, due_at)
    select workspace_id, id, app_id, 'uninstall', now(), now() + interval '1 hour' from installed`
  const scans = await worker.sql.begin(async (tx) => {
    const sql = tx as unknown as Sql
    // With those of this connection before that PostgreSQL has not counted yet.
    const scansSoFar = async () => {
      const [of] = await tx<[{ scans: number }]>`
        select (seq_scan + idx_scan)::integer as scans from pg_stat_xact_user_tables where relname = 'call'`
      return of.scans
    }
    const before = await scansSoFar()
    expect(await claimCalls({ db, logger, worker: { ...worker, sql } }, freeSlots())).toEqual([])
    return (await scansSoFar()) - before
  })
  expect(scans).toBeLessThan(20)
})

test('with few places left apps take turns, the longest due first', async () => {
  const apps = [await anApp(), await anApp(), await anApp()]
  for (const { provider } of apps) await consented(provider, 3)
  const claimed = await claim({ calls: 4 })
  expect(claimed.map(({ appId }) => appId)).toEqual([...apps, apps[0]].map((app) => app?.id))
})

test('repeated calls of many apps that hang leave room for the first call of another', async () => {
  const apps = await Promise.all(Array.from({ length: 10 }, () => anApp()))
  for (const { id } of apps) await manyConsented(id, 4)
  await admin`update call set attempts = 3`
  const [fresh] = await consented((await anApp()).provider, 1)
  const claimed = await claim()
  expect(claimed.filter(({ attempts }) => attempts > 1)).toHaveLength(12)
  expect(claimed).toContainEqual(expect.objectContaining({ installationId: fresh, attempts: 1 }))
})

test('repeated ends of accesses leave room for repeated calls of apps and for the first end of another access', async () => {
  const app = await anApp()
  await manyConsented(app.id, 41)
  await admin`
    update call set kind = 'uninstall', attempts = 3, access_due_at = now(), due_at = now() - interval '1 hour'`
  const [fresh] = await admin<{ id: string }[]>`
    update call set attempts = 0, access_due_at = null, due_at = now()
    where installation_id = (select max(installation_id::text)::uuid from call) returning installation_id as id`
  const [repeated] = await consented((await anApp()).provider, 1)
  await admin`update call set attempts = 3 where installation_id = ${repeated ?? ''}`
  const claimed = await claim()
  expect(claimed.filter(({ kind, attempts }) => kind === 'uninstall' && attempts > 1)).toHaveLength(12)
  expect(claimed.map(({ installationId }) => installationId)).toEqual(expect.arrayContaining([fresh?.id, repeated]))
  // While they are under way, no other access has a slot of the retries.
  expect(freeSlots(claimed)).toEqual({ calls: 18, retries: 3, accesses: 0, appCalls: 11 })
})

test('replicas that claim at the same moment never get the same call', async () => {
  const apps = await Promise.all(Array.from({ length: 5 }, () => anApp()))
  for (const { provider } of apps) await consented(provider, 4)
  const claimed = (await Promise.all(Array.from({ length: 6 }, () => claim()))).flat()
  expect(claimed).toHaveLength(20)
  expect(new Set(claimed.map(({ installationId }) => installationId)).size).toBe(20)
})

test('the access of 1,000 uninstalled installations ends without waiting for the places of their app', async () => {
  const app = await anApp()
  await manyConsented(app.id, 1000)
  expect(await claim()).toHaveLength(4)
  await admin`
    update call set kind = 'uninstall', due_at = clock_timestamp() where app_id = ${app.id} and claim is null`
  const claimed = await claim()
  expect(claimed).toHaveLength(32)
  for (const call of claimed) expect(call).toMatchObject({ kind: 'uninstall', isAccessEnded: false })
  await admin`update call set access_ended_at = now() where kind = 'uninstall'`
  await admin`update call set claim = null, claimed_until = null`
  expect((await claim()).filter(({ appId }) => appId === app.id)).toHaveLength(4)
})

test.each(['0 s', '1 hour'])('an app hears first of its uninstallation, by a clock %s earlier too', async (earlier) => {
  const app = await anApp()
  const caller = aCaller()
  const again = async () => {
    const { body } = await install(caller, app.provider)
    await send(caller, 'POST', `/internal/installations/${body.id}/consent`)
    return body.id
  }
  const first = await again()
  await acknowledge(first)
  await send(caller, 'DELETE', `/internal/installations/${first}`)
  await admin`
    update call set access_ended_at = now(), created_at = created_at + ${earlier}::interval
    where installation_id = ${first}`
  const second = await again()
  const [uninstall] = await claim()
  expect(uninstall).toMatchObject({ installationId: first, kind: 'uninstall' })
  expect(await claim()).toEqual([])
  if (uninstall) await inWorkspace(uninstall, 60_000)
  expect(await claim()).toEqual([])
  await admin`delete from call where installation_id = ${first}`
  expect(await claim()).toMatchObject([{ installationId: second, kind: 'provision' }])
})

test('a claim that is renewed holds, and one that is not ends after its lease', async () => {
  const { provider } = await anApp()
  const ids = await consented(provider, 2)
  const claimed = await claim()
  await admin`update call set claimed_until = clock_timestamp() - interval '1 second'`
  await renewClaims(worker.sql, claimed.slice(0, 1))
  const taken = await claim()
  expect(taken).toMatchObject([{ installationId: ids[1], attempts: 2 }])
  // The first attempt lost its claim: it changes nothing.
  expect(await Promise.all(claimed.map((call) => inWorkspace(call, 0)))).toEqual([true, false])
})

/** Does work while a transaction that does not end, as of a process whose machine is lost, has locked a call. */
const whileLocked = <Result>(id: string, work: () => Promise<Result>) =>
  admin.begin(async (tx) => {
    await tx`select from call where installation_id = ${id} for update`
    return { done: await work() }
  })

test.each(['provision', 'uninstall'])('a %s whose row is locked holds up no other claim', async (kind) => {
  const { provider } = await anApp()
  const [locked = '', other = ''] = await consented(provider, 2)
  await admin`update call set kind = ${kind} where installation_id = ${locked}`
  const { done: claimed } = await whileLocked(locked, () => claim())
  expect(claimed).toMatchObject([{ installationId: other }])
  expect(await claim()).toMatchObject([{ installationId: locked, kind }])
})

test('a claim that fails holds up no other claim', async () => {
  const [refused = '', other] = await consented((await anApp()).provider, 2)
  await admin.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse before update on call for each row when (new.installation_id = '${refused}') execute function refuse()`)
  const claimed = await claim().finally(() => admin.unsafe('drop function refuse cascade'))
  expect(claimed).toMatchObject([{ installationId: other }])
  expect(await claim()).toMatchObject([{ installationId: refused }])
})

test('a claim whose row is locked holds up the renewal of no other', async () => {
  const { provider } = await anApp()
  const [locked = '', other] = await consented(provider, 2)
  const claimed = await claim()
  await admin`update call set claimed_until = clock_timestamp()`
  await whileLocked(locked, () => renewClaims(worker.sql, claimed))
  const held = await admin`select installation_id as id from call where claimed_until > clock_timestamp()`
  expect(held).toEqual([{ id: other }])
})

test('a failed call is due after its delay, at once when it was uninstalled meanwhile, and at the latest when it expires', async () => {
  const { provider } = await anApp()
  const [delayed, ended, expiring] = await consented(provider, 3)
  const claimed = await claim()
  await admin`update call set kind = 'uninstall' where installation_id = ${ended ?? ''}`
  await admin`update call set expires_at = clock_timestamp() + interval '5 minutes' where installation_id = ${expiring ?? ''}`
  expect(await Promise.all(claimed.map((call) => inWorkspace(call, 3_600_000)))).toEqual([true, false, true])
  const rows = await admin<{ id: string; minutes: number }[]>`
    select installation_id as id, round(extract(epoch from due_at - clock_timestamp()) / 60)::integer as minutes from call`
  expect(Object.fromEntries(rows.map(({ id, minutes }) => [id, minutes]))).toEqual({
    [delayed ?? '']: 60,
    [ended ?? '']: 0,
    [expiring ?? '']: 5,
  })
})

test('a provision that the app has acknowledged does not expire, whichever version of the service writes its row', async () => {
  const { provider } = await anApp()
  const [open, acknowledged] = await consented(provider, 2)
  await admin`update call set acknowledged_origin = 'https://app.example' where installation_id = ${acknowledged ?? ''}`
  await admin`update call set expires_at = clock_timestamp() - interval '1 second'`
  const claimed = await claim()
  expect(Object.fromEntries(claimed.map(({ installationId, isExpired }) => [installationId, isExpired]))).toEqual({
    [open ?? '']: true,
    [acknowledged ?? '']: false,
  })
  // Its uninstallation does.
  await admin`
    update call set kind = 'uninstall', access_ended_at = now(), claimed_until = now(), expires_at = now()
    where installation_id = ${acknowledged ?? ''}`
  expect(await claim()).toMatchObject([{ installationId: acknowledged, kind: 'uninstall', isExpired: true }])
})

test('the migration lets no acknowledged provision expire that had expired before', async () => {
  const [open = '', acknowledged = ''] = await consented((await anApp()).provider, 2)
  const file = new URL('../../migrations/0010_acknowledged_provisions_last.sql', import.meta.url)
  await admin.begin(async (tx) => {
    await tx`drop function keep_acknowledged cascade`
    await tx`update call set expires_at = clock_timestamp() - interval '1 second'`
    await tx`update call set acknowledged_origin = 'https://app.example' where installation_id = ${acknowledged}`
    await tx`set local role backoffice_migrator`
    await tx.unsafe(readFileSync(file, 'utf8'))
  })
  const expired = await admin`
    select installation_id as id from call
    where installation_id in (${open}, ${acknowledged}) and expires_at <= clock_timestamp()`
  expect(expired).toEqual([{ id: open }])
})

test('calls that are due are measured, without those under way, scheduled, or behind another of their app', async () => {
  const [app, other] = [await anApp(), await anApp()]
  await consented(app.provider, 1)
  await claim()
  await consented(other.provider, 5)
  const [ended, told, later] = await admin<{ id: string }[]>`select installation_id as id from call where claim is null`
  await admin`update call set kind = 'uninstall' where installation_id in (${ended?.id ?? ''}, ${told?.id ?? ''})`
  await admin`
    update call set access_ended_at = now(), due_at = now() - interval '1 hour' where installation_id = ${told?.id ?? ''}`
  await admin`update call set due_at = now() + interval '1 hour' where installation_id = ${later?.id ?? ''}`
  // The app is installed again.
  await admin`
    with again as (
      insert into installation (workspace_id, id, app_id, livemode, workspace_name, state, created_at)
      select workspace_id, uuidv7(), app_id, true, 'Shop', 'UNINSTALLED', now() from call where installation_id = ${told?.id ?? ''}
      returning *
    )
    insert into call (workspace_id, installation_id, app_id, kind) select workspace_id, id, app_id, 'uninstall' from again`
  await admin`update call set access_ended_at = now() where kind = 'uninstall' and installation_id <> ${ended?.id ?? ''}`

  await admin`
    update installation set uninstalled_at = now() - interval '1 hour' where id = ${ended?.id ?? ''}`
  // After a failure.
  await admin`update call set due_at = now() + interval '1 hour' where installation_id = ${ended?.id ?? ''}`

  const measuring = measureCalls(worker, logger)
  await measuring.start?.()
  await measuring.stop?.()
  const text = await metricsText()
  const due = [...text.matchAll(/^app_calls_due\{call="(\w+)"\} (\d+)/gm)].map(([, call, count]) => [
    call,
    Number(count),
  ])
  expect(Object.fromEntries(due)).toEqual({ provision: 2, uninstall: 1 })
  const read = (series: RegExp) => Number(series.exec(text)?.[1])
  expect(read(/^app_calls_oldest_due_seconds\{call="uninstall"\} (\S+)/m)).toBeGreaterThan(3500)
  expect(read(/^app_accesses_to_end (\S+)/m)).toBe(1)
  expect(read(/^app_oldest_access_to_end_seconds (\S+)/m)).toBeGreaterThan(3500)
})
