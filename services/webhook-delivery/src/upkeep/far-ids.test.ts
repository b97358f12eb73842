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

test('what waits with an id that tells no day ends after 30 days, in batches, and is counted as FAILED', async () => {
  const { admin, replica, migrateFurther } = await databaseBefore('webhook-delivery', '0034', WORKSPACE)
  await migrateFurther()
  const [YOUNG, RESENT] = ['f2222222-2222-4222-8222-222222222222', 'f3333333-3333-4333-8333-333333333333']
  await replica`
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, status, next_attempt_at, resend_at, created_at)
    select ${WORKSPACE}, ${WORKSPACE}, uuidv7(), event_id, 'tag.created', status,
      case when status = 'PENDING' then now() end, case when status = 'DELIVERED' then now() end, created_at
    from (values
      (${NEAR}::uuid, 'PENDING', now() - interval '32 days'), (${FAR}, 'PENDING', now() - interval '32 days'),
      (${YOUNG}, 'PENDING', now()), (${RESENT}, 'DELIVERED', now() - interval '32 days')
    ) as made (event_id, status, created_at)`
  const ended = { givenUp: 0, isMore: [] as boolean[] }
  do {
    const [row] = await admin<[{ givenUp: number; isMore: boolean }]>`
      select given_up::integer as "givenUp", is_more as "isMore" from end_expired_deliveries(2)`
    ended.givenUp += row.givenUp
    ended.isMore.push(row.isMore)
  } while (ended.isMore.at(-1))
  expect(ended).toEqual({ givenUp: 2, isMore: [true, false] })
  expect(await admin`select event_id, status, due_at is null as "isOver" from delivery order by 1`).toEqual([
    { event_id: NEAR, status: 'FAILED', isOver: true },
    { event_id: FAR, status: 'FAILED', isOver: true },
    { event_id: YOUNG, status: 'PENDING', isOver: false },
    { event_id: RESENT, status: 'DELIVERED', isOver: true },
  ])
  const counted = await admin`
    select status, sum(deliveries)::integer as deliveries from hourly_delivery_count group by 1 order by 1`
  expect(counted).toEqual([
    { status: 'DELIVERED', deliveries: 1 },
    { status: 'FAILED', deliveries: 2 },
    { status: 'PENDING', deliveries: 1 },
  ])
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
