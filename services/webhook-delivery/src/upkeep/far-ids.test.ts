import { databaseBefore } from '@backoffice/testing/database-before.ts'
import { expect, test } from 'vitest'

const WORKSPACE = '00000000-0000-7000-8000-000000000001'
const FAR = 'f1111111-1111-4111-8111-111111111111'
const NEAR = '02111111-1111-4111-8111-111111111111'

test('rows of ids that tell no day are where they were for replicas of both versions, and stay counted', async () => {
  const { admin, replica, migrateFurther } = await databaseBefore('webhook-delivery', '0034', WORKSPACE)
  await admin`
    insert into event (workspace_id, id, type, key, body, occurred_at)
    select ${WORKSPACE}, id, 'tag.created', '', '{}', now() from unnest(${[FAR, NEAR]}::uuid[]) as id`
  const insertDelivery = (eventId: string) => replica`
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at)
    values (${WORKSPACE}, ${WORKSPACE}, uuidv7(), ${eventId}, 'tag.created', now(), now())`
  for (const eventId of [FAR, NEAR]) await insertDelivery(eventId)
  const placesOf = (table: string, column: string) => admin`
    select ${admin(column)} as id, tableoid::regclass::text as place from ${admin(table)} order by 1`
  await migrateFurther()
  expect(await placesOf('event', 'id')).toEqual([
    { id: NEAR, place: 'event_default' },
    { id: FAR, place: 'event_far' },
  ])
  expect(await placesOf('delivery', 'event_id')).toEqual([
    { id: NEAR, place: 'delivery_default' },
    { id: FAR, place: 'delivery_far' },
  ])
  await replica`update delivery set status = 'DELIVERED', next_attempt_at = null`
  const counted = () => admin`
    select status, sum(deliveries)::integer as deliveries from hourly_delivery_count
    group by 1 having sum(deliveries) <> 0`
  expect(await counted()).toEqual([{ status: 'DELIVERED', deliveries: 2 }])
  await expect(insertDelivery(FAR)).rejects.toMatchObject({ code: '23505' })
  await admin`update delivery set created_at = now() - interval '32 days'`
  await admin`update event set occurred_at = now() - interval '32 days'`
  await admin`select delete_expired_rows(100)`
  expect(await admin`select id from event union all select event_id from delivery`).toEqual([])
  expect(await counted()).toEqual([])
})

test('a day is added without reading the rows of far ids', async () => {
  const { admin, migrateFurther } = await databaseBefore('webhook-delivery', '0034', WORKSPACE)
  await migrateFurther()
  await admin`
    insert into event (workspace_id, id, type, key, body, occurred_at)
    select ${WORKSPACE}, ('f1111111-1111-4111-8111-' || lpad(n::text, 12, '0'))::uuid, 'tag.created', '', '{}', now()
    from generate_series(1, 100) as n`
  const rowsRead = await admin.begin(async (tx) => {
    const readSoFar = async () => {
      const [row] = await tx`
        select sum(seq_tup_read)::integer as rows from pg_stat_xact_user_tables
        where schemaname = 'webhook_delivery' and relname like 'event%'`
      return row?.rows
    }
    const before = await readSoFar()
    await tx`set local role backoffice_migrator`
    await tx`select add_partition('event', current_date + 40)`
    return (await readSoFar()) - before
  })
  expect(rowsRead).toBe(0)
})
