import { randomUUID } from 'node:crypto'
import { SERVICE_NAMES, schemaOf } from '@backoffice/contracts/services.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import postgres from 'postgres'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { enter } from './database.ts'
import { inTransaction } from './transaction.ts'

const { admin, db, workerUrl } = await testDatabase('catalog')
const worker = postgres(workerUrl, { max: 1, onnotice: () => undefined })
afterAll(() => worker.end())

const aContext = () => ({ workspaceId: randomUUID(), livemode: true, traceparent: 'trace' })
const [own, other] = [aContext(), aContext()]
const REFUSED = { code: '42501' }

beforeEach(async () => {
  await admin`truncate tag, idempotency_key, inbox, parked_key, outbox cascade`
  for (const { workspaceId } of [own, other]) {
    await admin`insert into tag (workspace_id, id, name, slug) values (${workspaceId}, ${randomUUID()}, 'New', 'new')`
    await admin`insert into idempotency_key (workspace_id, key, fingerprint) values (${workspaceId}, 'key', 'f')`
    await admin`insert into inbox (workspace_id, consumer, message_id) values (${workspaceId}, 'c', 'm')`
    await admin`insert into parked_key (consumer, topic, key, reason) values (${workspaceId}, 't', 'k', 'r')`
    await admin`
      insert into outbox (event_id, topic, key, type, workspace_id, livemode, traceparent, occurred_at)
      values (${randomUUID()}, 't', 'k', 'tag.created', ${workspaceId}, true, 'trace', now())`
  }
})

describe('a transaction in one workspace, whatever its statements forget to say', () => {
  it.each(['tag', 'outbox', 'idempotency_key', 'inbox'])('sees no other workspace’s %s', async (table) => {
    const rows = await db.inWorkspace(own, (tx) => tx`select workspace_id from ${tx(table)}`)
    expect(rows).toEqual([{ workspace_id: own.workspaceId }])
    const foreign = await db.inWorkspace(
      own,
      (tx) => tx`select from ${tx(table)} where workspace_id = ${other.workspaceId}`,
    )
    expect(foreign).toHaveLength(0)
  })

  it('changes and deletes no other workspace’s rows', async () => {
    expect((await db.inWorkspace(own, (tx) => tx`update tag set name = 'Old'`)).count).toBe(1)
    expect((await db.inWorkspace(own, (tx) => tx`delete from outbox`)).count).toBe(1)
    expect(await admin`select workspace_id, name from tag where name = 'New'`).toEqual([
      { workspace_id: other.workspaceId, name: 'New' },
    ])
    expect(await admin`select workspace_id from outbox`).toEqual([{ workspace_id: other.workspaceId }])
  })

  it('is in one only, also when it began in none and goes from one to the other', async () => {
    const seen = await inTransaction(db.sql, async (begun) => {
      const before = await begun`select workspace_id from tag`
      const inOwn = await enter(begun, own, (tx) => tx`select workspace_id from tag`)
      const inOther = await enter(begun, other, (tx) => tx`select workspace_id from tag`)
      return [before, inOwn, inOther].map((rows) => rows.map((row) => row.workspace_id))
    })
    expect(seen).toEqual([[], [own.workspaceId], [other.workspaceId]])
  })

  it('writes nothing into another workspace', async () => {
    const insert = db.inWorkspace(
      own,
      (tx) =>
        tx`insert into tag (workspace_id, id, name, slug) values (${other.workspaceId}, ${randomUUID()}, 'a', 'a')`,
    )
    await expect(insert).rejects.toMatchObject(REFUSED)
    const move = db.inWorkspace(own, (tx) => tx`update tag set workspace_id = ${other.workspaceId}, slug = 'b'`)
    await expect(move).rejects.toMatchObject(REFUSED)
  })

  it('cannot switch the walls off, and truncates nothing', async () => {
    const unwalled = db.inWorkspace(own, async (tx) => {
      await tx`set local row_security = off`
      return tx`select from tag`
    })
    await expect(unwalled).rejects.toMatchObject(REFUSED)
    const lowered = db.inWorkspace(own, (tx) => tx`alter table tag no force row level security`)
    await expect(lowered).rejects.toMatchObject(REFUSED)
    await expect(db.inWorkspace(own, (tx) => tx`truncate tag cascade`)).rejects.toMatchObject(REFUSED)
  })
})

describe('without a workspace', () => {
  it('the app role sees nothing and writes nothing, also after a transaction on the same connection', async () => {
    await db.inWorkspace(own, (tx) => tx`select`)
    for (const table of ['tag', 'outbox', 'idempotency_key', 'inbox']) {
      expect(await db.sql`select from ${db.sql(table)}`, table).toHaveLength(0)
    }
    const insert = db.sql`insert into tag (workspace_id, id, name, slug) values (${own.workspaceId}, ${randomUUID()}, 'a', 'a')`
    await expect(insert).rejects.toMatchObject(REFUSED)
  })

  it('parked keys are reached, since they belong to none and consumers work in either role', async () => {
    expect(await db.sql`select from parked_key`).toHaveLength(2)
  })

  it('a transaction that failed leaves none behind', async () => {
    await expect(db.inWorkspace(own, (tx) => tx`select 1 / 0`)).rejects.toMatchObject({ code: '22012' })
    expect(await db.sql`select from tag`).toHaveLength(0)
  })
})

describe('the worker role', () => {
  it.each(['outbox', 'idempotency_key', 'parked_key'])('reaches every workspace’s %s', async (table) => {
    expect(await worker`select from ${worker(table)}`).toHaveLength(2)
    expect((await worker`delete from ${worker(table)}`).count).toBe(2)
  })

  it('reaches nothing else, and adds nothing to the outbox', async () => {
    const tables = await admin<{ tablename: string }[]>`select tablename from pg_tables where schemaname = 'catalog'`
    const reached: string[] = []
    for (const { tablename } of tables) {
      await worker`select from ${worker(tablename)} limit 0`.then(
        () => reached.push(tablename),
        (error: unknown) => expect(error).toMatchObject(REFUSED),
      )
    }
    const ledger = ['stock_movement', 'stock_reservation', 'variant'] // some of their columns, to add them up
    expect(reached.sort()).toEqual([
      ...[
        'begun_batch',
        'check_run',
        'deleted_workspace',
        'idempotency_key',
        'imported_batch',
        'member_change',
        'outbox',
        'parked_key',
        'product', // whether its words are written yet
        'product_count',
        'product_image',
        'product_refresh',
        'queued_stock',
        'replayed_dead_letter',
      ],
      ...[...ledger, 'restored_version', 'undone_change', 'undone_import'].sort(),
    ])
    await expect(worker`insert into outbox (event_id) values (${randomUUID()})`).rejects.toMatchObject(REFUSED)
    await expect(worker`insert into idempotency_key (key) values ('a')`).rejects.toMatchObject(REFUSED)
  })
})

describe.each(SERVICE_NAMES)('the schema of %s', async (service) => {
  const schema = schemaOf(service)
  const { admin } = await testDatabase(service)

  it('has roles that exist and cannot bypass the walls', async () => {
    const roles = await admin`
      select rolname, rolsuper or rolbypassrls or rolcreaterole as "bypasses" from pg_roles
      where rolname in (${schema}, ${`${schema}_worker`}, 'backoffice_migrator') order by rolname`
    expect(roles).toEqual(
      [schema, `${schema}_worker`, 'backoffice_migrator'].sort().map((rolname) => ({ rolname, bypasses: false })),
    )
  })

  it('has walls around every table of a workspace', async () => {
    const unwalled = await admin<{ relname: string }[]>`
      select relname from pg_class
      where relnamespace = ${schema}::regnamespace and relkind in ('r', 'p')
        and not (relrowsecurity and relforcerowsecurity)
      order by relname`
    const ofNoWorkspace = ['foundation_migration', 'migration', ...(service === 'apps' ? ['app_name'] : [])]
    expect(unwalled.map(({ relname }) => relname)).toEqual(ofNoWorkspace.sort())
  })
})
