import { expect, test } from 'vitest'
import { waitingRequests } from './waiting-requests.ts'

/** Adds requests of workspaces, named by a letter each, and returns how many had no room. */
const addAll = (waiting: ReturnType<typeof waitingRequests>, workspaces: string) =>
  [...workspaces].filter((workspace) => waiting.add(workspace, { workspace })).length
const take = (waiting: ReturnType<typeof waitingRequests<{ workspace: string }>>, count: number) =>
  waiting
    .take(count)
    .map(({ workspace }) => workspace)
    .join('')

test('one workspace has all the room while it is alone', () => {
  const waiting = waitingRequests<{ workspace: string }>(6)
  expect(addAll(waiting, 'aaaaaaaa')).toBe(2)
  expect(take(waiting, 10)).toBe('aaaaaa')
})

test('others take their equal share of it, and no more', () => {
  const waiting = waitingRequests<{ workspace: string }>(6)
  addAll(waiting, 'aaaaaa')
  expect(addAll(waiting, 'bccccccbaa')).toBe(10)
  expect([...take(waiting, 10)].toSorted().join('')).toBe('aabbcc')
})

test('they are taken in turn', () => {
  const waiting = waitingRequests<{ workspace: string }>(6)
  addAll(waiting, 'aaaabb')
  expect(take(waiting, 3)).toBe('aba')
  addAll(waiting, 'c')
  expect([take(waiting, 10), waiting.isEmpty]).toEqual(['baca', true])
})
