import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, expect, it, vi } from 'vitest'
import { collectionsService } from '../testing/collections-api.ts'
import { ruleSets } from './rule-sets.ts'
import { UnreadableVersions } from './unreadable-versions.ts'

const { workerUrl, send, create } = await collectionsService()
let statements: string[] = []
const { sql, stop } = openDatabase({
  url: workerUrl,
  applicationName: 'rules',
  onStatement: (text) => statements.push(text),
})
whenDone(() => stop?.())
beforeEach(() => {
  statements = []
})

const inStock = (value: number) => ({ match: 'all', conditions: [{ field: 'stock', operator: 'gte', value }] })
const smart = (value = 1) => ({ membership_type: 'SMART', rules: inStock(value) })
const readings = () => statements.filter((text) => text.includes('from membership_version')).length

it('reads a workspace’s rules once, and again when its membership versions have changed', async () => {
  const caller = aCaller()
  const { id } = await create(caller, smart())
  const sets = ruleSets()
  const of = async () => (await sets.of(sql, [caller.workspaceId])).get(caller.workspaceId)
  const [before] = (await of()) ?? []
  expect([(await of())?.[0], readings()]).toEqual([before, 1])
  await create(caller, smart(7))
  const after = await of()
  expect([after?.length, readings()]).toEqual([2, 2])
  // The same object: its rules are not compiled again.
  expect(after?.find(({ number }) => number === before?.number)).toBe(before)
  await send(caller, 'PUT', `/v1/collections/${id}`, { rules: inStock(9) })
  const numbers = (await of())?.map(({ number }) => number)
  expect([numbers?.length, numbers?.includes(before?.number ?? 0)]).toEqual([2, false])
  expect(readings()).toBe(3)
})

it('knows nothing of workspaces that never had a collection', async () => {
  expect(await ruleSets().of(sql, [aCaller().workspaceId])).toEqual(new Map())
})

it('keeps no more rules than it may: those of the workspaces read last', async () => {
  const callers = [aCaller(), aCaller(), aCaller()]
  for (const caller of callers) await create(caller, smart())
  const [first, second, third] = callers.map(({ workspaceId }) => workspaceId) as [string, string, string]
  const sets = ruleSets(undefined, 2 * JSON.stringify(inStock(1)).length)
  for (const workspaceId of [first, second, first, third]) await sets.of(sql, [workspaceId])
  expect(readings()).toBe(3)
  await sets.of(sql, [first, third])
  expect(readings()).toBe(3)
  expect((await sets.of(sql, [second])).get(second)).toHaveLength(1)
  expect(readings()).toBe(4)
})

it('returns rules that are too large to keep', async () => {
  const callers = [aCaller(), aCaller()]
  for (const caller of callers) await create(caller, smart())
  const found = await ruleSets(undefined, 1).of(
    sql,
    callers.map(({ workspaceId }) => workspaceId),
  )
  expect([...found.values()].map((versions) => versions.length)).toEqual([1, 1])
})

it('others run while it compiles the rules of many collections, which two calls at once do once', async () => {
  const caller = aCaller()
  const value = Array.from({ length: 1000 }, (_, number) => `É ${number}`)
  const rules = {
    match: 'all',
    conditions: Array.from({ length: 3 }, () => ({ field: 'name', operator: 'in', value })),
  }
  for (let n = 0; n < 20; n++) await create(caller, { membership_type: 'SMART', rules })
  let turns = 0
  const others = setInterval(() => turns++, 1)
  const compiledIn: number[] = []
  const unreadable = new UnreadableVersions()
  const { compile } = unreadable
  vi.spyOn(unreadable, 'compile').mockImplementation((...sent) => {
    compiledIn.push(turns)
    return compile.call(unreadable, ...sent)
  })
  const sets = ruleSets(unreadable)
  const [one, other] = await Promise.all([sets.of(sql, [caller.workspaceId]), sets.of(sql, [caller.workspaceId])])
  clearInterval(others)
  expect(other.get(caller.workspaceId)).toBe(one.get(caller.workspaceId))
  expect(compiledIn).toHaveLength(20)
  expect(new Set(compiledIn).size).toBeGreaterThan(3)
})
