import type { Caller } from '@backoffice/http/internal-token.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { writeBatch } from '@backoffice/postgres/lists/write-more-words.ts'
import { mergeBatch } from '@backoffice/postgres/merge-counts.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { describe, expect, it, test } from 'vitest'
import { customersApi } from './testing/customers-api.ts'

const { admin, create, db, list, seed, send, takeStatements, workerUrl } = await customersApi()
const worker = openDatabase({ url: workerUrl, applicationName: 'counts', poolSize: 1 })
whenDone(() => worker.stop?.())

const found = async (caller: Caller, query: string) => {
  const { items, total } = await list(caller, query)
  expect(total, query).toBe(items.length)
  return items.map(({ firstname }) => firstname)
}

test('the page object, newest first, and null members (OP-03, OP-09)', async () => {
  const caller = aCaller()
  const made = []
  for (const firstname of ['A', 'B', 'C']) made.push(await create(caller, { firstname }))
  await create(aCaller())
  expect(await list(caller, 'limit=2')).toEqual({
    page: 1,
    size: 2,
    total: 3,
    total_pages: 2,
    has_next_page: true,
    has_previous_page: false,
    items: [made[2], made[1]],
  })
  expect(await list(caller, 'size=2&page=2')).toMatchObject({ has_next_page: false, items: [made[0]] })
  expect(await list(caller, 'page=3&size=2')).toMatchObject({ total: 3, items: [] })
  expect(await list(aCaller())).toMatchObject({ total: 0, total_pages: 0, items: [] })
})

test('sort_by takes createdAt, updatedAt and name in both spellings, sort_order desc and asc (OP-03)', async () => {
  const caller = aCaller()
  const ids = new Map<string, string>()
  for (const [firstname, lastname] of [
    ['bob', null],
    ['Ada', 'Zorn'],
    ['Ádá', 'Byron'],
  ]) {
    ids.set(`${firstname}`, (await create(caller, { firstname, lastname })).id)
  }
  await send(caller, 'PUT', `/v1/customers/${ids.get('Ada')}`, { note: 'changed last' })
  const sorted = async (query: string) => (await list(caller, query)).items.map(({ firstname }) => firstname)
  for (const spelling of ['createdAt', 'created_at']) {
    expect(await sorted(`sort_by=${spelling}&sort_order=asc`)).toEqual(['bob', 'Ada', 'Ádá'])
  }
  for (const spelling of ['updatedAt', 'updated_at']) {
    expect(await sorted(`sort_by=${spelling}`)).toEqual(['Ada', 'Ádá', 'bob'])
  }
  expect(await sorted('sort_by=name&sort_order=asc')).toEqual(['Ádá', 'Ada', 'bob'])
  expect(await sorted('sort_by=name')).toEqual(['bob', 'Ada', 'Ádá'])
})

test.each([
  'page=0',
  'limit=101',
  'size=x',
  'sort_by=email',
  'sort_order=up',
  'email=ada',
  'query=',
  'query=%20-%20',
  'query=a%20b%20c%20d%20e%20f%20g%20h%20i%20j%20k',
  'name=Ada',
])('the list ?%s is bad_request (OP-03, OP-132)', async (query) => {
  expect((await send(aCaller(), 'GET', `/v1/customers?${query}`)).status).toBe(400)
})

describe('filters (OP-132)', async () => {
  const caller = aCaller()
  const other = aCaller()
  await create(other, { firstname: 'Other', email: 'ada@example.com' })
  await create(caller, { firstname: 'Ada', lastname: "O'Neil-Byron", email: 'Ada@Example.com' })
  await create(caller, { firstname: 'Zoë', lastname: 'Straße', email: 'countess.zoe@mail.example.org' })
  await create(caller, { firstname: 'Example', lastname: 'Exa Exam' })

  it('email is exact, ignoring case', async () => {
    expect(await found(caller, 'email=aDa@eXample.com')).toEqual(['Ada'])
    expect(await found(caller, 'email=ada@example.co')).toEqual([])
    expect(await found(caller, 'email=a%25@example.com')).toEqual([])
    expect(await found(caller, 'email=ada@example.com&query=byr')).toEqual(['Ada'])
    expect(await found(caller, 'email=ada@example.com&query=zoe')).toEqual([])
    expect(await found(caller, 'email=ada@example.com&sort_by=name')).toEqual(['Ada'])
  })

  it.each([
    ['ada', ['Ada']],
    ['ADA', ['Ada']],
    ['by', ['Ada']],
    ['yron', []],
    ["o'neil", ['Ada']],
    ['zoe', ['Zoë']],
    ['zoë str', ['Zoë']],
    ['strasse', ['Zoë']],
    ['exam', ['Example', 'Zoë', 'Ada']],
    ['example', ['Example', 'Zoë', 'Ada']],
    ['ada@example.com', ['Ada']],
    ['org', ['Zoë']],
    ['countess mail zoe', ['Zoë']],
    ['ada zoe', []],
    ['e e e', ['Example', 'Zoë', 'Ada']],
    ['countesses', []],
  ])('each word of the query "%s" begins a word of the name or of the e-mail address', async (query, expected) => {
    expect(await found(caller, `query=${encodeURIComponent(query)}`)).toEqual(expected)
    const byName = await found(caller, `query=${encodeURIComponent(query)}&sort_by=name&sort_order=asc`)
    expect(byName.toSorted()).toEqual(expected.toSorted())
  })
})

describe('the search for customers by what is written in another way (OP-220)', async () => {
  const caller = aCaller()
  const members = {
    neil: { firstname: 'Tess', lastname: "O'Neil", phone: '+49 151 2345-678' },
    jean: { firstname: 'Jean-Luc', lastname: 'd’Arc', phone: '0043 (0) 664 1234567' },
    company: { firstname: '東京株式会社', lastname: '山田', phone: '03-1234-5678' },
    thai: { firstname: 'สมชายใจดี' },
    latin: { firstname: 'Straße', lastname: 'Café', phone: 'ext. 7' },
  }
  const names = Object.entries(members)
  // Those of before have no such words until the worker has written them.
  await admin`alter table customer disable trigger more_words_of_customers`
  const old = aCaller()
  for (const [, each] of names) await create(old, each)
  await admin`alter table customer enable trigger more_words_of_customers`
  for (const [, each] of names) await create(caller, each)

  const foundBy = async (where: Caller, query: string) =>
    (await list(where, `query=${encodeURIComponent(query)}`)).items
      .map(({ firstname }) => names.find(([, each]) => each.firstname === firstname)?.[0])
      .toSorted()
  const SEARCHES: [query: string, expected: string[]][] = [
    ['oneil', ['neil']],
    ['oneil tess', ['neil']],
    ["O'Neil", ['neil']],
    ['neil', ['neil']],
    ['jeanluc darc', ['jean']],
    ['jean luc', ['jean']],
    ['会社', ['company']],
    ['京株', ['company']],
    ['東京株式会社', ['company']],
    ['会社 山', ['company']],
    ['会式', []],
    ['ใจดี', ['thai']],
    ['strasse cafe', ['latin']],
    ['traße', []],
    ['+49 151 2345-678', ['neil']],
    ['+491512345678', ['neil']],
    ['00491512345678', ['neil']],
    ['015123456', ['neil']],
    ['0151 2345 678', ['neil']],
    ['2345678', ['company', 'neil']],
    ['2345', ['company', 'jean', 'neil']],
    ['06641234567', ['jean']],
    ['+43 664 1234567', ['jean']],
    ['0312345678', ['company']],
    ['12345', ['company', 'jean', 'neil']],
    ['9345', []],
  ]

  test.each(SEARCHES)('%s', async (query, expected) => {
    expect(await foundBy(caller, query)).toEqual(expected.toSorted())
  })

  test('customers of before are found by their own words, and by these once they are written', async () => {
    expect([await foundBy(old, 'neil'), await foundBy(old, 'oneil'), await foundBy(old, '山')]).toEqual([
      ['neil'],
      [],
      ['company'],
    ])
    const context = { ...old, traceparent: '' }
    const writing = () => db.inWorkspace(context, (tx) => writeBatch(tx, 'customer'))
    expect((await Promise.all([writing(), writing()])).toSorted()).toEqual([false, true])
    expect(await writing()).toBe(false)
    for (const [query, expected] of SEARCHES) expect(await foundBy(old, query), query).toEqual(expected.toSorted())
    expect(await wrongTotals(old, ['o', 'oneil', '会', '0', '015', '2345', '49', '4915123', 'jeanl', '株式'])).toEqual(
      [],
    )
  })

  test('another name and phone number take the words of the former ones away', async () => {
    const { id } = await create(caller, { firstname: "D'Angelo", phone: '+1 555 0100' })
    expect(await foundBy(caller, 'dangelo 5550100')).toHaveLength(1)
    await send(caller, 'PUT', `/v1/customers/${id}`, { firstname: "Mc'Donald", phone: null })
    expect([await foundBy(caller, 'dangelo'), await foundBy(caller, '5550100')]).toEqual([[], []])
    expect(await foundBy(caller, 'mcdonald')).toHaveLength(1)
    await send(caller, 'DELETE', `/v1/customers/${id}`)
    expect(await wrongTotals(caller, ['d', 'dang', 'mcdonald', '555', '5550100', '01555', '1'])).toEqual([])
  })

  test('a customer has at most some hundred of these words', async () => {
    await create(caller, { firstname: '会'.repeat(255), lastname: 'a-b '.repeat(60), phone: '1'.repeat(200) })
    await create(caller, { firstname: 'a-b c-d '.repeat(31), lastname: '東京'.repeat(120) })
    const [most] = await admin<{ words: number }[]>`
      select max(count)::int as words
      from (select count(*) from customer_word where workspace_id = ${caller.workspaceId} group by customer_id) as counted`
    expect(most?.words).toBeLessThan(230)
  })
})

/** Prefixes of the workspace's words whose total differs from the customers that have them. */
async function wrongTotals(caller: Caller, prefixes: readonly string[]) {
  const wrong = []
  for (const prefix of prefixes) {
    const [counted] = await admin<{ count: number }[]>`
      select count(*)::float8 from customer
      where workspace_id = ${caller.workspaceId} and strpos(' ' || search_words || ' ' || more_words, ${` ${prefix}`}) > 0`
    const { total } = await list(caller, `query=${prefix}&limit=1`)
    if (total !== counted?.count) wrong.push([prefix, total, counted?.count])
  }
  return wrong
}

test('totals of words follow creates, changes and erasures at once, before and after their changes are merged', async () => {
  const caller = aCaller()
  const words = ['ann', 'anna', 'annabel', 'annabella maria', 'customerservice', 'customerservices desk']
  const made = await Promise.all(
    Array.from({ length: 36 }, (_, index) =>
      create(caller, { firstname: words[index % 6], lastname: words[(index * 5) % 6], email: `an.${index}@ann.com` }),
    ),
  )
  await Promise.all(
    made.map(({ id }, index) => {
      const path = `/v1/customers/${id}`
      if (index % 3 === 0) return send(caller, 'DELETE', path)
      return send(caller, 'PUT', path, index % 3 === 1 ? { firstname: words[(index + 1) % 6] } : { email: null })
    }),
  )
  const prefixes = ['a', 'an', 'ann', 'anna', 'annab', 'annabel', 'annabell', 'annabella', 'c', 'com', 'customer']
  const long = ['customerserv', 'customerservi', 'customerservice', 'customerservices', 'desk', 'm', '1', '31', 'x']
  expect(await wrongTotals(caller, [...prefixes, ...long])).toEqual([])
  expect(await list(caller, 'limit=1')).toMatchObject({ total: 24 })
  expect(await mergeBatch(worker.sql, 'customer_count')).toBeGreaterThan(0)
  expect(await wrongTotals(caller, [...prefixes, ...long])).toEqual([])
  expect(await list(caller, 'limit=1')).toMatchObject({ total: 24 })
})

test('no word of an erased customer is left once the counts are merged (OP-130)', async () => {
  const caller = aCaller()
  const { id } = await create(caller, { lastname: 'Byron', email: 'ada@example.com' })
  await mergeBatch(worker.sql, 'customer_count')
  await send(caller, 'DELETE', `/v1/customers/${id}`)
  await mergeBatch(worker.sql, 'customer_count')
  const left = await admin`
    select word from customer_word where workspace_id = ${caller.workspaceId}
    union all select stem from customer_count where workspace_id = ${caller.workspaceId}`
  expect([...left]).toEqual([])
})

test.each([
  '',
  'sort_by=name&',
  'sort_by=updatedAt&sort_order=asc&',
  'query=user&',
  'query=mail3&',
  'query=kind7%20mail2&',
])('the pages of ?%s are the whole list, without gaps or repetitions', async (query) => {
  const caller = aCaller()
  await seed(caller, 230)
  const { total, items } = await list(caller, `${query}limit=100`)
  const whole = [...items.map(({ id }) => id)]
  for (let page = 2; page <= Math.ceil(total / 100); page++) {
    whole.push(...(await list(caller, `${query}limit=100&page=${page}`)).items.map(({ id }) => id))
  }
  expect([whole.length, new Set(whole).size]).toEqual([total, total])
  const small = []
  for (let page = 1; page <= Math.ceil(total / 7); page++) {
    small.push(...(await list(caller, `${query}limit=7&page=${page}`)).items.map(({ id }) => id))
  }
  expect(small).toEqual(whole)
})

test('a list sends at most four statements, whatever its size', async () => {
  const caller = aCaller()
  await seed(caller, 120)
  for (const query of ['', 'query=kind1', 'limit=100&query=user%20mail', 'email=user.1@mail1.example.com']) {
    takeStatements()
    await list(caller, query)
    expect(
      takeStatements().filter((text) => !/^\s*(begin|commit|select set_config)/i.test(text.trim())).length,
    ).toBeLessThan(5)
  }
})
